/** The interface for a kind of search parameter: it turns values into a predicate. Each kind is a file in `kinds/`. */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Seeing } from '../../sight.ts';
import type { RawParameter } from '../raw.ts';
import type { Referable } from '../referable.ts';
import type { Terms } from '../terms.ts';
import type { Predicate } from './predicate.ts';

/** The inputs of a predicate other than the parameter. */
export interface SearchScope {
  readonly type: ResourceType;
  /** The caller's tenant, which is also a column of rows in other tables. */
  readonly tenant: string;
  /** The data that the caller can see; must include the rows of other types at the ends of chains and in `_has`. */
  readonly sees: Seeing;
  /** Base URL of the FHIR interface, with a trailing slash; references may be absolute URLs below it. */
  readonly base: string;
  readonly now: Micros;
  /** The codes to which values with `:in` and similar modifiers expand, loaded in advance. */
  readonly terms?: Terms;
  /** True if identifiers are compared case-sensitively, for conditional criteria. */
  readonly exact?: boolean;
  /** Under a grant: which resources references may name. */
  readonly referable?: Referable;
  /** Counts the types to which chains and `_has` lead in the whole search. */
  readonly steps?: { taken: number };
  /** The type from which a chain or `_has` came. */
  readonly from?: ResourceType;
  /** The number of references between the searched type and this one. */
  readonly depth?: number;
  /** True if contained resources of the type are found too, at the end of a chain. */
  readonly contained?: boolean;
}

/** A search parameter that some types have. */
export interface SearchParameter {
  readonly name: string;
  /** Returns true if a type has the parameter. */
  appliesTo(type: ResourceType): boolean;
  /**
   * Returns the predicate for a parameter's values.
   * @throws Refusal `malformed` (400) for a modifier or a value that the parameter doesn't accept
   */
  predicate(parameter: RawParameter, scope: SearchScope): Predicate;
}
