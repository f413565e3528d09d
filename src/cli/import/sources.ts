/** Lists the files of an import and reads them once, without sending anything. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isObject, type Json, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { Failure } from '../failure.ts';
import { isSelfContained, namedResources, readEntries } from './bundle.ts';
import { findHome, pooledOwner } from './home.ts';
import { unnamedKey } from './identity.ts';
import { decodeUtf8, readLines } from './lines.ts';
import type { Report } from './report.ts';
import type { Pool } from './spill.ts';
import type { DoneSource } from './state.ts';

/** A file to read. */
export interface SourceFile {
  readonly path: string;
  /** The file's name in messages. */
  readonly name: string;
  readonly bytes: number;
}

/** A self-contained bundle in its own file. */
export interface BundleSource {
  readonly path: string;
  readonly name: string;
  /** SHA-256 of its text. */
  readonly hash: string;
  /** True if the bundle contains no record. Such a bundle is loaded first, because records in other files refer to it. */
  readonly directoryOnly: boolean;
}

/** JavaScript strings are limited to 512 MB, so a larger document can't be parsed as a whole. */
const LARGEST_DOCUMENT = 400_000_000;

const EXTENSIONS = /\.(json|ndjson|jsonl)$/i;

/**
 * Lists the files that the arguments name: a file, a folder (all files in it that end in .json, .ndjson or .jsonl), or `-` for
 * standard input, which is first written to `spool`. Leaves out hidden files in a folder, and the folder of the spool, which
 * contains the states of imports.
 * @throws Failure if an argument names nothing to read.
 */
export async function listSources(args: readonly string[], spool: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const arg of args) {
    if (arg === '-') {
      await mkdir(dirname(spool), { recursive: true, mode: 0o700 });
      await pipeline(process.stdin, createWriteStream(spool, { mode: 0o600 }));
      files.push({ path: spool, name: 'standard input', bytes: (await stat(spool)).size });
      continue;
    }
    const found = await stat(arg).catch(() => undefined);
    if (found === undefined) throw new Failure(`${arg}: file or folder not found`);
    if (!found.isDirectory()) {
      files.push({ path: resolve(arg), name: basename(arg), bytes: found.size });
      continue;
    }
    const below = (await readdir(arg, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && EXTENSIONS.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !/(^|[/\\])\./.test(relative(arg, path)) && dirname(resolve(path)) !== dirname(spool))
      .sort();
    if (below.length === 0)
      throw new Failure(`${arg}: this folder contains no .json, .ndjson or .jsonl file`);
    for (const path of below) {
      files.push({ path: resolve(path), name: relative(arg, path), bytes: (await stat(path)).size });
    }
  }
  return files;
}

/** Returns a file's SHA-256 in hexadecimal. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/**
 * Reads a JSON document from a file.
 * @returns its value, or a message about the error.
 */
export async function readDocument(path: string): Promise<{ value: Json } | { diagnostics: string }> {
  if ((await stat(path)).size > LARGEST_DOCUMENT) {
    return { diagnostics: 'too large for one JSON document; convert it to NDJSON' };
  }
  const text = decodeUtf8(await readFile(path));
  return text === undefined ? { diagnostics: 'not UTF-8' } : parseText(text);
}

function parseText(text: string, line = 1): { value: Json } | { diagnostics: string } {
  try {
    return { value: parseJson(text).value };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const diagnostics = error.message
      .replace('the body is not JSON: ', '')
      .replace(/line (\d+)/, (_, n: string) => `line ${Number(n) + line - 1}`);
    return { diagnostics };
  }
}

/**
 * Returns true if a file contains one JSON object per line, judging by its name, or because its first line is a complete
 * object and more lines follow.
 */
async function isNdjson(file: SourceFile): Promise<boolean> {
  if (/\.(ndjson|jsonl)$/i.test(file.path)) return true;
  let first = true;
  for await (const { text = '' } of readLines(file.path)) {
    if (text.trim() === '') continue;
    if (!first) return true;
    if (!text.trim().endsWith('}') || 'diagnostics' in parseText(text)) return false;
    first = false;
  }
  return false;
}

/** The result of the first pass over the files. */
export interface Survey {
  readonly bundles: readonly BundleSource[];
  /** The number of entries to load, for the progress bar. */
  readonly entries: number;
}

