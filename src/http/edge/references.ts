/** References into other records: an answer under a grant doesn't have them (docs/spec/decisions.md, section 1). */
import { parseReference } from '#src/fhir/references.ts';
import { type Home, typeEntry } from '#src/fhir/types.ts';

/**
 * Returns those ids whose resources are in a record or in the directory of its project; deleted ones count.
 * @param record the real id of its Patient
 */
export type WithinRecord = (record: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;

/** What references are compared with. */
export interface Surroundings {
  readonly record: string;
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
  readonly within: WithinRecord;
}

/** A resource that belongs to a record, as a reference names it. */
export interface Target {
  readonly type: string;
  readonly id: string;
}

/** Where resources are that may belong to a record. */
const IN_RECORDS: readonly Home[] = ['record', 'either'];

/** Returns the resource in a record that a reference names; undefined for directories, other servers and contained ones. */
export function targetOf(reference: string, base: string): Target | undefined {
  const parsed = parseReference(reference, [base]);
  return parsed.kind === 'local' && IN_RECORDS.includes(typeEntry(parsed.type).home) ? parsed : undefined;
}

/** The beginning of a `reference` in compact JSON. A quotation mark within a string is escaped, so this isn't part of one. */
const REFERENCE = /"reference":"((?:[^"\\]|\\.)*)"/g;

/**
 * Returns the references of a JSON text into other records, with the types that they name. One look-up answers for all
 * of them; there is none if all name the record's Patient, the directory, or nothing here.
 * @param text of one body or of several; an UTF-8 text may stand in it as Latin-1
 * @throws as `within`
 */
export async function foreignTypes(
  text: string,
  { record, base, within }: Surroundings,
): Promise<ReadonlyMap<string, string>> {
  const targets = new Map<string, Target>();
  const own = `Patient/${record}`;
  const seen = new Set<string>([own]);
  for (const [, reference = ''] of text.matchAll(REFERENCE)) {
    if (seen.has(reference)) continue;
    seen.add(reference);
    const target = targetOf(reference, base);
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
