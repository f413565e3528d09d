/** Hashes of references made in SQL: where the ids come from a subquery, the keys that point at them do too. */
import { recordKey, referenceForm, valueKey } from '#src/fhir/search/keys.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import { type ResourceType, typeEntry } from '#src/fhir/types.ts';
import type { Binds } from '../binds.ts';
import type { SearchScope } from './parameter.ts';

/**
 * The hashes (`searchKey`) that entries have when a reference parameter names a resource, relatively or under our base.
 * @param type of the resource.
 * @param id SQL for its id.
 */
export function referenceKeys(
  { stored }: Pick<CompiledParameter, 'stored'>,
  scope: Pick<SearchScope, 'tenant' | 'type' | 'base'>,
  type: ResourceType,
  id: string,
  binds: Binds,
): string[] {
  return stored.flatMap((code) =>
    [referenceForm.relative(`${type}/`), referenceForm.url(`${scope.base}${type}/`)].map((form) => {
      const text = binds.add(valueKey(scope.tenant, scope.type, code, form), 'text');
      return hashOf(`${text} || ${id}::text`);
    }),
  );
}

/** The hash (`searchKey`) of the key that entries of a record have. @param id SQL for the record's id */
export function recordKeyOf(id: string): string {
  return hashOf(`'${recordKey('')}' || ${id}::text`);
}

/** SQL of `searchKey`. @param text SQL for the text */
function hashOf(text: string): string {
  const hash = `sha256(convert_to(${text}, 'UTF8'))`;
  return `('x' || encode(substring(${hash} from 1 for 8), 'hex'))::bit(64)::int8`;
}

/** Whether a parameter is the reference that says in whose record a resource is: always a Patient's. */
export function namesRecord(type: ResourceType, { paths }: Pick<CompiledParameter, 'paths'>): boolean {
  const { owner } = typeEntry(type);
  const [path, ...others] = paths;
  return owner !== 'target' && others.length === 0 && path?.steps.join() === owner;
}
