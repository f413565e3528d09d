/** Under which keys the read model `search` holds the values of a parameter. */

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
 * The keys that its strings, moments and quantities bear.
 * @param suffix of the code: `LABEL` and its like.
 */
export function parameterKeys({ stored }: Stored, scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.map((code) => searchKey(parameterKey(scope.tenant, type, code + suffix))),
  );
}

/** The keys of forms (`src/fhir/search/keys.ts`), of which entries have those of their values. */
export function formKeys({ stored }: Stored, forms: readonly string[], scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.flatMap((code) =>
      forms.map((form) => searchKey(valueKey(scope.tenant, type, code + suffix, form))),
    ),
  );
}
