/** A type's search parameter in compiled form (`paths.ts`). */
import type { Path } from './expressions.ts';

/** A type's search parameter, ready to read its values from resources. */
export interface CompiledParameter {
  readonly code: string;
  /** `special` is the type of Location's `near`. */
  readonly type: 'token' | 'reference' | 'date' | 'string' | 'uri' | 'quantity' | 'composite' | 'special';
  /** The paths to its values; for a composite, its bases. */
  readonly paths: readonly Path[];
  /** Set for a composite. */
  readonly composite?: Composite;
  /** True if it compares how names sound (`phonetic.ts`) rather than how they are written. */
  readonly sounds?: true;
  /**
   * The codes under which a read model stores its values: its own, or those of the parameters whose union it is (`combo-code`:
   * `code` and `component-code`), so that no value is stored twice.
   */
  readonly stored: readonly string[];
}

/** A composite with two parts, which is the only kind in the 26 types. */
export interface Composite {
  /** The parameters that define how each part is compared. */
  readonly parts: readonly [Part, Part];
  /**
   * True if the second part is compared by order: its values are then stored with the codes of the first part, which is a
   * token (`About`).
   */
  readonly ordered: boolean;
  /** For each of the composite's paths, in order: both parts' paths relative to it. */
  readonly bases: readonly (readonly [firsts: readonly Path[], seconds: readonly Path[]])[];
}

/** A part's parameter. */
export interface Part {
  readonly code: string;
  readonly type: string;
}
