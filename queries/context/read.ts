/** Reads a record for contexts: all of it, or the changes since an earlier read. */
import pg from 'pg';
import type { AiVersions } from '#src/clinical/summary/choose.ts';
import { ExcerptReader } from '#src/context/excerpt.ts';
import { maskedBody } from '#src/context/masked.ts';
import { CONTEXT_TYPES, type Excerpt, type Version, versionReference } from '#src/context/record.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import { CONTEXT_LETTERS } from '#src/shared/access/coverage.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { readOut } from '../database/copy-out.ts';
import type { Queryable } from '../database/gather.ts';
import { bodyOrSize, sizeOfLarge } from '../read.ts';
import { andSeen, type Bind, type Seeing } from '../sight.ts';
import { aiVersions } from '../summary/ai-versions.ts';

const TYPES = CONTEXT_TYPES.map((type) => pg.escapeLiteral(type)).join(', ');

/** The current versions of a record's resources. */
export interface RecordRead {
  /** Without deleted resources, and without types that contexts don't use. */
  readonly excerpts: readonly Excerpt[];
  /** Versions that an AI wrote; may include earlier versions. */
  readonly byAi: AiVersions;
  /** When the last change was recorded; under a grant, when the last change that the grant covers was recorded. */
  readonly at: Micros;
  /** When the record's last change was recorded, even if a grant doesn't cover that change. */
  readonly until: Micros;
  /** Approximate memory that the excerpts use, in bytes. */
  readonly bytes: number;
}

/**
 * Reads the whole record or, under a grant, the part that the grant covers. Text isn't kept.
 * @throws Refusal in the same cases as `aiVersions`
 */
export async function readRecord(database: Queryable, sees: Seeing, patient: string): Promise<RecordRead> {
  const rows = await recordRows(database, sees, patient);
  const isThere = rows.excerpts.length > 0;
  return { ...rows, byAi: isThere ? await aiVersions(database, sees, patient) : new Map() };
}

/**
 * Reads the rows in one statement, so that they are all as of the same time, which is the time of the record's last change,
 * including deletions and other types. COPY takes no parameters, so values are literals. Index: resources.resource_of_record
 * (record, type, id).
 */
async function recordRows(
  database: Queryable,
  sees: Seeing,
  patient: string,
): Promise<Omit<RecordRead, 'byAi'>> {
  const excerpts = new ExcerptReader();
  let [at, until] = [0, 0];
  const rows = await readOut(
    database,
    `select r.type, r.id::text, r.version, r.last_updated, seen,
       case when seen and not r.deleted and r.type in (${TYPES}) then r.body end
     from resources.resource r, lateral (select (true
       ${andSeen(sees, CONTEXT_LETTERS, { as: 'r', of: 'current' }, literal)}) is true as seen) s
     where r.record = ${pg.escapeLiteral(patient)}::uuid and (r.tenant = ${pg.escapeLiteral(sees.ownerId)}::uuid) is true`,
    ([type, id, version, updated, seen, body]): Excerpt | undefined => {
      const recorded = Number(updated?.readBigInt64BE());
      until = Math.max(until, recorded);
      if (seen?.[0] === 1) at = Math.max(at, recorded);
      if (body === null || body === undefined) return undefined;
      const shown = sees.within === undefined ? body : Buffer.from(maskedBody(body.toString()));
      return excerpts.at({ type: String(type), id: String(id), version: version?.readInt32BE() ?? 0 }, shown);
    },
  );
  return { excerpts: rows.filter((row) => row !== undefined), at, until, bytes: excerpts.bytes };
}

/** Returns SQL for a value. */
const literal: Bind = (value, type) =>
  Array.isArray(value)
    ? `array[${value.map((each) => pg.escapeLiteral(String(each))).join(', ')}]::${type}`
    : `${pg.escapeLiteral(String(value))}::${type}`;

interface Row extends Version {
  readonly recorded_at: Micros;
  readonly metadata: string;
  readonly body: string | null;
}

/** The maximum number of changed versions to read separately; if there are more, the whole record is read in parts. */
const MOST_SINCE = 1_000;

/** Index: history.version_of_record (record, recorded_at, event_id). The tenant is only checked. */
const SINCE = `
  select v.type, v.id, v.version, v.recorded_at, v.metadata,
    case when v.recorded_at > $3 and v.type in (${TYPES}) then ${bodyOrSize('v.body')} end as body
  from history.version v
  where v.record = $1 and (v.tenant = $2) is true and v.recorded_at >= $3
  order by v.recorded_at limit ${MOST_SINCE + 2}`;

