/** What a search parameter of a type becomes when it is compiled (`paths.ts`). */
import type { Path } from './expressions.ts';

/** A search parameter of a type, ready to be read from resources. */
export interface CompiledParameter {
  readonly code: string;
  /** `special` is Location's `near`. */
  readonly type: 'token' | 'reference' | 'date' | 'string' | 'uri' | 'quantity' | 'composite' | 'special';
  /** Where its values stand; a composite's bases. */
  readonly paths: readonly Path[];
  /** Of a composite. */
  readonly composite?: Composite;
  /** Whether it compares how names sound (`phonetic.ts`), not how they are written. */
  readonly sounds?: true;
  /**
   * The codes under which a read model holds its values: its own, or those of the parameters that its values are the
   * union of (`combo-code`: `code` and `component-code`), so that nothing is held twice.
   */
  readonly stored: readonly string[];
}

/** A composite of two parts, as all of the 26 types are. */
export interface Composite {
  /** The parameters that say how each part compares. */
  readonly parts: readonly [Part, Part];
  /** Whether the second part is compared by order: its values bear the codes of the first, a token, then (`About`). */
  readonly ordered: boolean;
  /** For each of its paths, in their order: where both parts stand, from there. */
  readonly bases: readonly (readonly [firsts: readonly Path[], seconds: readonly Path[]])[];
}

/** A part's parameter. */
export interface Part {
  readonly code: string;
  readonly type: string;
}
