/** Reads a record's resources for the clinical reading, and what an AI contributed to each of them. */
import type { Pool } from 'pg';
import { referredMedication } from '#src/clinical/reading/medicine-subject.ts';
import { READ_TYPES } from '#src/clinical/reading/reading.ts';
import { REVISED_TYPES } from '#src/clinical/reading/revisions.ts';
import type { PartOfAi, Replaced } from '#src/clinical/reading/told.ts';
import { isUuid } from '#src/shared/ids.ts';
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { readReplaced } from '../history/replaced-versions.ts';

/** A current version. */
export interface ClinicalEntry {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly value: JsonObject;
  readonly partOfAi: PartOfAi;
  /** The version by somebody else that an AI changed. */
  readonly before: JsonObject | undefined;
  /** The versions that this entry's version replaced, newest first; empty for an entry that nobody has changed. */
  readonly replaced?: readonly Replaced[] | undefined;
  /** When the version was recorded, in milliseconds since 1970. */
  readonly recorded: number;
}

/** A record's entries. */
export interface ClinicalEntries {
  /** The Patient; empty if the Patient is deleted. */
  readonly patient: JsonObject;
  /** The Patient with its version; undefined if the Patient is deleted. */
  readonly person: ClinicalEntry | undefined;
  readonly entries: readonly ClinicalEntry[];
  /** Medications in the directory to which entries refer, by `Medication/<id>`. */
  readonly medications: ReadonlyMap<string, JsonObject>;
  /** Resources that are too large to be read here, as `Type/id`. */
  readonly tooLarge: readonly string[];
}

/**
 * Reads a record's entries. Doesn't check permissions.
 * @param record the id of the record's Patient
 * @param also additional types, which the clinical reading itself doesn't use
 */
export type ReadClinicalEntries = (record: string, also?: readonly string[]) => Promise<ClinicalEntries>;

/** The maximum total size of a record's resources, in bytes. If it is exceeded, the largest resources are only named. */
const MOST_BYTES = 30_000_000;

// Index: resources.resource_of_record (record, type, id); the primary key of history.version.
const ENTRIES = `
select r.type, r.id, r.version, r.ai, r.recorded, r.before,
  case when r.sum < ${MOST_BYTES} then r.body end as body
from (
  select r.type, r.id, r.version, r.body, r.last_updated / 1000 as recorded,
    sum(octet_length(r.body)) over (order by octet_length(r.body), r.id) as sum,
    a.ai, case when a.ai then (
      select e.body from history.version e
      where e.id = r.id and e.version < r.version and e.body is not null
        and e.metadata::json #>> '{author,type}' is distinct from 'ai'
      order by e.version desc limit 1) end as before
  from resources.resource r
  cross join lateral (
    select exists (
      select from history.version v
      where v.id = r.id and v.version = r.version and v.metadata::json #>> '{author,type}' = 'ai') as ai offset 0) a
  where r.record = $1::uuid and r.type = any($2) and not r.deleted) r
order by r.id`;

// Index: the primary key of resources.resource.
const MEDICATIONS = `
select r.id, r.body from resources.resource r
where r.id = any($1::uuid[]) and r.type = 'Medication' and not r.deleted and octet_length(r.body) < 200000`;

interface Row {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly body: string | null;
  readonly ai: boolean;
  readonly before: string | null;
  readonly recorded: string;
}

/** Opens the question. */
export function openClinicalEntries(pool: Pool): ReadClinicalEntries {
  return async (record, also = []) => {
    const { rows } = await pool.query<Row>({
      name: 'clinical-entries',
      text: ENTRIES,
      values: [record, ['Patient', ...READ_TYPES, ...also]],
    });
    const entries = rows.flatMap((row) => makeEntry(row) ?? []);
    const ids = new Set(
      entries.flatMap(({ value }) => referredMedication(value)?.split('/')[1] ?? []).filter(isUuid),
    );
    const { rows: medications } =
      ids.size === 0
        ? { rows: [] }
        : await pool.query<{ id: string; body: string }>({
            name: 'clinical-medications',
            text: MEDICATIONS,
            values: [[...ids]],
          });
    const person = entries.find(({ type }) => type === 'Patient');
    const told = entries.filter(({ type }) => type !== 'Patient');
    const replaced = await readReplaced(pool, undefined, told.filter(isCompared));
    return {
      patient: person?.value ?? {},
      person,
      entries:
        replaced.size === 0 ? told : told.map((each) => ({ ...each, replaced: replaced.get(each.id) })),
      medications: new Map(medications.map(({ id, body }) => [`Medication/${id}`, parseStored(body)])),
      tooLarge: rows.flatMap(({ type, id, body }) => (body === null ? [`${type}/${id}`] : [])),
    };
  };
}

/**
 * Returns true if an entry's earlier versions are read to show what changed; versions that an AI changed are handled
 * separately.
 */
function isCompared({ type, partOfAi }: ClinicalEntry): boolean {
  return partOfAi === 'no' && REVISED_TYPES.includes(type);
}

function makeEntry({ type, id, version, body, ai, before, recorded }: Row): ClinicalEntry | undefined {
  if (body === null) return undefined;
  return {
    type,
    id,
    version,
    value: parseStored(body),
    partOfAi: before !== null ? 'changed' : ai ? 'written' : 'no',
    before: before === null ? undefined : parseStored(before),
    recorded: Number(recorded),
  };
}
