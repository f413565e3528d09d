/** Under which keys the read model `search` holds the values of a parameter. */
import { parameterKey, valueKey } from '#src/fhir/search/keys.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { SearchScope } from './parameter.ts';

type Of = Pick<SearchScope, 'tenant' | 'type'>;
type Stored = Pick<CompiledParameter, 'stored'>;

/**
 * The keys that its strings, moments and quantities bear.
 * @param suffix of the code: `LABEL` and its like.
 */
export function parameterKeys({ stored }: Stored, { tenant, type }: Of, suffix = ''): string[] {
  return stored.map((code) => searchKey(parameterKey(tenant, type, code + suffix)));
}

/** The keys of forms (`src/fhir/search/keys.ts`), of which entries have those of their values. */
export function formKeys(
  { stored }: Stored,
  forms: readonly string[],
  { tenant, type }: Of,
  suffix = '',
): string[] {
  return stored.flatMap((code) =>
    forms.map((form) => searchKey(valueKey(tenant, type, code + suffix, form))),
  );
}
