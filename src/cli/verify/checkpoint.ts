/** `annal checkpoint --out FILE`: signs the current heads of every stream and of every record's access log. */
import { LogFaulty, withHeads } from '#projections/verify/heads.ts';
import { type CheckpointStatement, checkpointLines, type StreamLeaf } from '#src/audit/checkpoint.ts';
import { openPool } from '#src/database/pool.ts';
import { expectedEvents } from '#src/events/share.ts';
import { BEGINNING } from '#src/events/store.ts';
import type { AccessLogFault } from '#src/operations/access-log/check.ts';
import { keepCheckpoint } from '#src/operations/checkpoints.ts';
import type { CheckpointFacts } from '#src/shared/checkpoint.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { withWholeLog } from '../database.ts';
import { FAULTS_FOUND, Failure } from '../failure.ts';
import { requireCreatable, writeNewFile } from '../files.ts';
import { startProgress } from '../progress.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted } from '../table.ts';
import { accessLeaves, purgesIn, withAccessCheck } from './access-check.ts';
import { keyToSign } from './audit-key.ts';
import { type Faults, groupByCause } from './verify-causes.ts';
import { describeCauses } from './verify-text.ts';

/** The command-line options. */
export interface CheckpointOptions extends Pick<ServiceOptions, 'dataDir'> {
  /** The file to write; compressed if its name ends with `.gz`. */
  readonly out?: string;
  /** Keeps the checkpoint in the database, for the service's auditors. */
  readonly keep?: boolean;
  readonly json?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Reads and verifies the whole log, and signs the heads of its streams.
 * @returns the exit code: 3 if the log has faults, in which case nothing is signed.
 * @throws Failure if the database or the key can't be found, or if the file can't be written or already exists.
 */
export async function checkpointCommand({
  out,
  keep = false,
  json = false,
  signal,
  ...where
}: CheckpointOptions): Promise<number> {
  if (out !== undefined) await requireCreatable(out);
  const key = await keyToSign(where);
  let statement: CheckpointStatement | undefined;
  let id: string | undefined;
  const note = (signed: CheckpointStatement): void => {
    statement = signed;
  };
  try {
    await withDatabase({ ...where, ...(signal === undefined ? {} : { signal }) }, ({ url: databaseUrl }) =>
      withWholeLog(databaseUrl, async (store) => {
        const head = await store.head();
        if (head === BEGINNING) throw new Failure('the event log is empty: there is nothing to sign');
        const progress = startProgress(0, 'events', json ? 'lines' : false);
        try {
          await withAccessCheck(databaseUrl, async (access) => {
            await access.begin();
            await withHeads(
              { store, databaseUrl },
              async ({ position, events, heads }) => {
                progress.say('access log');
                const { faults } = await access.end(purgesIn(store));
                if (faults.length > 0) throw new AccessLogFaulty(faults);
                const leaves = joined(accessLeaves(access.heads()), heads);
                const lines = checkpointLines(
                  { position, events, leaves },
                  toInstant(nowMicros()),
                  key,
                  note,
                );
                if (out !== undefined) await writeNewFile(out, lines);
                if (keep) id = await keepIn(databaseUrl, lines, key.text, () => readFacts(statement));
              },
              {
                onProgress: (events, position) =>
                  progress.reach(events, expectedEvents(events, position, head)),
                also: (events) => access.note(events),
                ...(signal === undefined ? {} : { signal }),
              },
            );
          });
        } finally {
          progress.stop();
        }
      }),
    );
  } catch (error) {
    const faults = faultsIn(error);
    if (faults === undefined) throw error;
    process.stdout.write(`${json ? JSON.stringify(faults, null, 2) : refusal(faults)}\n`);
    return FAULTS_FOUND;
  }
  if (statement === undefined) throw new Failure('the checkpoint was stopped', 1, 'interrupted');
  const { streams, events, root } = statement;
  const logs = statement.version === 1 ? 0 : statement.access_logs;
  const also = logs === 0 ? '' : ` and ${counted(logs, 'access log')}`;
  process.stdout.write(
    json
      ? `${JSON.stringify({ ...(id === undefined ? {} : { id }), ...statement, key_id: key.id, public_key: key.text }, null, 2)}\n`
      : `Signed ${counted(events, 'event')} in ${counted(streams, 'stream')}${also} in ${out ?? `the checkpoint ${id} of the service`}.\n` +
          `root        ${root}\nkey         ${key.id}\npublic key  ${key.text}\n` +
          'Keep the file and the public key in a place where nobody with access to the database can change them.\n',
  );
  return 0;
}

async function keepIn(
  databaseUrl: string,
  lines: AsyncIterable<string>,
  publicKey: string,
  facts: () => CheckpointFacts,
): Promise<string> {
  const pool = openPool(databaseUrl, { max: 1, name: 'annal checkpoint', answerMs: 0 });
  const client = await pool.connect();
  try {
    return await keepCheckpoint(client, lines, publicKey, facts);
  } finally {
    client.release();
    await pool.end();
  }
}

function readFacts(statement: CheckpointStatement | undefined): CheckpointFacts {
  if (statement === undefined) throw new Failure('the checkpoint was stopped', 1, 'interrupted');
  return { ...statement, access_logs: statement.version === 1 ? 0 : statement.access_logs };
}

/** Thrown when the access log can't be vouched for. */
class AccessLogFaulty extends Error {
  override readonly name = 'AccessLogFaulty';
  constructor(readonly faults: readonly AccessLogFault[]) {
    super(`the access log has ${faults.length} faults`);
  }
}

/** Returns the faults that prevent signing; undefined for other errors. */
function faultsIn(error: unknown): Faults | undefined {
  if (error instanceof LogFaulty) return { log: error.faults };
  return error instanceof AccessLogFaulty ? { log: [], accessLog: error.faults } : undefined;
}

/** Yields the items of both iterables, one after the other. */
async function* joined(
  first: AsyncIterable<StreamLeaf>,
  second: AsyncIterable<StreamLeaf>,
): AsyncGenerator<StreamLeaf> {
  yield* first;
  yield* second;
}

function refusal(faults: Faults): string {
  const causes = groupByCause(faults);
  const where = faults.accessLog === undefined ? 'log' : 'access log';
  return [
    `Nothing was signed: the ${where} has ${counted(causes.length, 'fault')}.`,
    '',
    ...describeCauses(causes),
  ].join('\n');
}
