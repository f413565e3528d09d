/** `annal checkpoint --out FILE`: signs where the history of every stream ends now. */
import { LogFaulty, withHeads } from '#projections/heads.ts';
import { type CheckpointStatement, checkpointLines } from '#src/audit/checkpoint.ts';
import { expectedEvents } from '#src/events/share.ts';
import { BEGINNING } from '#src/events/store.ts';
import { nowMicros, toInstant } from '#src/shared/time.ts';
import { keyToSign } from './audit-key.ts';
import { withWholeLog } from './database.ts';
import { FAULTS_FOUND, Failure } from './failure.ts';
import { writeNewFile } from './files.ts';
import { startProgress } from './progress.ts';
import type { ServiceOptions } from './service.ts';
import { withDatabase } from './stopped.ts';
import { counted } from './table.ts';
import { causesOf } from './verify-causes.ts';
import { describeCauses } from './verify-text.ts';

/** The options on the command line. */
export interface CheckpointOptions extends Pick<ServiceOptions, 'dataDir'> {
  /** The file to write; compressed when it ends with `.gz`. */
  readonly out: string;
  readonly json?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Reads the whole log, verifies it, and signs the heads of its streams.
 * @returns the exit code: 3 when the log has faults; then nothing is signed.
 * @throws Failure when the database or the key can't be found, or the file can't be written or already
 * exists.
 */
export async function checkpointCommand({
  out,
  json = false,
  signal,
  ...where
}: CheckpointOptions): Promise<number> {
  const key = await keyToSign(where);
  let statement: CheckpointStatement | undefined;
  const note = (signed: CheckpointStatement): void => {
    statement = signed;
  };
  try {
    await withDatabase({ ...where, ...(signal === undefined ? {} : { signal }) }, ({ url: databaseUrl }) =>
      withWholeLog(databaseUrl, async (store) => {
        const head = await store.head();
        if (head === BEGINNING) throw new Failure('the event log is empty: there is nothing to sign');
        const progress = startProgress(0, 'events', json);
        try {
          await withHeads(
            { store, databaseUrl },
            ({ position, events, heads }) =>
              writeNewFile(
                out,
                checkpointLines({ position, events, leaves: heads }, toInstant(nowMicros()), key, note),
              ),
            {
              onProgress: (events, position) =>
                progress.reach(events, expectedEvents(events, position, head)),
              ...(signal === undefined ? {} : { signal }),
            },
          );
        } finally {
          progress.stop();
        }
      }),
    );
  } catch (error) {
    if (!(error instanceof LogFaulty)) throw error;
    process.stdout.write(`${json ? JSON.stringify({ log: error.faults }, null, 2) : refusal(error)}\n`);
    return FAULTS_FOUND;
  }
  if (statement === undefined) throw new Failure('the checkpoint was stopped');
  const { streams, events, root } = statement;
  process.stdout.write(
    json
      ? `${JSON.stringify({ ...statement, key_id: key.id, public_key: key.text }, null, 2)}\n`
      : `Signed ${counted(events, 'event')} in ${counted(streams, 'stream')} in ${out}.\n` +
          `root        ${root}\nkey         ${key.id}\npublic key  ${key.text}\n` +
          'Keep the file and the public key where nobody with access to the database can change them.\n',
  );
  return 0;
}

function refusal({ faults }: LogFaulty): string {
  const causes = causesOf({ log: faults });
  return [
    `Nothing was signed: the log has ${counted(causes.length, 'fault')}.`,
    '',
    ...describeCauses(causes),
  ].join('\n');
}
