/** Conditions of a search that are asked together. */
import { noKeysPredicate } from './entry-keys.ts';
import type { Predicate, Values } from './predicate.ts';
import { both } from './span.ts';
import { valuesPredicate } from './stored-values.ts';

/**
 * Conditions on the same values of a resource are one: the bounds of a window lead to the rows between them, not to all
 * that one of them leaves. So are conditions that there are no keys: an entry is looked at once for all of them.
 */
export function merged(predicates: readonly Predicate[]): readonly Predicate[] {
  const without = predicates.flatMap((predicate) => predicate.without ?? []);
  const found: Predicate[] = without.length === 0 ? [] : [noKeysPredicate(without)];
  for (const predicate of predicates) {
    if (predicate.without !== undefined) continue;
    const at = found.findIndex((each) => areSame(each.values, predicate.values));
    const [before, { values }] = [found[at]?.values, predicate];
    if (before === undefined || values === undefined) found.push(predicate);
    else found[at] = valuesPredicate(conjunction(before, values));
  }
  return found;
}

function areSame(one: Values | undefined, other: Values | undefined): boolean {
  return (
    one?.single === true &&
    other?.single === true &&
    one.table === other.table &&
    one.keys.join() === other.keys.join()
  );
}

function conjunction(one: Values, other: Values): Values {
  const span = both(one.span, other.span);
  return {
    ...one,
    condition: (binds) => `(${one.condition(binds)}) and (${other.condition(binds)})`,
    ...(span === undefined ? {} : { span }),
  };
}
