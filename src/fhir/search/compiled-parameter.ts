/** Defines the compiled form of a type's search parameter (`paths.ts`). */
import type { Path } from './expressions.ts';

/** A type's search parameter, compiled so that its values can be read from resources. */
export interface CompiledParameter {
  readonly code: string;
  /** `special` is the type of Location's `near`. */
  readonly type: 'token' | 'reference' | 'date' | 'string' | 'uri' | 'quantity' | 'composite' | 'special';
  /** The paths to its values; for a composite, the paths to the elements that contain both parts. */
  readonly paths: readonly Path[];
  /** Set for a composite. */
  readonly composite?: Composite;
  /** True if it compares how names sound (`phonetic.ts`) rather than how they are written. */
  readonly sounds?: true;
  /**
   * The codes under which a read model stores its values. If the parameter is the union of other parameters (`combo-code`
   * combines `code` and `component-code`), these are the other parameters' codes, so that no value is stored twice; otherwise
   * its own code.
   */
  readonly stored: readonly string[];
}

/** A composite with two parts, which is the only kind in the 26 types. */
export interface Composite {
  /** The parameters that define how each part is compared. */
  readonly parts: readonly [Part, Part];
  /**
   * True if the second part's values are compared by order. They are then stored with the codes of the first part, which is a
   * token (`About`).
   */
  readonly ordered: boolean;
  /** For each of the composite's paths, in order: the paths of both parts, relative to that path. */
  readonly bases: readonly (readonly [firsts: readonly Path[], seconds: readonly Path[]])[];
}

/** A part's parameter. */
export interface Part {
  readonly code: string;
  readonly type: string;
}
