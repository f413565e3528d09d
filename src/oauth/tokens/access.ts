/** Computes the access that a grant's scopes give (docs/spec/decisions.md, section 9, "Letters"). */
import { type ResourceType, TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import type { Access, TypeAccess } from '#src/shared/access/access.ts';
import { knownScopes, lettersFor } from '../scopes.ts';

/**
 * Returns the access that a grant's scopes give to each type. Several scopes for a type add up. Patient and the directory
 * always have `rs`; the terminology is open to all. No scope lets an application create a Patient, or write to the directory
 * or the terminology.
 * @param names scopes as text; scopes that are no longer accepted give no access
 */
export function parseAccess(names: readonly string[]): Access {
  const scopes = knownScopes(names);
  const entries = TYPE_NAMES.map((type): [string, readonly TypeAccess[]] => {
    if (typeEntry(type).home === 'terminology') return [type, [{ letters: 'rs' }]];
    return [type, lettersFor(scopes, type).flatMap((each) => possible(type, each))];
  });
  return { types: new Map(entries.filter(([, own]) => own.length > 0)) };
}

/** Leaves out the letters that no grant can have. */
function possible(type: ResourceType, { letters, ...category }: TypeAccess): TypeAccess[] {
  const never = typeEntry(type).home === 'directory' ? 'cud' : type === 'Patient' ? 'c' : '';
  const left = [...letters].filter((letter) => !never.includes(letter)).join('');
  return left === '' ? [] : [{ letters: left, ...category }];
}
