/**
 * Finds references to other records, because responses under a grant must not contain such references (docs/spec/decisions.md,
 * section 1).
 */
import { type RecordTarget, recordTarget } from './record-target.ts';

/**
 * Returns which of the given ids belong to resources, including deleted ones, that are in a record or in its project's
 * directory.
 * @param record the real id of its Patient
 */
export type WithinRecord = (record: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** The record and other data with which references are compared. */
export interface Surroundings {
  readonly record: string;
  /** Base URL of the FHIR interface, with a trailing slash. */
  readonly base: string;
  readonly within: WithinRecord;
}

/** Matches a `reference` in compact JSON. A quotation mark inside a string is escaped, so a match is never part of a string. */
const REFERENCE = /"reference":"((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the references in a JSON text that are to other records, with the types that they name. One lookup serves all
 * references. The lookup is skipped if all of them name the record's Patient, the directory, or nothing on this service.
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

/** Matches the ids of the documents from which a REST v1 Observation was derived; these ids aren't references. */
const DERIVED_FROM = /"derived_from":\[("[^"\\]*"(?:,"[^"\\]*")*)\]/g;

/**
 * Returns JSON text in which REST v1 Observations name only documents in the given record. One lookup serves all Observations;
 * the lookup is skipped if they name no documents.
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

/** Returns the ids in a non-empty list. Ids never contain a quotation mark. */
function idsIn(list: string): string[] {
  return list.slice(1, -1).split('","');
}
