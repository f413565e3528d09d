/** Conditions of a search that are asked together. */
import { noKeysPredicate } from './entry-keys.ts';
import { askedAs, askedBy, type Predicate, type Values } from './predicate.ts';
import { both } from './span.ts';
import { valuesPredicate } from './stored-values.ts';

/**
 * Merges predicates that apply to the same values of a resource, so that both bounds of a range narrow one
 * lookup. It also merges predicates that keys are absent, so that an entry is read once for all of them.
 */
export function merged(predicates: readonly Predicate[]): readonly Predicate[] {
  const absent = predicates.filter(({ without }) => without !== undefined);
  const without = absent.flatMap((predicate) => predicate.without ?? []);
  const found: Predicate[] = without.length === 0 ? [] : [askedAs(askedBy(absent), noKeysPredicate(without))];
  for (const predicate of predicates) {
    if (predicate.without !== undefined) continue;
    const at = found.findIndex((each) => areSame(each.values, predicate.values));
    const [before, { values }] = [found[at], predicate];
    if (before?.values === undefined || values === undefined) found.push(predicate);
    else
      found[at] = askedAs(askedBy([before, predicate]), valuesPredicate(conjunction(before.values, values)));
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
