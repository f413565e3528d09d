/**
 * `annal verify`: checks the hash chains of streams and of the access log, compares the read models with the log, and compares
 * both with a checkpoint.
 */
import { PROJECTIONS } from '#projections/all.ts';
import type { LogFault } from '#projections/verify/log-check.ts';
import { type VerifyReport, VerifyRunning, verify } from '#projections/verify/verify.ts';
import { type Checkpoint, leavesIn, readCheckpoint } from '#src/audit/checkpoint.ts';
import { BadFile } from '#src/audit/statement.ts';
import type { DocumentFault } from '#src/documents/check.ts';
import { expectedEvents } from '#src/events/share.ts';
import type { EventStore } from '#src/events/store.ts';
import type { AccessLogCheck, AccessLogReport } from '#src/operations/access-log/check.ts';
import type { ForeignLog } from '#src/operations/log-identity.ts';
import { withEventStore } from '../database.ts';
import { FAULTS_FOUND, Failure, NOT_ALL_CHECKED } from '../failure.ts';
import { linesOfFile } from '../files.ts';
import { startProgress } from '../progress.ts';
import type { ServiceOptions } from '../service.ts';
import { type ReadDatabase, withDatabase } from '../stopped.ts';
import { counted } from '../table.ts';
import { accessHeadsIn, comparedIn, purgesIn, streamHeadsIn, withAccessCheck } from './access-check.ts';
import { keyToTrust } from './audit-key.ts';
import { openCheck } from './document-check.ts';
import { groupByCause } from './verify-causes.ts';
import { hintsFor } from './verify-hints.ts';
import { verifyPartCommand } from './verify-part.ts';
import { describeCauses, terminalWidth, wrapped } from './verify-text.ts';

/** The command-line options. */
export interface VerifyOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** A file that `annal checkpoint` wrote. */
  readonly checkpoint?: string;
  /** The public key that must have signed the checkpoint. Default: the installation's key. */
  readonly key?: string;
  /** Verifies only this project, given by id. */
  readonly project?: string;
  /** Verifies only this patient's record, given by id. */
  readonly patient?: string;
  readonly signal?: AbortSignal;
}

/**
 * Verifies and prints the result.
 * @returns the exit code: 3 if anything differs; 4 if nothing differs but a read model lags, so that not everything was
 * compared.
 * @throws Failure if the database can't be found, or if the checkpoint can't be read or has an invalid signature.
 */
export async function verifyCommand(options: VerifyOptions): Promise<number> {
  const { json = false, checkpoint: file, key, signal, project, patient, ...where } = options;
  if (project !== undefined || patient !== undefined)
    return verifyPartCommand({ ...where, json, signal, project, patient });
  const checkpoint = file === undefined ? undefined : await readSigned(file, key, where);
  let foreign: ForeignLog | undefined;
  let documents: DocumentsReport = { checked: 0, faults: [] };
  let accessLog: AccessLogReport = { records: 0, entries: 0, faults: [] };
  const leaves = file === undefined ? undefined : () => leavesIn(linesOfFile(file));
  const run = async (
    store: EventStore,
    { url: databaseUrl, stopped }: ReadDatabase,
  ): Promise<VerifyReport> => {
    const head = await store.head();
    const progress = startProgress(0, 'events', json ? 'lines' : false);
    const { documentStore, check } = await openCheck(store, where);
    const readAll = async (access: AccessLogCheck): Promise<VerifyReport> => {
      await access.begin(leaves && accessHeadsIn(leaves()));
      const verified = await verify(
        { store, databaseUrl },
        {
          onProgress: ({ phase, events, position }) => {
            progress.reach(events, expectedEvents(events, position, head));
            progress.say(phase === 'comparing' ? 'comparing' : '');
          },
          ...(leaves === undefined ? {} : { heads: streamHeadsIn(leaves()) }),
          also: async (events) => {
            await access.note(events);
            await check.check(events);
          },
          ...(signal === undefined ? {} : { signal }),
          // While the service is stopped, nothing updates the read models, so waiting for them would be pointless.
          ...(stopped ? { catchUpMs: 0 } : {}),
        },
      );
      documents = { checked: check.documents, faults: await check.end() };
      progress.say('access log');
      accessLog = await access.end(purgesIn(store));
      const others = documents.faults.length + accessLog.faults.length;
      return { ...verified, clean: verified.clean && others === 0 };
    };
    try {
      return await withAccessCheck(databaseUrl, readAll);
    } catch (error) {
      if (error instanceof VerifyRunning) throw new Failure(error.message, 1, 'busy');
      if (signal?.aborted === true) throw new Failure('verification was interrupted', 1, 'interrupted');
      throw error;
    } finally {
      documentStore.close();
      progress.stop();
    }
  };
  const reading = { ...where, ...(signal === undefined ? {} : { signal }) };
  const verified = await withDatabase(reading, (database) =>
    withEventStore(
      database.url,
      (store) => run(store, database),
      (error) => {
        foreign = error;
      },
    ),
  );
  const report =
    foreign === undefined
      ? verified
      : { ...verified, clean: false, log: [identity(foreign), ...verified.log] };
  const faults = { ...report, documents: documents.faults, accessLog: accessLog.faults };
  const models = PROJECTIONS.map(({ name }) => name);
  const compared = comparedIn(accessLog, documents.checked, models);
  const found = {
    ...faults,
    causes: groupByCause(faults),
    checkpoint: checkpointIn(report, checkpoint),
    compared,
  };
  process.stdout.write(
    `${json ? JSON.stringify(found, null, 2) : describe(report, documents, accessLog, checkpoint)}\n`,
  );
  if (!report.clean) return FAULTS_FOUND;
  return report.lagging.length === 0 ? 0 : NOT_ALL_CHECKED;
}

