/** Reads the newest results of each kind in a record, regardless of how many values each kind has. */
import type { Pool } from 'pg';
import type { Replaced } from '#src/clinical/reading/told.ts';
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { readReplaced } from '../history/replaced-versions.ts';

/** An Observation's current version. */
export interface StoredResult {
  readonly id: string;
  readonly version: number;
  readonly value: JsonObject;
  /** The versions that this one replaced, newest first; empty if nobody has changed it. */
  readonly replaced?: readonly Replaced[] | undefined;
  /** When the version was recorded, in milliseconds since 1970. */
  readonly recorded: number;
  readonly author: string;
}

/** The newest results of each kind. */
export interface NewestResults {
  readonly results: readonly StoredResult[];
  /** Results that are too large to be read here, as `Observation/<id>`. */
  readonly tooLarge: readonly string[];
  /** The number of observations that have no result: they were cancelled, or have no result yet. */
  readonly notDone: number;
}

/**
 * Reads the newest results. Doesn't check permissions.
 * @param record the id of the record's Patient
 */
export type ReadNewestResults = (record: string) => Promise<NewestResults>;

/**
 * How many results of each kind to read, with an AI's results counted separately. Several are read because the newest may have
 * no value.
 */
const OF_A_KIND = 10;
/** The maximum size of a resource to be read here, in bytes. */
const MOST_BYTES = 200_000;

// Indexes: resources.resource_of_record (record, type, id); the primary key of timeline.entry (id, version).
const NEWEST = `
select n.id, n.version, n.author, n.recorded, n."notDone"
from (
  select o.*, row_number() over (partition by o.kind, o.author = 'ai', o."notDone" order by o.at desc, o.id desc) as place
  from (
    select r.id, r.version, r.last_updated / 1000 as recorded, e.at, coalesce(e.author_type, 'import') as author,
      coalesce(f.fields ->> 'status', '') in ('cancelled', 'registered') as "notDone",
      case when f.fields ->> 'code' is null then coalesce(f.fields ->> 'display', '')
        else concat_ws('|', f.fields ->> 'system', f.fields ->> 'code') end as kind
    from resources.resource r
    join timeline.entry e on e.id = r.id and e.version = r.version and e.title is not null and e.fields is not null
    cross join lateral (select ('{' || e.fields || '}')::json as fields offset 0) f
    where r.record = $1::uuid and r.type = 'Observation' and not r.deleted) o) n
where n.place <= ${OF_A_KIND} or n."notDone"`;

// Index: the primary key of history.version (id, version).
const BODIES = `
select v.id, case when octet_length(v.body) < ${MOST_BYTES} then v.body end as body
from unnest($1::uuid[], $2::int[]) k(id, version) join history.version v on v.id = k.id and v.version = k.version`;

interface Row extends Omit<StoredResult, 'value' | 'recorded'> {
  readonly recorded: string;
  readonly notDone: boolean;
}

/** Opens the question. */
export function openNewestResults(pool: Pool): ReadNewestResults {
  return async (record) => {
    const { rows } = await pool.query<Row>({ name: 'newest-results', text: NEWEST, values: [record] });
    const found = rows.filter(({ notDone }) => !notDone);
    const { rows: bodies } = await pool.query<{ id: string; body: string | null }>({
      name: 'newest-result-bodies',
      text: BODIES,
      values: [found.map(({ id }) => id), found.map(({ version }) => version)],
    });
    const read = new Map(bodies.map(({ id, body }) => [id, body]));
    const replaced = await readReplaced(
      pool,
      undefined,
      found.filter(({ author }) => author !== 'ai'),
    );
    return {
      results: found.flatMap(({ id, version, author, recorded }) => {
        const body = read.get(id) ?? null;
        return body === null
          ? []
          : [
              {
                ...{ id, version, author, value: parseStored(body), recorded: Number(recorded) },
                replaced: replaced.get(id),
              },
            ];
      }),
      tooLarge: bodies.flatMap(({ id, body }) => (body === null ? [`Observation/${id}`] : [])),
      notDone: rows.length - found.length,
    };
  };
}
