/** The keys under which the read model `search` stores the values of a parameter. */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { containedType, parameterKey, valueKey } from '#src/fhir/search/keys.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { SearchScope } from './parameter.ts';

type Of = Pick<SearchScope, 'tenant' | 'type' | 'contained'>;
type Stored = Pick<CompiledParameter, 'stored'>;

/** Returns the names of the type that keys of a scope bear. */
export function typesIn({ type, contained }: Pick<SearchScope, 'type' | 'contained'>): readonly string[] {
  return contained === true ? [type, containedType(type)] : [type];
}

/**
 * Returns the keys of its strings, moments and quantities.
 * @param suffix of the code, such as `LABEL`.
 */
export function parameterKeys({ stored }: Stored, scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.map((code) => searchKey(parameterKey(scope.tenant, type, code + suffix))),
  );
}

/** Returns the keys of forms (`src/fhir/search/keys.ts`), which entries with these values have. */
export function formKeys({ stored }: Stored, forms: readonly string[], scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.flatMap((code) =>
      forms.map((form) => searchKey(valueKey(scope.tenant, type, code + suffix, form))),
    ),
  );
}
