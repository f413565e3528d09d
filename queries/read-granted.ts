/** What an application reads under a grant: the record's Patient, whichever project owns it. */
import type { AnswerBudget } from '#src/shared/answer-budget.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Line } from './gather.ts';
import { bodyOrSize } from './large-bodies.ts';
import type { Asks } from './prepared.ts';
import { type CurrentResource, wholeResource } from './read.ts';

/** The questions. They take the record from a grant, never from a request. */
export interface GrantedQueries {
  /**
   * Reads the Patient of a record; undefined if there is none.
   * @param record the real id of the Patient
   * @param budget of the response that will contain it
   * @throws Refusal as `AnswerBudget.requireRoom`
   */
  readonly readGrantedPatient: (record: string, budget: AnswerBudget) => Promise<CurrentResource | undefined>;
  /** Returns those ids whose resources are in the record or in the directory of its project; deleted ones count. */
  readonly withinRecord: (record: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;
}

type Row = [id: string, tenantId: string, version: number, lastUpdated: Micros, body: string | null];

// Index: primary key of resources.resource (id).
const PATIENT = `
  select r.id, r.tenant, r.version, r.last_updated, ${bodyOrSize('r.body')} as body
  from resources.resource r
  where r.id = any($1::uuid[]) and r.type = 'Patient' and r.record = r.id`;

// Index: primary key of resources.resource (id).
const WITHIN = `
  select r.id from resources.resource r
  join resources.resource p on p.id = $2 and p.tenant = r.tenant
  where r.id = any($1::uuid[]) and (r.record is null or r.record = p.id)`;

/** Opens the questions; reads that come together share a statement of the line. */
export function openGranted(line: Line, pool: Asks): GrantedQueries {
  const patient = line.gather<string, Row | undefined>(async (database, records) => {
    const values = [[...new Set(records)]];
    const { rows } = await database.query<Row>({ name: 'granted', text: PATIENT, values, rowMode: 'array' });
    const found = new Map(rows.map((row) => [row[0], row]));
    return records.map((record) => found.get(record));
  });
  return {
    async readGrantedPatient(record, budget) {
      const row = await patient(record);
      if (row === undefined) return undefined;
      const [id, ownerId, version, lastUpdated, body] = row;
      const found = { id, type: 'Patient' as const, version, lastUpdated, body };
      return wholeResource(pool, { ownerId }, found, budget);
    },
    async withinRecord(record, ids) {
      const known = ids.filter(isUuid);
      if (known.length === 0) return new Set();
      const values = [known, record];
      const { rows } = await pool.query<{ id: string }>({ name: 'granted-within', text: WITHIN, values });
      return new Set(rows.map(({ id }) => id));
    },
  };
}
