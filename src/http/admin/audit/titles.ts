/** Returns names for the subjects of events, as in clinical readings. These names are record content. */
import type { EventRow } from '#queries/audit/events.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { readPerson } from '#src/clinical/reading/person.ts';
import { bareCodes, type Displays } from '#src/clinical/summary/displays.ts';
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import type { Texts } from '../../pages/texts.ts';
import type { Services } from '../../ports/services.ts';
import { nameEntry } from '../../reading/version-text.ts';

/** The names for an event; null for a name that it doesn't have. */
export interface EventNames {
  readonly title: string | null;
  readonly patient: string | null;
}

/** The names for an event whose content isn't shown. */
export const UNNAMED: EventNames = { title: null, patient: null };

/** Reads patients' names by patient id. */
export async function readPatientNames(
  { audit }: Pick<Services, 'audit'>,
  records: readonly string[],
): Promise<(record: string) => string | null> {
  const patients = await audit.patientTexts([...new Set(records)]);
  const names = new Map([...patients].map(([id, body]) => [id, readPerson(parseStored(body)).name ?? null]));
  return (record) => names.get(record) ?? null;
}

/** Reads the names for events. */
export async function readNames(
  { audit, displays }: Pick<Services, 'audit' | 'displays'>,
  say: Texts,
  rows: readonly EventRow[],
): Promise<(row: EventRow) => EventNames> {
  const [versions, findName] = await Promise.all([
    audit.versionTexts(rows),
    readPatientNames(
      { audit },
      rows.flatMap(({ record }) => record ?? []),
    ),
  ]);
  const values = new Map([...versions].map(([id, body]) => [id, parseStored(body)]));
  const names = await displays(bareCodes([...values.values()]));
  return ({ id, resource_type: type, record }) => {
    const value = values.get(id);
    return {
      title: value === undefined || type === null ? null : nameResource(say, names, type, value),
      patient: record === null ? null : findName(record),
    };
  };
}

function nameResource(say: Texts, names: Displays, type: string, value: JsonObject): string {
  const { name } = value;
  if (typeof name === 'string') return name;
  const person = Array.isArray(name) ? readPerson(value).name : undefined;
  const around = { name: (concept: JsonObject[string] | undefined) => nameConcept(concept, names) };
  return person ?? nameEntry({ say, names, around }, { type, value });
}
