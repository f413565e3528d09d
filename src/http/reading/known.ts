/** Reads a record for pages and programs: the clinical reading of its entries, with names for their codes. */
import type { NameCodes } from '#queries/context/context.ts';
import type { ClinicalEntries, ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { codesToName, nameConcept } from '#src/clinical/reading/names/name.ts';
import { type ClinicalReading, readRecord, type Statements } from '#src/clinical/reading/reading.ts';
import { containedIn, objects, text } from '#src/fhir/parts.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';

/** A clinical reading, and the entries that were too large to be included in it. */
export interface Known extends ClinicalReading<ClinicalEntry> {
  /** As `Type/id`. */
  readonly tooLarge: readonly string[];
  /** For an entry that an AI changed, returns what it stated in the version that another author wrote before. */
  readonly before: (entry: ClinicalEntry) => Statements<ClinicalEntry> | undefined;
  /** Returns what an entry stated in an earlier version. */
  readonly stated: (entry: ClinicalEntry, version: JsonObject) => Statements<ClinicalEntry>;
  readonly name: (concept: Json | undefined) => string | undefined;
}

/**
 * Reads a record's entries.
 * @param today `YYYY-MM-DD`; periods that ended before this day are past
 */
export async function interpretEntries(
  { patient, entries, medications, tooLarge }: ClinicalEntries,
  displays: NameCodes,
  today: string,
): Promise<Known> {
  const values = [
    ...entries.flatMap(({ value, before = {}, replaced = [] }) => [
      ...[value, before],
      ...replaced.map((each) => each.value),
    ]),
    ...medications.values(),
  ];
  const names = await displays(codesIn(values));
  const name = (concept: Json | undefined): string | undefined => nameConcept(concept, names);
  const own = new Map(entries.map((each) => [`${each.type}/${each.id}`, each.value]));
  const look = (reference: Json | undefined, within: JsonObject): JsonObject | undefined => {
    const [key = ''] = /[A-Za-z]+\/[0-9a-f-]{36}/.exec(text(reference) ?? '') ?? [];
    return containedIn(within, reference) ?? medications.get(key) ?? own.get(key);
  };
  const around = { today, look, name };
  const stated = (entry: ClinicalEntry, value: JsonObject): Statements<ClinicalEntry> =>
    readRecord(patient, [{ ...entry, value, partOfAi: 'no', replaced: undefined }], around).facts;
  const before = (entry: ClinicalEntry): Statements<ClinicalEntry> | undefined =>
    entry.before === undefined ? undefined : stated(entry, entry.before);
  return { ...readRecord(patient, entries, around), tooLarge, before, stated, name };
}

/** Elements for whose concepts the pages show names. */
const NAMED = [
  ...['code', 'medicationCodeableConcept', 'vaccineCode', 'reasonCode', 'severity', 'bodySite'],
  ...['statusReason', 'subpotentReason'],
] as const;

function codesIn(values: readonly JsonObject[]): SystemCode[] {
  const found = new Map<string, SystemCode>();
  const add = (concept: Json | undefined): void => {
    for (const each of objects(concept))
      for (const code of codesToName(each)) found.set(`${code.system}|${code.code}`, code);
  };
  for (const value of values) {
    for (const element of NAMED) add(value[element]);
    for (const { substance, manifestation } of objects(value.reaction)) {
      add(substance);
      add(manifestation);
    }
    for (const { code } of objects(value.contained)) add(code);
  }
  return [...found.values()];
}

/** Returns how many entries an AI's notes contain. */
export function countNotes({
  allergies,
  medicines,
  problems,
  vaccinations,
  absences,
}: Statements<ClinicalEntry>): number {
  return (
    Object.values(absences)
      .flat()
      .reduce((sum, { sources }) => sum + sources.length, 0) +
    allergies.length +
    medicines.reduce((sum, { sources }) => sum + sources.length, 0) +
    problems.reduce((sum, { sources }) => sum + sources.length, 0) +
    vaccinations.reduce((sum, { doses }) => sum + doses.length, 0)
  );
}
