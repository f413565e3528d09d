/** Finds references to other records, which responses under a grant don't contain (docs/spec/decisions.md, section 1). */
import { type RecordTarget, recordTarget } from './record-target.ts';

/**
 * Returns those of the given ids whose resources are in a record or in its project's directory, including deleted resources.
 * @param record the real id of its Patient
 */
export type WithinRecord = (record: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** The values that references are compared with. */
export interface Surroundings {
  readonly record: string;
  /** Base URL of the FHIR interface, with a trailing slash. */
  readonly base: string;
  readonly within: WithinRecord;
}

/** Matches a `reference` in compact JSON. A quotation mark inside a string is escaped, so a match is never part of a string. */
const REFERENCE = /"reference":"((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the references in a JSON text to other records, with the types that they name. There is one lookup for all
 * references; none if they all name the record's Patient, the directory, or nothing on this service.
 * @param text one or more bodies; UTF-8 text in it may be given as Latin-1
 * @throws the same errors as `within`
 */
export async function foreignTypes(
  text: string,
  { record, base, within }: Surroundings,
): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, RecordTarget>();
  const own = `Patient/${record}`;
  const seen = new Set<string>([own]);
  for (const [, reference = ''] of text.matchAll(REFERENCE)) {
    if (seen.has(reference)) continue;
    seen.add(reference);
    const target = recordTarget(reference, [base]);
    if (target !== undefined && !(target.type === 'Patient' && target.id === record))
      targets.set(reference, target);
  }
  const asked = new Set([...targets.values()].flatMap(({ type, id }) => (type === 'Patient' ? [] : [id])));
  const known = asked.size === 0 ? new Set<string>() : await within(record, [...asked]);
  return new Map(
    [...targets].flatMap(([reference, { type, id }]) =>
      type !== 'Patient' && known.has(id) ? [] : [[reference, type] as const],
    ),
  );
}

/** Matches the ids of documents that a REST v1 Observation was derived from, which aren't references. */
const DERIVED_FROM = /"derived_from":\[("[^"\\]*"(?:,"[^"\\]*")*)\]/g;

/**
 * Returns JSON text whose REST v1 Observations name only documents in a record. There is one lookup for all Observations; none
 * if they name no documents.
 * @param text the same as for `foreignTypes`
 * @throws the same errors as `within`
 */
export async function withoutForeignDocuments(
  text: string,
  { record, within }: Surroundings,
): Promise<string> {
  const asked = new Set([...text.matchAll(DERIVED_FROM)].flatMap(([, list = '']) => idsIn(list)));
  if (asked.size === 0) return text;
  const known = await within(record, [...asked]);
  return text.replace(DERIVED_FROM, (_, list: string) => {
    const shown = idsIn(list).filter((id) => known.has(id));
    return `"derived_from":${JSON.stringify(shown)}`;
  });
}

/** Returns the ids in a non-empty list; no id contains a quotation mark. */
function idsIn(list: string): string[] {
  return list.slice(1, -1).split('","');
}
