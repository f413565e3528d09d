/** `annal terminology`: loads code systems from files, and lists the loaded ones. */
import { stat } from 'node:fs/promises';
import type { Pool } from 'pg';
import { z } from 'zod';
import { openPool } from '#src/database/pool.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { languageTag, loadConcepts } from '#src/terminology/concepts/store.ts';
import { LOADABLE, type LoadableName, loadSystem } from '#src/terminology/load/load.ts';
import { BadFile } from '#src/terminology/load/table.ts';
import { prepareTerminology } from '#src/terminology/read-models.ts';
import { requireDatabaseUrl } from './database.ts';
import { expectAction, Failure, MISUNDERSTOOD } from './failure.ts';
import { startProgress } from './progress.ts';
import type { ServiceOptions } from './service.ts';
import { counted, table } from './table.ts';

/** The command-line options. */
export interface TerminologyOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  readonly system?: string;
  readonly release?: string;
  readonly lang?: string;
  readonly signal?: AbortSignal;
}

const NAMES = Object.keys(LOADABLE) as LoadableName[];
/** The value of `--system` for files with symptoms, conditions and treatments. */
const CONCEPTS = 'concepts';

/**
 * Runs `load FILE…` or `list`.
 * @throws Failure if arguments or a file are invalid.
 */
export async function terminologyCommand(
  action: string,
  files: readonly string[],
  options: TerminologyOptions,
): Promise<void> {
  expectAction('terminology', action, ['load', 'list']);
  if (action === 'list') {
    if (files.length > 0) throw new Failure('annal terminology list takes no files', MISUNDERSTOOD);
    return onDatabase(options, (pool) => list(pool, options));
  }
  const { system } = options;
  const name = [...NAMES, CONCEPTS].find((each) => each === system);
  if (name === undefined) {
    const given = system === undefined ? '' : `, not ${system}`;
    const names = [...NAMES, CONCEPTS].join('|');
    throw new Failure(`annal terminology load needs --system ${names}${given}`, MISUNDERSTOOD);
  }
  if (files.length === 0) throw new Failure('annal terminology load needs a file', MISUNDERSTOOD);
  const codes = NAMES.find((each) => each === name);
  if (codes === undefined) {
    if (options.release !== undefined)
      throw new Failure('--release is for code systems; concepts take --lang', MISUNDERSTOOD);
    return onDatabase(options, (pool) => loadTexts(pool, files, options));
  }
  if (options.lang !== undefined)
    throw new Failure(`--lang is for --system ${CONCEPTS}; code systems have no languages`, MISUNDERSTOOD);
  return onDatabase(options, (pool) => load(pool, codes, files, options));
}

/** No time limit, because statements on a whole code system may take long. */
async function onDatabase(options: TerminologyOptions, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = openPool(await requireDatabaseUrl(options), {
    max: 2,
    name: 'annal terminology',
    answerMs: 0,
  });
  try {
    await work(pool);
  } catch (error) {
    if (error instanceof BadFile) throw new Failure(`${error.message}. Nothing was changed.`);
    if (options.signal?.aborted === true) throw new Failure('stopped: nothing was changed');
    if (error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '3F000'))
      throw new Failure('the database has no terminology tables yet; start this version of the service once');
    throw error;
  } finally {
    await pool.end();
  }
}

async function load(
  pool: Pool,
  name: LoadableName,
  files: readonly string[],
  { json = false, release, signal }: TerminologyOptions,
): Promise<void> {
  const progress = startProgress(await sumBytes(files), 'bytes', json);
  try {
    const concepts = await loadSystem(pool, {
      name,
      files,
      version: release,
      now: nowMicros(),
      read: (bytes) => progress.advance(bytes),
      signal,
    });
    progress.stop();
    await prepareTerminology(pool);
    const { url } = LOADABLE[name];
    const done = json
      ? JSON.stringify({ system: name, url, version: release ?? null, concepts })
      : `${url} now has ${counted(concepts, 'code')}.`;
    process.stdout.write(`${done}\n`);
  } finally {
    progress.stop();
  }
}

/** Loads concepts in one language. */
async function loadTexts(
  pool: Pool,
  files: readonly string[],
  { json = false, lang = 'en', signal }: TerminologyOptions,
): Promise<void> {
  const progress = startProgress(await sumBytes(files), 'bytes', json);
  try {
    await prepareTerminology(pool);
    const read = (bytes: number) => progress.advance(bytes);
    const concepts = await loadConcepts(pool, { files, lang, read, signal });
    progress.stop();
    const tag = languageTag(lang);
    const done = json
      ? JSON.stringify({ system: CONCEPTS, lang: tag, concepts })
      : `${counted(concepts, 'concept')} in the language ${tag} loaded.`;
    process.stdout.write(`${done}\n`);
  } finally {
    progress.stop();
  }
}

async function sumBytes(files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(
    files.map(async (file) => (await stat(file).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

const row = z.object({
  url: z.string(),
  version: z.string().nullable(),
  content: z.string(),
  loaded: z.boolean(),
  concepts: z.number(),
});

async function list(pool: Pool, { json = false }: TerminologyOptions): Promise<void> {
  await prepareTerminology(pool);
  const { rows } = await pool.query(
    `select s.url, s.version, s.content, s.loaded,
       (select count(*)::int from terminology.concept c where c.system = s.id) as concepts
     from terminology.system s
     union all
     select 'concepts (' || e.lang || ')', null, 'complete', e.loaded, count(*)::int
     from terminology.concept_entry e group by e.lang, e.loaded
     order by loaded desc, concepts desc, url`,
  );
  const systems = z.array(row).parse(rows);
  const cells = systems.map(({ url, version, content, loaded, concepts }) => [
    url,
    version ?? '',
    content,
    loaded ? 'file' : 'bundled',
    concepts,
  ]);
  process.stdout.write(
    `${json ? JSON.stringify(systems, null, 2) : table(['Code system', 'Version', 'Content', 'From', 'Codes'], cells)}\n`,
  );
}
