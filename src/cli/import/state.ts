/**
 * The journal of an import, with which the import can resume without loading anything twice. It has one JSON line per fact,
 * each flushed to disk before the next step. When a journal is reopened, an incomplete last line left by a crash is removed.
 */
import { existsSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { DataDirInUse, type DataDirLock, lockDataDir } from '#src/data-dir.ts';
import { makeFolder } from '#src/shared/make-folder.ts';
import { Failure } from '../failure.ts';
import { type Fact, factSchema } from './journal.ts';
import { readLines } from './lines.ts';

/** The text with which every journal begins. */
const FIRST_LINE = '{"import":1,';
/** A limit longer than any line: the longest line quotes a directory transaction of half the service's limit. */
const LONGEST_LINE = 1 << 25;

/** Counts by type for a source that was loaded completely. */
export interface DoneSource {
  readonly loaded: Readonly<Record<string, number>>;
  readonly skipped: Readonly<Record<string, number>>;
}

/** A directory transaction whose response wasn't recorded. */
export interface Intent {
  readonly key: string;
  readonly body: string;
  readonly identities: readonly string[];
  readonly contents: readonly string[];
}

/** A directory entry that was loaded or matched. */
export interface Known {
  readonly reference: string;
  /** The hash of its content when the entry was first read. */
  readonly content: string;
}

/** The journal of one import. */
export class ImportState {
  readonly doneUnits = new Set<string>();
  readonly doneSources = new Map<string, DoneSource>();
  readonly parts = new Map<string, readonly number[]>();
  /** Maps a patient's old key to `Patient/id`. Other resources' ids stay on disk: see `find`. */
  readonly patients = new Map<string, string>();
  readonly directory = new Map<string, Known>();
  readonly intents = new Map<string, Intent>();
  #salt = '';
  #url = '';
  #file: FileHandle | undefined;
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    readonly path: string,
    private readonly held: DataDirLock,
  ) {}

  /** A folder that only this import uses while the state is open. */
  get workFolder(): string {
    return `${this.path}.work`;
  }

  /** Distinguishes this import from other imports of the same files; part of every Idempotency-Key. */
  get salt(): string {
    return this.#salt;
  }

  /**
   * Opens a journal, or creates it.
   * @param fresh discards the previous content; the new `salt` gives every request a new Idempotency-Key.
   * @throws Failure if the file isn't a journal, belongs to a different server, or is in use by another import.
   */
  static async open(path: string, url: string, fresh?: { salt: string }): Promise<ImportState> {
    const state = new ImportState(path, await lock(`${path}.work`, path));
    try {
      if (fresh !== undefined) await rm(path, { force: true });
      if (existsSync(path)) await state.#load();
      state.#file = await open(path, 'a', 0o600);
      if (state.#url === '') await state.#write({ import: 1, url, salt: fresh?.salt ?? '' });
      else if (state.#url !== url) {
        throw new Failure(
          `${path} is the state of an import into ${state.#url}, not into ${url}; name another file with --state`,
        );
      }
    } catch (error) {
      await state.close();
      throw error;
    }
    return state;
  }

  async #load(): Promise<void> {
    await this.#cutTornLine();
    for await (const { number, text } of readLines(this.path)) {
      const read = factSchema.safeParse(parseLine(text ?? ''));
      if (!read.success) throw this.#isNoState(number);
      this.#take(read.data);
    }
  }

  /**
   * Removes a last line without a line end, left by a crash during a write. A file that doesn't begin like a journal isn't
   * changed.
   */
  async #cutTornLine(): Promise<void> {
    const file = await open(this.path, 'r+');
    try {
      const { size } = await file.stat();
      const head = Buffer.alloc(Math.min(size, FIRST_LINE.length));
      await file.read(head, 0, head.length, 0);
      if (!FIRST_LINE.startsWith(head.toString('latin1'))) throw this.#isNoState(1);
      const tail = Buffer.alloc(Math.min(size, LONGEST_LINE));
      await file.read(tail, 0, tail.length, size - tail.length);
      await file.truncate(size - tail.length + tail.lastIndexOf(0x0a) + 1);
    } finally {
      await file.close();
    }
  }

  #isNoState(line: number): Failure {
    return new Failure(
      `${this.path} is not the state file of an import (line ${line}); name another file with --state`,
    );
  }

  #take(fact: Fact): void {
    if ('import' in fact) {
      this.#salt = fact.salt;
      this.#url = fact.url;
    } else if ('source' in fact) this.doneSources.set(fact.source, fact);
    else if ('parts' in fact) this.parts.set(fact.unit, fact.parts);
    else if ('ids' in fact) {
      for (const [key, reference] of Object.entries(fact.ids)) {
        if (key.startsWith('Patient/') && !this.patients.has(key)) this.patients.set(key, reference);
      }
      if (fact.left === 0) {
        this.doneUnits.add(fact.unit);
        this.parts.delete(fact.unit);
      }
    } else if ('intent' in fact) {
      const { intent: key, body, identities, contents } = fact;
      this.intents.set(key, { key, body, identities, contents });
    } else if ('answered' in fact) {
      this.intents.delete(fact.answered);
      for (const { identity, content, reference } of fact.directory) {
        if (!this.directory.has(identity)) this.directory.set(identity, { reference, content });
      }
    }
  }

  /** Writes a fact to the journal; resolves once the fact is on disk. */
  note(fact: Exclude<Fact, { import: 1 }>): Promise<void> {
    return this.#write(fact);
  }

  #write(fact: Fact): Promise<void> {
    this.#take(fact);
    const written = this.#writing.then(async () => {
      await this.#file?.appendFile(`${JSON.stringify(fact)}\n`);
      await this.#file?.datasync();
    });
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /**
   * Looks up old keys in the journal on disk, in one pass. Few references point outside their record, so millions of ids
   * needn't be kept in memory.
   * @returns old key → its new reference, and the key of the patient with whom the resource was loaded.
   */
  async find(keys: ReadonlySet<string>): Promise<Map<string, { reference: string; patient: string }>> {
    const found = new Map<string, { reference: string; patient: string }>();
    if (keys.size === 0) return found;
    await this.#writing;
    for await (const { text = '' } of readLines(this.path)) {
      if (!text.startsWith('{"unit":') || !text.includes('"ids":')) continue;
      const fact = factSchema.parse(JSON.parse(text));
      if (!('ids' in fact)) continue;
      for (const [key, reference] of Object.entries(fact.ids)) {
        if (keys.has(key)) found.set(key, { reference, patient: fact.patient });
      }
    }
    return found;
  }

  /** Releases the file, the lock and the work folder. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.close();
    await this.held.release();
    await rm(this.workFolder, { recursive: true, force: true });
  }
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Locks the journal, because two imports that use the same journal would load everything twice. A dead process's lock is taken
 * over.
 */
async function lock(folder: string, path: string): Promise<DataDirLock> {
  await makeFolder(folder, 0o700);
  try {
    return await lockDataDir(folder);
  } catch (error) {
    if (error instanceof DataDirInUse)
      throw new Failure(`another import (process ${error.pid}) is using ${path}; wait until it ends`);
    throw error;
  }
}
