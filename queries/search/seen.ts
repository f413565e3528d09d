/** What a search of a type finds of what a caller sees: under a grant its record, and of limited types some resources. */
import { categoriesFor, type Letters } from '#src/shared/access.ts';
import type { Binds } from '../binds.ts';
import { andSeen, homeOf, type Seeing, seesType } from '../sight.ts';
import type { Predicate } from './predicate.ts';

/** What is added to a search. */
interface Added {
  /** The record that all matches are in. */
  readonly record?: string;
  readonly predicates: readonly Predicate[];
  /** There are no matches: the caller sees nothing of the type, or of the record. */
  readonly empty?: true;
}

const NOTHING: Predicate = Object.assign(() => 'false', { ofEntry: true });

/**
 * Returns the record and the conditions of a search of a type, under a grant those of what it covers.
 * @param letters that the grant must have on what is found
 * @param record of the search's own compartment
 */
export function seenIn(sees: Seeing, letters: Letters, type: string, record: string | undefined): Added {
  const { within } = sees;
  const own = record === undefined ? {} : { record };
  if (within === undefined)
    return seesType(sees, type, letters)
      ? { ...own, predicates: [] }
      : { ...own, predicates: [NOTHING], empty: true };
  const home = homeOf(type);
  const elsewhere = home === 'record' && record !== undefined && record !== within.record;
  const added = home === 'record' ? { record: within.record } : own;
  if (elsewhere || !seesType(sees, type, letters)) return { ...added, predicates: [NOTHING], empty: true };
  const isWhole = [...letters].every((letter) => categoriesFor(within.access, type, letter) === 'all');
  if (isWhole && type !== 'Provenance' && home !== 'either') return { ...added, predicates: [] };
  return { ...added, predicates: [seenPredicate(sees, letters, type)] };
}

/** Returns the predicate that a resource of a type is seen: the whole condition on its row. */
function seenPredicate(sees: Seeing, letters: Letters, type: string): Predicate {
  return (binds: Binds) =>
    andSeen(sees, letters, { as: 'r', of: 'current', type }, binds.add.bind(binds)).replace(/^and /, '');
}