/** Returns the fault for a log whose first event is different: either it is a different log, or that event was altered. */
function identity({ first, message }: ForeignLog): LogFault {
  const { stream = '', revision = 0, id = null } = first ?? {};
  return { what: 'identity', stream, revision, event: id, message };
}

async function readSigned(
  file: string,
  key: string | undefined,
  where: Pick<ServiceOptions, 'dataDir'>,
): Promise<Checkpoint> {
  const expected = await keyToTrust(key, where);
  try {
    return await readCheckpoint(linesOfFile(file), expected);
  } catch (error) {
    if (error instanceof BadFile) throw new Failure(`${file} is not a valid checkpoint: ${error.message}`);
    throw error;
  }
}

function checkpointIn({ checkpoint }: VerifyReport, read: Checkpoint | undefined): object | null {
  if (checkpoint === null || read === undefined) return null;
  const { time, root } = read.statement;
  return { time, root, key_id: read.signer.id, ...checkpoint };
}

/** The documents that were checked. */
interface DocumentsReport {
  readonly checked: number;
  readonly faults: readonly DocumentFault[];
}

function describe(
  report: VerifyReport,
  documents: DocumentsReport,
  accessLog: AccessLogReport,
  checkpoint: Checkpoint | undefined,
): string {
  const { clean, events, streams } = report;
  const read = `${counted(events, 'event')} in ${counted(streams, 'stream')}`;
  const since = checkpoint === undefined ? [] : describeCheckpoint(report, accessLog, checkpoint);
  if (clean) {
    const bytes =
      documents.checked === 0
        ? ''
        : ` The content of ${counted(documents.checked, 'document')} is unaltered.`;
    const models = report.lagging.length === 0 ? '' : ' up to the positions that they have reached';
    const whole = `${read}: all hash chains intact, all read models match the log${models}.${bytes}${accesses(accessLog)}`;
    return [...wrapped(whole), ...describeLag(report), ...since].join('\n');
  }
  const faults = { ...report, documents: documents.faults, accessLog: accessLog.faults };
  const causes = groupByCause(faults);
  return [
    `${read}: ${counted(causes.length, 'fault')}.`,
    '',
    ...describeCauses(causes),
    ...describeLag(report),
    ...since,
    '',
    ...hintsFor(faults).flatMap((hint) => wrapped(hint)),
  ].join('\n');
}

/** Reports the positions of read models that haven't reached the end of the log. */
function describeLag({ lagging }: VerifyReport): string[] {
  if (lagging.length === 0) return [];
  const each = lagging.map(({ projection, behind, compared }) =>
    compared ? `${projection} lacks the last ${counted(behind, 'event')}` : `${projection} was not compared`,
  );
  const text = `Not at the end of the log: ${each.join(', ')}. That is not a fault: read models catch up while the service runs. To compare the rest, start it and run annal verify again.`;
  return wrapped(text);
}

function accesses({ records, entries }: AccessLogReport): string {
  return entries === 0
    ? ''
    : ` The access log is unaltered: ${counted(entries, 'entry', 'entries')} of ${counted(records, 'record')}.`;
}

function describeCheckpoint(
  { checkpoint, log }: VerifyReport,
  accessLog: AccessLogReport,
  { statement, signer }: Checkpoint,
): string[] {
  const purged = checkpoint?.erased ?? [];
  const held = statement.streams - purged.length;
  const logs = statement.version === 1 ? 0 : statement.access_logs;
  const altered = [...log, ...accessLog.faults].some(({ what }) => what === 'checkpoint');
  const verdict = altered
    ? 'history before the checkpoint was altered.'
    : `the history of ${counted(held, 'stream')} up to the checkpoint is unaltered${logs === 0 ? '' : ', and so is the access log'}.`;
  const lines = [
    `Checkpoint of ${statement.time}, signed with the key ${signer.id}: ${verdict}`,
    ...purged.map(
      ({ patient, requested, erased, request_id, credential }) =>
        `Purged since: Patient/${patient}, requested at ${requested} with ${credential} in request ${request_id}, ` +
        (erased === null ? 'not completed yet' : `completed at ${erased}`),
    ),
  ];
  return lines.flatMap((line) => wrapped(line, terminalWidth(), '  ', ''));
}
