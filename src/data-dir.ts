/**
 * Manages DATA_DIR: its lock, which admits one service at a time, and the files through which other processes find the
 * service.
 */
import { link, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isSameProcess, type ProcessMark, processMark } from './process-mark.ts';
import { makeFolder } from './shared/make-folder.ts';

/** The lock on a DATA_DIR. */
export interface DataDirLock {
  release(): Promise<void>;
}

/** Thrown when another running process has locked the DATA_DIR. */
export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';
  constructor(
    readonly dataDir: string,
    readonly pid: number,
  ) {
    super(
      `DATA_DIR ${dataDir} is in use by another Annal service (pid ${pid}); stop it, or set another DATA_DIR`,
    );
  }
}

/**
 * Locks a DATA_DIR for this process; creates it if it is missing. A dead process's lock is taken over.
 * @throws DataDirInUse; NodeJS.ErrnoException if the folder can't be created, read or written to
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await makeFolder(dataDir, 0o711);
  const folder = await realpath(dataDir);
  const file = join(folder, 'lock.json');
  const mine = JSON.stringify(await processMark(process.pid));
  const draft = join(folder, `lock.${process.pid}`);
  await writeFile(draft, mine);
  try {
    while (!(await linked(draft, file))) {
      const held = await readFile(file, 'utf8').catch(goneMeanwhile);
      if (held === undefined) continue;
      const holder = parseMark(held);
      if (holder !== undefined && (await isSameProcess(holder))) throw new DataDirInUse(folder, holder.pid);
      await removeStale(file, held, draft);
    }
  } finally {
    await rm(draft, { force: true });
  }
  return {
    async release() {
      if ((await readFile(file, 'utf8').catch(() => undefined)) === mine) await rm(file, { force: true });
    },
  };
}

/** Creates a file as a hard link. The file appears with its whole content or not at all, and only if the name isn't taken. */
async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Ignores the error if another process removed the file first; any other error would only recur in a retry. */
function goneMeanwhile(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/**
 * Removes the lock only if it is the one that was found to be stale. If a faster process has already replaced it, that
 * process's lock is put back.
 */
async function removeStale(file: string, stale: string, draft: string): Promise<void> {
  const aside = `${draft}.stale`;
  await rename(file, aside).catch(goneMeanwhile);
  if ((await readFile(aside, 'utf8').catch(() => stale)) !== stale) await linked(aside, file);
  await rm(aside, { force: true });
}

function parseMark(text: string): ProcessMark | undefined {
  try {
    return JSON.parse(text) as ProcessMark;
  } catch {
    return undefined;
  }
}

/** The database and event store that the service on a DATA_DIR uses, for commands on the same machine. */
export interface Announced {
  /** The URL of its database. */
  readonly url: string;
  /** The URL of the service's EventStoreDB; absent if the log is in the database. */
  readonly event_store?: string;
}

/**
 * Publishes the database and event store of the service on a DATA_DIR until `forgetDatabase` is called. Only the file's owner
 * can read it.
 */
export async function announceDatabase(dataDir: string, announced: Announced): Promise<void> {
  await writeJson(dataDir, DATABASE, { ...announced, service: await processMark(process.pid) });
}

/** Undoes `announceDatabase`. */
export async function forgetDatabase(dataDir: string): Promise<void> {
  await rm(join(dataDir, DATABASE), { force: true });
}

/** Returns what the service running on a DATA_DIR has announced; undefined if no service is running. */
export async function findAnnounced(dataDir: string): Promise<Announced | undefined> {
  const text = await readFile(join(dataDir, DATABASE), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { service, ...announced } = JSON.parse(text) as Announced & { service: ProcessMark };
  return (await isSameProcess(service)) ? announced : undefined;
}

/** Returns the database URL that the service running on a DATA_DIR has announced; undefined if no service is running. */
export async function findDatabase(dataDir: string): Promise<string | undefined> {
  return (await findAnnounced(dataDir))?.url;
}

/** The values that a first request needs. */
export interface Quickstart {
  readonly base_url: string;
  readonly organization_id: string;
  readonly project_id: string;
  /** `sk_test_…`; stored unencrypted only here. */
  readonly sandbox_key: string;
}

/** Writes `quickstart.json` atomically, readable only by its owner, and returns its path. */
export async function writeQuickstart(dataDir: string, quickstart: Quickstart): Promise<string> {
  return writeJson(dataDir, QUICKSTART, quickstart);
}

/** Returns the content of the file that an earlier start wrote; undefined if the file doesn't exist. */
export async function readQuickstart(dataDir: string): Promise<Quickstart | undefined> {
  const text = await readFile(join(dataDir, QUICKSTART), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Quickstart);
}

const DATABASE = 'database.json';
const QUICKSTART = 'quickstart.json';

async function writeJson(dataDir: string, name: string, value: object): Promise<string> {
  const file = join(dataDir, name);
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
  return file;
}
