/**
 * The pool of NDJSON lines and PUT entries, on disk. One patient's resources are spread over many files, and have to be
 * grouped without holding all patients in memory. Each resource goes into its patient's bucket; a bucket is small enough to be
 * read as a whole.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isResourceType } from '#src/fhir/types.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { type Entry, makeEntry } from './entry.ts';
import { readLines } from './lines.ts';

/** The target size of a bucket, and the maximum number of buckets; each bucket is an open file. */
const BUCKET_BYTES = 4_000_000;
const MOST_BUCKETS = 400;
const BUFFERED_BYTES = 100_000;

/** A file of spilled entries, written and read in order. */
export class Spill {
  #file: FileHandle | undefined;
  #buffer: string[] = [];
  #buffered = 0;
  /** The number of entries in this spill. */
  count = 0;

  constructor(readonly path: string) {}

  /** Adds an entry; `owner` is the key of its patient, or empty if the entry has no patient. */
  async add(owner: string, key: string, resource: JsonObject, place: string): Promise<void> {
    const text = `${JSON.stringify([owner, key, place])}\t${printJson(resource)}\n`;
    this.#buffer.push(text);
    this.#buffered += text.length;
    this.count += 1;
    if (this.#buffered >= BUFFERED_BYTES) await this.flush();
  }

  /** Writes the buffer to the file. */
  async flush(): Promise<void> {
    this.#file ??= await open(this.path, 'a', 0o600);
    const text = this.#buffer.join('');
    this.#buffer = [];
    this.#buffered = 0;
    if (text !== '') await this.#file.appendFile(text);
  }

  /** Finishes writing; no entries may be added afterwards. */
  async finish(): Promise<void> {
    if (this.count === 0) return;
    await this.flush();
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Yields the entries in order, each with its patient's key. */
  async *read(): AsyncGenerator<{ owner: string; entry: Entry }> {
    if (this.count === 0) return;
    for await (const { text = '' } of readLines(this.path)) {
      const tab = text.indexOf('\t');
      const [owner = '', key = '', place = ''] = JSON.parse(text.slice(0, tab)) as string[];
      const { value } = parseJson(text.slice(tab + 1));
      if (isObject(value) && isResourceType(value.resourceType)) {
        yield { owner, entry: makeEntry(key, value.resourceType, value, place) };
      }
    }
  }
}

/** The spills of one import, in a temporary folder that is removed at the end. */
export class Pool {
  readonly #buckets: Spill[];
  readonly #named = new Map<string, Spill>();

  private constructor(
    readonly folder: string,
    buckets: number,
  ) {
    this.#buckets = Array.from({ length: buckets }, (_, i) => new Spill(join(folder, `records-${i}`)));
  }

  /**
   * Creates an empty pool in a folder, and removes the files of an interrupted import.
   * @param expected approximate number of bytes that will be spilled.
   */
  static async create(folder: string, expected: number): Promise<Pool> {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new Pool(folder, Math.max(1, Math.min(MOST_BUCKETS, Math.ceil(expected / BUCKET_BYTES))));
  }

  /** Returns a patient's bucket. */
  chooseBucket(owner: string): Spill {
    const hash = createHash('sha256').update(owner).digest().readUInt32BE(0);
    const bucket = this.#buckets[hash % this.#buckets.length];
    if (bucket === undefined) throw new RangeError('a pool has at least one bucket');
    return bucket;
  }

  /** The buckets that contain records. */
  get buckets(): readonly Spill[] {
    return this.#buckets;
  }

  /** Returns a named spill for other entries. */
  openNamed(name: string): Spill {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const spill = new Spill(join(this.folder, name));
    this.#named.set(name, spill);
    return spill;
  }

  /** Finishes writing; called when all entries are in the pool. */
  async finish(): Promise<void> {
    for (const spill of [...this.#buckets, ...this.#named.values()]) await spill.finish();
  }

  /** Removes everything from the disk, because the files contain clinical data. */
  async remove(): Promise<void> {
    await this.finish();
    await rm(this.folder, { recursive: true, force: true });
  }
}
