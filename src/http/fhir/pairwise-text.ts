/**
 * What an application sees of a record under a grant: the pairwise id in place of the Patient's real id, and no
 * references into other records (docs/spec/decisions.md, section 1).
 */
import { parseReference } from '#src/fhir/references.ts';
import { type Home, typeEntry } from '#src/fhir/types.ts';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '#src/shared/json.ts';

/** The record of a grant. */
export interface Granted {
  /** The real id of its Patient. */
  readonly record: string;
  /** The id that the application knows. */
  readonly patient: string;
}

/**
 * Returns the JSON text of a resource as the application sees it; decimals keep their literals.
 * @param base of the FHIR interface, slash at its end
 * @param within those of some ids whose resources the record and its project's directory have
 */
export async function pairwiseText(
  body: string,
  granted: Granted,
  base: string,
  within: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string> {
  return pairwise(await withoutOthers(body, granted.record, base, within), granted);
}

/** Replaces the real id everywhere in a text, in any letter case. */
export function pairwise(text: string, { record, patient }: Granted): string {
  return text.replace(new RegExp(record, 'gi'), patient);
}

/** Leaves out what `Reference.reference` says of other records. */
async function withoutOthers(
  body: string,
  record: string,
  base: string,
  within: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<string> {
  if (!body.includes('"reference"')) return body;
  const { value, exact } = parseJson(body);
  const asked = new Set<string>();
  each(value, ({ reference }) => {
    const target = targetOf(reference, base);
    if (target !== undefined && target.type !== 'Patient') asked.add(target.id);
  });
  const known = asked.size === 0 ? new Set<string>() : await within([...asked]);
  let changed = false;
  each(value, (object) => {
    const target = targetOf(object.reference, base);
    if (target === undefined) return;
    if (target.type === 'Patient' ? target.id === record : known.has(target.id)) return;
    delete object.reference;
    delete object._reference;
    // A Reference must say something.
    if (Object.keys(object).length === 0) object.type = target.type;
    changed = true;
  });
  return changed ? printJson(value, exact) : body;
}

/** Where resources are that may belong to a record. */
const IN_RECORDS: readonly Home[] = ['record', 'either'];

/** Returns the resource in a record that a reference names; undefined for directories, other servers and contained ones. */
function targetOf(reference: Json | undefined, base: string): { type: string; id: string } | undefined {
  if (typeof reference !== 'string') return undefined;
  const parsed = parseReference(reference, [base]);
  return parsed.kind === 'local' && IN_RECORDS.includes(typeEntry(parsed.type).home) ? parsed : undefined;
}

/** Visits every object of a parsed resource. */
function each(value: Json, visit: (object: JsonObject) => void): void {
  if (Array.isArray(value)) for (const item of value) each(item, visit);
  else if (isObject(value)) {
    for (const member of Object.values(value)) if (member !== undefined) each(member, visit);
    visit(value);
  }
}
