/**
 * `annal export <patient | stream> --out FILE`: writes the whole history of a record or a stream as one self-verifying file.
 */
import { BrokenChain, type ExportStatement, exportLines } from '#src/audit/export.ts';
import type { EventStore } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { withEventStore } from '../database.ts';
import { FAULTS_FOUND, Failure } from '../failure.ts';
import { writeNewFile } from '../files.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted } from '../table.ts';
import { keyToSign } from '../verify/audit-key.ts';
import { type NamedStream, withStream } from './patient.ts';
import { resolveStream } from './patients.ts';

/** The command-line options. */
export interface ExportOptions extends Pick<ServiceOptions, 'dataDir'> {
  /** The file to write. */
  readonly out: string;
  /** Prints the signed statement as JSON. */
  readonly json?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Exports a record, or another stream.
 * @throws Failure for a record that doesn't exist or was purged, for a broken hash chain (exit code 3), or if the file can't
 *   be written or already exists. If the command is interrupted, it leaves no file.
 */
export async function exportCommand(
  of: string,
  { out, json = false, ...where }: ExportOptions,
): Promise<void> {
  const key = await keyToSign(where);
  let statement: ExportStatement | undefined;
  const note = (signed: ExportStatement): void => {
    statement = signed;
  };
  const write = (store: EventStore, { stream, called }: NamedStream): Promise<void> =>
    withStream(store, stream, async (events) => {
      const time = (): string => toInstant(nowMicros());
      const lines = async function* (): AsyncGenerator<string> {
        for await (const line of exportLines(events, time, key, note)) {
          if (where.signal?.aborted === true) throw new Failure('the export was stopped', 1, 'interrupted');
          yield line;
        }
        if (statement === undefined)
          throw new Failure(`${called} has no ${recordPatient(stream) === undefined ? 'events' : 'record'}`);
      };
      await writeNewFile(out, lines());
    });
  const { called } = await withDatabase(where, async ({ url }) => {
    const meant = await resolveStream(url, of);
    await withEventStore(url, (store) => write(store, meant));
    return meant;
  }).catch((error: unknown) => {
    if (!(error instanceof BrokenChain)) throw error;
    throw new Failure(`${error.message}. Nothing was exported; run annal verify for details`, FAULTS_FOUND);
  });
  const signed = { ...statement, key_id: key.id, public_key: key.text };
  process.stdout.write(
    json
      ? `${JSON.stringify(signed, null, 2)}\n`
      : `Exported ${counted(signed.events ?? 0, 'event')} of ${called} to ${out}, signed with the key ${key.id}.\n` +
          `To check the file: node bin/verify-export.mjs ${out} --key ${key.text}\n` +
          'bin/verify-export.mjs needs only Node.js: copy it with the file to check the export on another machine.\n',
  );
}
