/** What a kind of search parameter is: how its values become a predicate. Each kind is a file in `kinds/`. */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Predicate } from './predicate.ts';
import type { RawParameter } from './raw.ts';
import type { Terms } from './terms.ts';

/** What a predicate may depend on beside the parameter. */
export interface SearchScope {
  readonly type: ResourceType;
  /** Of the caller: rows in other tables bear it too. */
  readonly tenant: string;
  /** Base URL of the FHIR interface with a slash at its end: references may be written in full. */
  readonly base: string;
  readonly now: Micros;
  /** Codes that values with `:in` and its like stand for, asked for beforehand. */
  readonly terms?: Terms;
  /** Whether identifiers compare to the letter: where a search decides which one is meant. */
  readonly exact?: boolean;
  /** Counts the types that chains and `_has` of the whole search come to. */
  readonly steps?: { taken: number };
  /** How many references lead from the searched type to this one. */
  readonly depth?: number;
  /** Whether contained resources of the type are found as well: at the end of a chain. */
  readonly contained?: boolean;
}

/** A search parameter of some types. */
export interface SearchParameter {
  readonly name: string;
  /** Whether a type has it. */
  appliesTo(type: ResourceType): boolean;
  /** @throws Refusal `malformed` (400) for a modifier or a value that it does not take. */
  predicate(parameter: RawParameter, scope: SearchScope): Predicate;
}