/**
 * Reads every file once: lists self-contained bundles, adds all other resources to the pool, and adds faults and skipped
 * resources to the report.
 * @param onRead is called after each file is read.
 * @param skipInvalid true to load the valid entries of a Bundle that also has invalid entries.
 * @param isDone returns true for a source that an earlier run loaded completely; such a source is counted but not read.
 */
export async function survey(
  files: readonly SourceFile[],
  pool: Pool,
  report: Report,
  isDone: (hash: string) => DoneSource | undefined,
  onRead: (file: SourceFile) => void = () => undefined,
  skipInvalid = false,
): Promise<Survey> {
  const bundles: BundleSource[] = [];
  const seen = new Map<string, string>();
  let entries = 0;

  const takeBundle = async (bundle: JsonObject, name: string, file?: { path: string; hash: string }) => {
    const { entries: all, faults } = readEntries(bundle, name);
    if (!isSelfContained(all)) {
      const named = namedResources(bundle, name);
      for (const fault of named.faults) report.fault(fault);
      for (const { key, resource, place } of named.resources) await take(resource, place, key);
      return;
    }
    for (const fault of faults) report.fault(fault);
    if (faults.length > 0 && !skipInvalid) return;
    const { path, hash } = file ?? (await keep(bundle, pool));
    const records = all.some(({ resource }) => isObject(resource) && isRecord(resource));
    bundles.push({ path, name, hash, directoryOnly: !records });
    entries += all.length;
  };

  const take = async (value: Json, place: string, key?: string): Promise<void> => {
    if (!isObject(value) || typeof value.resourceType !== 'string') {
      report.fault({ place, diagnostics: 'not a FHIR resource or Bundle' });
      return;
    }
    if (value.resourceType === 'Bundle') return takeBundle(value, place);
    const home = findHome(value);
    const named = typeof value.id === 'string' ? `${value.resourceType}/${value.id}` : unnamedKey(value);
    const name = key === undefined || key === place ? named : key;
    report.found(value.resourceType);
    if (home.kind === 'skipped') {
      report.skipped(value.resourceType);
      return;
    }
    const owned = pooledOwner(home, name);
    if ('diagnostics' in owned) {
      report.fault({ place, ...owned }, value.resourceType);
      return;
    }
    entries += 1;
    const spill =
      home.kind === 'directory'
        ? pool.openNamed(`directory-${value.resourceType}`)
        : home.kind === 'provenance'
          ? pool.openNamed('provenance')
          : pool.chooseBucket(owned.owner);
    await spill.add(owned.owner, name, value, place);
  };

  for (const file of files) {
    const hash = await hashFile(file.path);
    const twin = seen.get(hash);
    if (twin !== undefined) {
      report.warn(`${file.name} is the same file as ${twin}; it is read once`);
      continue;
    }
    seen.set(hash, file.name);
    const done = isDone(hash);
    if (done !== undefined) {
      report.alreadyLoaded(done);
    } else if (await isNdjson(file)) {
      for await (const { number, text } of readLines(file.path)) {
        const place = `${file.name}, line ${number}`;
        if (text === undefined) report.fault({ place, diagnostics: 'not UTF-8' });
        else if (text.trim() !== '') {
          const read = parseText(text, number);
          if ('value' in read) await take(read.value, place);
          else report.fault({ place: file.name, ...read });
        }
      }
    } else {
      const read = await readDocument(file.path);
      if ('diagnostics' in read) report.fault({ place: file.name, ...read });
      else if (isObject(read.value) && read.value.resourceType === 'Bundle') {
        await takeBundle(read.value, file.name, { path: file.path, hash });
      } else await take(read.value, file.name);
    }
    onRead(file);
  }
  await pool.finish();
  return { bundles, entries };
}

function isRecord(resource: JsonObject): boolean {
  const { kind } = findHome(resource);
  return kind !== 'directory' && kind !== 'skipped';
}

/** Writes a bundle from a line of an NDJSON file to its own file. */
async function keep(bundle: JsonObject, pool: Pool): Promise<{ path: string; hash: string }> {
  const text = printJson(bundle);
  const hash = createHash('sha256').update(text).digest('hex');
  const path = join(pool.folder, `bundle-${hash}.json`);
  await writeFile(path, text, { mode: 0o600 });
  return { path, hash };
}