/**
 * Reads the versions that have been recorded since an earlier read. Each version has a distinct time, and the read model
 * contains all versions before its last one.
 * @returns the same object if nothing was recorded; undefined if there is too much to read in this way, if there is a large
 *   body
 * or a version that an AI wrote over a deleted resource, or if the read model doesn't contain the last change that was read
 * earlier, because the record was purged or the read model lags
 */
export async function readSince(
  database: Queryable,
  tenant: string,
  patient: string,
  before: RecordRead,
): Promise<RecordRead | undefined> {
  const { rows } = await database.query<Row>({
    name: 'context-since',
    text: SINCE,
    values: [patient, tenant, before.at],
  });
  const [known, ...later] = rows;
  if (known?.recorded_at !== before.at) return undefined;
  if (later.length === 0) return before;
  if (later.length > MOST_SINCE || later.some(({ body }) => body !== null && sizeOfLarge(body) !== undefined))
    return undefined;
  const excerpts = new ExcerptReader();
  const byId = new Map(before.excerpts.map((glance) => [glance.id, glance]));
  const byAi = new Map(before.byAi);
  let at = before.at;
  for (const { body, metadata, recorded_at, ...version } of later) {
    at = recorded_at;
    const { author } = JSON.parse(metadata) as EventMetadata;
    if (author?.type === 'ai') {
      const last = byId.get(version.id);
      if (body !== null && last === undefined && version.version > 1) return undefined;
      const name = last === undefined ? '' : versionReference(last);
      byAi.set(versionReference(version), byAi.has(name) ? byAi.get(name) : last?.version);
    }
    const glance = body === null ? undefined : excerpts.at(version, Buffer.from(body));
    if (glance === undefined) byId.delete(version.id);
    else byId.set(version.id, glance);
  }
  return { excerpts: [...byId.values()], byAi, at, until: at, bytes: before.bytes + excerpts.bytes };
}

interface EarlierRow extends Version {
  /** When the resource's last change in the period was recorded. */
  readonly changed: Micros;
  /** How often it was changed in the period. */
  readonly times: number;
  /** Whether an AI may have written a version in the period, or the earlier version. */
  readonly ai: boolean;
  /** Null if the resource was not in the record, or deleted. */
  readonly body: string | null;
}

/**
 * Each resource that was changed in a period, in the version before the period. Indexes: history.version_of_record (record,
 * recorded_at, event_id); history.version's primary key (id, version), backwards. The tenant is only checked.
 */
const EARLIER = `
  select c.id, c.changed, c.times, w.type, w.version,
    (c.ai or strpos(w.metadata, '"type":"ai"') > 0) is true as ai,
    case when w.record = $1 and w.type in (${TYPES}) then ${bodyOrSize('w.body')} end as body
  from (
    select v.id, min(v.version) as version, max(v.recorded_at) as changed, count(*)::int as times,
      bool_or(strpos(v.metadata, '"type":"ai"') > 0) as ai
    from (
      select v.id, v.version, v.recorded_at, v.metadata from history.version v
      where v.record = $1 and (v.tenant = $2) is true and v.recorded_at > $3 and v.recorded_at <= $4
      order by v.recorded_at desc limit ${MOST_SINCE + 1}) v
    group by v.id) c
  left join lateral (
    select w.* from history.version w where w.id = c.id and w.version < c.version
    order by w.version desc limit 1) w on true`;

/**
 * Reads the record as of an earlier change from the versions that were replaced since.
 * @param last when that change was recorded; the current state is later
 * @returns undefined if there is too much to read this way, or a large body, or an AI took part in a change, or the read model
 *   lacks the last change of the current state, because the record was purged
 */
export async function readBefore(
  database: Queryable,
  tenant: string,
  patient: string,
  now: RecordRead,
  last: Micros,
): Promise<RecordRead | undefined> {
  const { rows } = await database.query<EarlierRow>({
    name: 'context-before',
    text: EARLIER,
    values: [patient, tenant, last, now.at],
  });
  const isKnown = rows.some(({ changed }) => changed === now.at);
  const isOther = rows.some(({ ai, body }) => ai || (body !== null && sizeOfLarge(body) !== undefined));
  const count = rows.reduce((sum, { times }) => sum + times, 0);
  if (!isKnown || isOther || count > MOST_SINCE) return undefined;
  const excerpts = new ExcerptReader();
  const byId = new Map(now.excerpts.map((glance) => [glance.id, glance]));
  for (const { body, type, id, version } of rows) {
    const glance = body === null ? undefined : excerpts.at({ type, id, version }, Buffer.from(body));
    if (glance === undefined) byId.delete(id);
    else byId.set(id, glance);
  }
  const { byAi } = now;
  return { excerpts: [...byId.values()], byAi, at: last, until: last, bytes: now.bytes + excerpts.bytes };
}
