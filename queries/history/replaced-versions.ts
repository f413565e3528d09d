/** Reads the versions that a record's current versions replaced, to show what changed (docs/clinical-reading.md). */
import type { Replaced } from '#src/clinical/reading/told.ts';
import { countReplaced, MOST_REPLACED_BYTES, type ReplacedText } from '#src/context/replaced.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import { parseStored } from '#src/shared/json/json.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { Queryable } from '../database/gather.ts';
import { prepared } from '../database/prepared.ts';
import { andSeen, bindTo, isLimited, type Seeing } from '../sight.ts';

const AI: AuthorType = 'ai';

/** A current version. */
export interface CurrentVersion {
  readonly id: string;
  readonly version: number;
}

// Index: the primary key of history.version (id, version), backwards.
const writeStatement = (seen: string): string => `
select k.id, s.version, s.until::float8 as until,
  case when octet_length(s.body) < ${MOST_REPLACED_BYTES.each}
    and sum(octet_length(s.body)) over (order by k.id, s.version desc) < ${MOST_REPLACED_BYTES.inAll} then s.body end as body
from unnest($1::uuid[], $2::int[]) k(id, version)
cross join lateral (
  select w.version, w.body, lead(w.recorded_at) over (order by w.version) as until
  from (
    select v.version, v.body, v.recorded_at from history.version v
    where v.id = k.id and v.version <= k.version and (v.tenant = $5::uuid or $5 is null) and v.body is not null
      and v.metadata::json #>> '{author,type}' is distinct from $3 ${seen}
    order by v.version desc limit $4::int + 1) w) s
where s.version < k.version and s.until is not null
order by k.id, s.version desc`;

interface Row {
  readonly id: string;
  readonly version: number;
  readonly until: number;
  readonly body: string | null;
}

/** Reads the versions that the given current versions replaced, by resource id. */
export type ReadReplaced = (
  current: readonly CurrentVersion[],
) => Promise<ReadonlyMap<string, readonly Replaced[]>>;

/** The letters that reading a whole record requires under a grant (docs/spec/decisions.md, section 9, "Letters"). */
const NEEDS = 'rs';

/**
 * Returns the text of the replaced versions that no AI wrote, newest first, by resource id.
 * @param sees undefined to skip the permission check
 */
export async function readReplacedTexts(
  database: Queryable,
  sees: Seeing | undefined,
  current: readonly CurrentVersion[],
): Promise<ReadonlyMap<string, readonly ReplacedText[]>> {
  const changed = current.filter(({ version }) => version > 1);
  if (changed.length === 0) return new Map();
  const values: unknown[] = [
    changed.map(({ id }) => id),
    changed.map(({ version }) => version),
    AI,
    countReplaced(changed.length),
    sees?.ownerId ?? null,
  ];
  const seen = sees === undefined ? '' : andSeen(sees, NEEDS, { as: 'v', of: 'version' }, bindTo(values));
  const text = writeStatement(seen);
  const isOwn = sees === undefined || !isLimited(sees);
  const { rows } = await database.query<Row>(
    isOwn ? { name: 'replaced-versions', text, values } : prepared(text, values),
  );
  const found = new Map<string, ReplacedText[]>();
  const ended = new Set<string>();
  for (const { id, version, until, body } of rows) {
    if (body === null) ended.add(id);
    if (body === null || ended.has(id)) continue;
    const each = { version, body, until: toInstant(until) };
    if (found.get(id)?.push(each) === undefined) found.set(id, [each]);
  }
  return found;
}

/** Reads the same versions as `readReplacedTexts`, in the form that the clinical reading uses. */
export async function readReplaced(
  ...asked: Parameters<typeof readReplacedTexts>
): Promise<ReadonlyMap<string, readonly Replaced[]>> {
  const texts = await readReplacedTexts(...asked);
  return new Map(
    [...texts].map(([id, versions]) => [
      id,
      versions.map(({ body, until }) => ({ value: parseStored(body), until })),
    ]),
  );
}
