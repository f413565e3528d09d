/** Checks the bindings and invariants that a profile has for an element. */
import { compileInvariant, type Holds } from '../validation/invariants.ts';
import { isBound, namedCodes } from './bindings.ts';
import type { Fault } from './faults.ts';
import type { Item } from './items.ts';
import type { Place } from './places.ts';
import type { ProfileNode } from './table.ts';

/**
 * A fault without the members that the scope adds. By default, it is an error and doesn't concern an element that identifies
 * the profile's resources.
 */
type Tell = Pick<Fault, 'code' | 'path' | 'text'> & Partial<Fault>;

/** The context of a check: the resource, the profile, and the receiver of faults. */
export interface Scope {
  readonly place: Place;
  readonly profile: string;
  tell(fault: Tell): void;
  /** Passes on faults that were found earlier, unchanged. */
  pass(faults: readonly Fault[]): void;
}

/** Checks that an item has a code from the value set to which the profile binds it. */
export function checkBinding(
  { strength, valueSet }: NonNullable<ProfileNode['binding']>,
  item: Item,
  scope: Scope,
): void {
  const bound = isBound(item, valueSet);
  const required = strength === 'required';
  if (bound === true || (bound === undefined && (!required || item.value === undefined))) return;
  const told = required
    ? ({ text: `must have a code that is one of ${namedCodes(valueSet)}`, identity: true } as const)
    : ({ text: `should have a code that is one of ${namedCodes(valueSet)}`, severity: 'warning' } as const);
  scope.tell({ code: 'code-invalid', path: item.path, ...told });
}

/** Compiled invariants, by type and expression. */
const compiled = new Map<string, Holds>();

/** Checks a profile's error-level invariants on an item. */
export function checkRules(
  rules: NonNullable<ProfileNode['rules']>,
  item: Item,
  { place, tell }: Scope,
): void {
  const { value, type, path } = item;
  if (value === undefined) return;
  const environment = { resource: place.resource, rootResource: place.root.resource };
  for (const [key, human, expression] of rules) {
    const name = `${type} ${expression}`;
    let holds = compiled.get(name);
    if (holds === undefined) {
      holds = compileInvariant({ key, human, expression }, type);
      compiled.set(name, holds);
    }
    if (!holds([value], environment))
      tell({ code: 'invariant', path, text: `violates ${key}: ${human.trim()}` });
  }
}
