/** Builds contexts for language models from patients' records. */
import type { Pool } from 'pg';
import type { Authorship } from '#src/context/compose.ts';
import { type MadeContext, makeContext } from '#src/context/make.ts';
import { maskedAuthorship, maskedBody } from '#src/context/masked.ts';
import { type Current, type Version, versionReference } from '#src/context/record.ts';
import type { ReadReplacedTexts } from '#src/context/replaced.ts';
import type { ContextRequest } from '#src/context/request.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { grantCoverage } from '#src/shared/access/coverage.ts';
import { isUuid } from '#src/shared/ids.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { unavailable } from '#src/shared/refusal.ts';
import { readReplacedTexts } from '../history/replaced-versions.ts';
import { bodyOrSize, bodySize, withLargeBodies } from '../read.ts';
import { type Marks, openMarks } from '../rest/marks.ts';
import type { RecordRead } from './read.ts';
import { RecordCache } from './record-cache.ts';

/**
 * A context, and when the last changes that it includes were recorded: the last change that the caller sees, and the record's
 * very last change.
 */
export interface MadeAt extends MadeContext, Pick<RecordRead, 'at' | 'until'> {}

/**
 * Creates a context; undefined if the Patient is deleted or the caller can't see it.
 * @param today `YYYY-MM-DD`
 * @throws Refusal unavailable (503) while versions that `resources` contains are missing from the read model `history`
 */
export type MakeContext = (
  caller: Caller,
  asked: { readonly patient: string; readonly ask: ContextRequest; readonly today: string },
) => Promise<MadeAt | undefined>;

/** Names codes. */
export type NameCodes = (codes: readonly SystemCode[]) => Promise<ReadonlyMap<string, string>>;

/**
 * Creates the query on a database.
 * @param records a cache that is shared with the contexts as of earlier times
 */
export function openMakeContext(
  pool: Pool,
  displays: NameCodes,
  records = new RecordCache(pool),
): MakeContext {
  const marks = openMarks(pool);
  return async (caller, { patient, ask, today }) => {
    if (!isUuid(patient)) return undefined;
    const held = await records.open(caller.sees, patient, pool);
    if (held === undefined) return undefined;
    const made = await makeContext(
      {
        opened: held.opened,
        directory: (keys) => directoryEntries(pool, caller.sees, keys),
        displays,
        authors: (versions) => readAuthors(marks, caller, versions),
        bodies: (versions) => readBodies(pool, caller.sees, versions),
        replaced: (current) => readReplaced(pool, caller.sees, current),
        covered: grantCoverage(caller.sees.within?.access),
      },
      ask,
      today,
    );
    return { ...made, at: held.read.at, until: held.read.until };
  };
}

/**
 * Reads the text of versions. Index: primary key of history.version.
 * @throws Refusal unavailable (503) if a version is missing, too_large (413, `too-costly`) if the versions are too large
 * together
 */
async function readBodies(
  pool: Pool,
  sees: Sees,
  versions: readonly Version[],
): Promise<ReadonlyMap<string, string>> {
  if (versions.length === 0) return new Map();
  const { rows } = await pool.query<Current>({
    name: 'context-bodies',
    text: `select v.type, v.id, v.version, ${bodyOrSize('v.body')} as body from unnest($1::uuid[], $2::int[]) k(id, version)
      join history.version v on v.id = k.id and v.version = k.version and v.tenant = $3 and v.body is not null`,
    values: [versions.map(({ id }) => id), versions.map(({ version }) => version), sees.ownerId],
  });
  if (rows.length < versions.length) throw lagging();
  return new Map((await wholeRows(pool, sees, rows)).map((row) => [versionReference(row), row.body]));
}

/** Reads the text of the versions that the given versions replaced; under a grant, the text is masked. */
async function readReplaced(
  pool: Pool,
  sees: Sees,
  current: readonly Version[],
): ReturnType<ReadReplacedTexts> {
  const texts = await readReplacedTexts(pool, sees, current);
  if (sees.within === undefined) return texts;
  return new Map(
    [...texts].map(([id, all]) => [id, all.map((each) => ({ ...each, body: maskedBody(each.body) }))]),
  );
}

/** Reads live directory entries. Index: primary key of resources.resource. */
async function directoryEntries(pool: Pool, sees: Sees, keys: readonly string[]): Promise<Current[]> {
  if (keys.length === 0) return [];
  const { rows } = await pool.query<Current>({
    name: 'context-directory',
    text: `select r.type, r.id, r.version, ${bodyOrSize('r.body')} as body from resources.resource r
      where r.id = any($1::uuid[]) and r.tenant = $2 and r.record is null and not r.deleted order by r.id`,
    values: [keys.map((key) => key.split('/')[1] ?? '').filter(isUuid), sees.ownerId],
  });
  return wholeRows(pool, sees, rows);
}

/**
 * Returns rows including their large bodies, which are masked under a grant.
 * @throws Refusal too_large (413, `too-costly`) if the bodies are too large together
 */
async function wholeRows(
  pool: Pool,
  { ownerId, within }: Sees,
  rows: readonly Current[],
): Promise<Current[]> {
  new AnswerBudget().take(
    rows.reduce((sum, { body }) => sum + bodySize(body), 0),
    0,
  );
  const whole = await withLargeBodies(pool, { ownerId }, rows);
  return within === undefined ? whole : whole.map((row) => ({ ...row, body: maskedBody(row.body) }));
}

/**
 * Reads the authors of versions.
 * @throws Refusal unavailable (503) while a version is missing from the read model `history`
 */
async function readAuthors(
  marks: Marks,
  caller: Caller,
  versions: readonly Version[],
): Promise<ReadonlyMap<string, Authorship>> {
  const found = await marks(caller, versions);
  return new Map(
    versions.map((version) => {
      const mark = found.get(version.id);
      if (mark === undefined) throw lagging();
      const { author, source_system: source } = mark.metadata;
      const own = { authorType: author?.type ?? 'import', source: source ?? null };
      return [versionReference(version), caller.sees.within === undefined ? own : maskedAuthorship(own)];
    }),
  );
}

function lagging(): Error {
  return unavailable('the read model history lags behind the record');
}
