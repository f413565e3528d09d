/** References into other records: an answer under a grant doesn't have them (docs/spec/decisions.md, section 1). */
import { type RecordTarget, recordTarget } from './record-target.ts';

/**
 * Returns those ids whose resources are in a record or in the directory of its project; deleted ones count.
 * @param record the real id of its Patient
 */
export type WithinRecord = (record: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** The values with which references are compared. */
export interface Surroundings {
  readonly record: string;
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
  readonly within: WithinRecord;
}

/** The beginning of a `reference` in compact JSON. A quotation mark within a string is escaped, so this isn't part of one. */
const REFERENCE = /"reference":"((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the references of a JSON text into other records, with the types that they name. One look-up answers for all
 * of them; there is none if all name the record's Patient, the directory, or nothing here.
 * @param text of one body or of several; a UTF-8 text may be in it as Latin-1
 * @throws as `within`
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

/** The ids of the documents that an Observation of REST v1 was derived from, which are no references. */
const DERIVED_FROM = /"derived_from":\[("[^"\\]*"(?:,"[^"\\]*")*)\]/g;

/**
 * Returns JSON text whose Observations of REST v1 name only documents of a record. One look-up answers for all of them;
 * there is none if they name no document.
 * @param text as that of `foreignTypes`
 * @throws as `within`
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

/** Returns the ids of a list that has at least one; none of them contains a quotation mark. */
function idsIn(list: string): string[] {
  return list.slice(1, -1).split('","');
}
