/** Hashes of references: computed here for known ids, and in SQL for ids that come from a subquery. */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { CONTAINED_VERSION } from '#src/fhir/search/contained.ts';
import { recordKey, referenceForm, searchKey, valueKey } from '#src/fhir/search/keys.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Binds } from '../../database/binds.ts';
import { typesIn } from './conditions.ts';
import type { SearchScope } from './parameter.ts';
import type { Named } from './predicate.ts';

type Stored = Pick<CompiledParameter, 'stored'>;
type Of = Pick<SearchScope, 'tenant' | 'type' | 'base' | 'contained'>;

/**
 * Returns the hashes (`searchKey`) of entries whose reference parameter names a resource, either relatively or below our base
 * URL.
 * @param type the resource's type
 * @param id SQL for the resource's id
 */
export function referenceKeys(
  compiled: Stored,
  scope: Of,
  type: ResourceType,
  id: string,
  binds: Binds,
): string[] {
  const forms = [referenceForm.relative(`${type}/`), referenceForm.url(`${scope.base}${type}/`)];
  return hashedBefore(compiled, scope, forms, id, binds);
}

/**
 * Returns the hashes for a contained resource.
 * @param id SQL for the id of the resource's row
 */
export function containedKeys(compiled: Stored, scope: Of, id: string, binds: Binds): string[] {
  return hashedBefore(compiled, scope, [referenceForm.contained('')], id, binds);
}

function hashedBefore(
  { stored }: Stored,
  scope: Of,
  forms: readonly string[],
  id: string,
  binds: Binds,
): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.flatMap((code) =>
      forms.map((form) => {
        const text = binds.add(valueKey(scope.tenant, type, code, form), 'text');
        return hashText(`${text} || ${id}::text`);
      }),
    ),
  );
}

/**
 * Returns the condition that an id belongs to a contained resource's row (`containedId`).
 * @param id SQL for the id
 */
export function isContained(id: string): string {
  return `(get_byte(uuid_send(${id}), 6) >> 4 = ${CONTAINED_VERSION})`;
}

/** Returns the hashes of entries whose reference parameter names one of the given resources, including contained resources. */
export function keysOfReferences({ stored }: Stored, scope: Of, found: readonly Named[]): string[] {
  return found.flatMap(({ type, id }) => {
    const forms =
      id[14] === String(CONTAINED_VERSION)
        ? [referenceForm.contained(id)]
        : [referenceForm.relative(`${type}/${id}`), referenceForm.url(`${scope.base}${type}/${id}`)];
    return stored.flatMap((code) =>
      forms.map((form) => searchKey(valueKey(scope.tenant, scope.type, code, form))),
    );
  });
}

/**
 * Returns the hash (`searchKey`) of the key that all of a record's entries have.
 * @param id SQL for the record's id
 */
export function hashRecordKey(id: string): string {
  return hashText(`'${recordKey('')}' || ${id}::text`);
}

/**
 * Returns SQL for `searchKey`.
 * @param text SQL for the text
 */
function hashText(text: string): string {
  const hash = `sha256(convert_to(${text}, 'UTF8'))`;
  return `('x' || encode(substring(${hash} from 1 for 8), 'hex'))::bit(64)::int8`;
}
