/** `annal import`: loads bundles and NDJSON into a running service. */
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { bundledPlausibility } from '#src/app/plausibility.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Failure } from '../failure.ts';
import { startProgress } from '../progress.ts';
import { findDataDir, findService, type Service, type ServiceOptions } from '../service.ts';
import { Directory } from './directory.ts';
import { type Loading, loadBundles } from './load-bundles.ts';
import { loadDeferred, loadPool } from './load-pool.ts';
import { LIMITS, type Limits } from './parts.ts';
import { Records } from './records.ts';
import { printReport, Report, type ReportData } from './report.ts';
import { KeyRefused, Sender } from './send.ts';
import { hashFile, listSources, type SourceFile, survey } from './sources.ts';
import { Pool } from './spill.ts';
import { ImportState } from './state.ts';

/** The command-line options. */
export interface ImportOptions extends ServiceOptions {
  readonly concurrency?: number;
  readonly sourceSystem?: string;
  readonly authorType?: string;
  /** State file; default: a file in DATA_DIR, named after the service and the sources. */
  readonly state?: string;
  /** Forgets an earlier import of the same sources and loads everything again. */
  readonly again?: boolean;
  readonly json?: boolean;
  /** Loads records without their invalid resources, and lists these resources in the report file. */
  readonly skipInvalid?: boolean;
  /** A file for the report as JSON; default with `skipInvalid`: next to the state file. */
  readonly report?: string;
  /** The limits of one transaction. */
  readonly limits?: Limits;
  readonly signal?: AbortSignal;
}

/**
 * Imports the sources that the arguments name.
 * @returns the report; `complete` is true if everything was loaded.
 * @throws Failure before anything is sent: if there is nothing to read, no service is found, or the state belongs to another
 *   import.
 */
export async function runImport(sources: readonly string[], options: ImportOptions): Promise<ReportData> {
  const service = await findService(options);
  const imports = join(findDataDir(options), 'imports');
  const spool = join(imports, `standard-input-${process.pid}`);
  try {
    const files = await listSources(sources, spool);
    const path = options.state ?? join(imports, `${await stateName(service, sources, spool, options)}.jsonl`);
    const fresh = options.again === true ? { salt: newUuid() } : undefined;
    const state = await ImportState.open(resolve(path), service.url, fresh);
    try {
      const report = await load(files, service, state, options);
      const file = options.report ?? (options.skipInvalid === true ? `${path}.report.json` : undefined);
      if (file === undefined) return report;
      await writeReport(resolve(file), report);
      return { ...report, report_file: resolve(file) };
    } finally {
      await state.close();
    }
  } finally {
    await rm(spool, { force: true });
  }
}

async function load(
  files: readonly SourceFile[],
  service: Service,
  state: ImportState,
  options: ImportOptions,
): Promise<ReportData> {
  const { concurrency = 4, sourceSystem, authorType = 'import', json = false, signal } = options;
  const { skipInvalid = false } = options;
  const report = new Report(bundledPlausibility());
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const pool = await Pool.create(join(state.workFolder, 'pool'), bytes);
  try {
    const reading = startProgress(bytes, 'bytes read', json);
    const { bundles, entries } = await survey(
      files,
      pool,
      report,
      (hash) => state.doneSources.get(hash),
      (file) => reading.advance(file.bytes),
      skipInvalid,
    ).finally(reading.stop);
    const progress = startProgress(entries, 'resources', json);
    const sender = new Sender({
      ...service,
      salt: state.salt,
      headers: {
        'X-Service-Author-Type': authorType,
        ...(sourceSystem === undefined ? {} : { 'X-Service-Source-System': headerValue(sourceSystem) }),
      },
      onRetry(why, wait) {
        report.retries += 1;
        if (why === 'throttled') report.throttledSeconds += wait / 1000;
        progress.say(
          why === 'throttled' ? 'waiting for the rate limit' : "the service doesn't answer; retrying",
        );
      },
      ...(signal === undefined ? {} : { signal }),
    });
    const directory = new Directory(state, sender, report);
    const records = new Records(state, sender, report, options.limits ?? LIMITS, skipInvalid);
    // The origin id identifies the record in the source system: it is the patient's old id there (docs/spec/interface.md,
    // section 2.4).
    const originHeaders = (patient: string | undefined): Record<string, string> =>
      sourceSystem === undefined || patient === undefined
        ? {}
        : { 'X-Service-Origin-Id': headerValue(patient) };
    const loading: Loading = {
      state,
      directory,
      records,
      report,
      progress,
      makeHeaders: originHeaders,
      skipInvalid,
    };
    try {
      await directory.resume();
      const refused = await loadPool(pool, concurrency, loading);
      await loadBundles(bundles, concurrency, loading);
      await loadDeferred(pool, refused, loading);
    } catch (error) {
      if (error instanceof KeyRefused)
        report.stopped = `${error.message}. Pass a valid key with --key, or set ANNAL_KEY.`;
      else if (error instanceof Failure)
        report.stopped = `${error.message}. Run the same command again to continue from here.`;
      else if (signal?.aborted === true)
        report.stopped = 'Interrupted. Run the same command again to continue from here.';
      else throw error;
    } finally {
      progress.stop();
    }
    return report.data();
  } finally {
    await pool.remove();
  }
}

/**
 * Writes the report, readable only by its owner because it quotes patients' resources.
 * @throws Failure
 */
async function writeReport(file: string, report: ReportData): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new Failure(`the report cannot be written to ${file}: ${(error as Error).message}`);
  }
}

/**
 * Returns a text as a header value. Header values are bytes: text beyond ASCII is sent as UTF-8, which is how the service
 * reads it.
 */
function headerValue(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Returns the name of the state file for the given sources, service and key, so that the same command finds the file again. */
async function stateName(
  { url, key }: Service,
  sources: readonly string[],
  spool: string,
  { sourceSystem = '' }: ImportOptions,
): Promise<string> {
  const named = await Promise.all(
    sources.map((source) => (source === '-' ? hashFile(spool) : resolve(source))),
  );
  const hash = createHash('sha256').update(JSON.stringify([url, key, sourceSystem, ...named.sort()]));
  return hash.digest('hex').slice(0, 24);
}

/**
 * Runs the command and prints its report.
 * @returns the exit code.
 */
export async function importCommand(sources: readonly string[], options: ImportOptions): Promise<number> {
  const report = await runImport(sources, options);
  const text =
    options.json === true ? JSON.stringify(report, null, 2) : printReport(report, options.skipInvalid);
  process.stdout.write(`${text}\n`);
  return report.complete ? 0 : 1;
}
