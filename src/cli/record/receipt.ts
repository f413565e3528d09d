/** `annal receipt <id>`: generates an answer again, and reports whether it is the same answer that was sent. */
import { ArchivedRenderers } from '#src/app/receipts/archived.ts';
import type { Archive } from '#src/app/receipts/load.ts';
import { type Remade, remakeAnswer } from '#src/app/receipts/remake.ts';
import { loadConfig } from '#src/config.ts';
import { openPool } from '#src/database/pool.ts';
import { openDocumentStore } from '#src/documents/open.ts';
import { recordStream } from '#src/events/streams.ts';
import { Receipts } from '#src/operations/receipts/receipts.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import { type ReceiptRow, unpack, unpackVersions } from '#src/operations/receipts/row.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { withEventStore } from '../database.ts';
import { FAULTS_FOUND, Failure, NOT_ALL_CHECKED } from '../failure.ts';
import { findDataDir, type ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { withStream } from './patient.ts';

/** The command-line options. */
export interface ReceiptOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** Prints the bytes that were sent instead of the receipt. */
  readonly content?: boolean;
}

/**
 * Generates a receipt's answer again and prints the receipt or the answer.
 * @returns the exit code: 3 if the answer differs from the one that was sent or the receipt was altered; 4 if an input no
 *   longer exists
 * @throws Failure for an unknown receipt, a purged record, or an unreachable database
 */
export async function receiptCommand(
  id: string,
  { json = false, content = false, ...where }: ReceiptOptions,
): Promise<number> {
  return withArchive(where, async (archive, receipts) => {
    const row = await receipts.find(id);
    if (row === undefined)
      throw new Failure(`unknown receipt ${id.slice(0, 60)}; the purge of a record deletes its receipts`);
    const remade = await withStream(archive.store, recordStream(row.record), () =>
      remakeAnswer(archive, row),
    );
    const about = describeReceipt(row, remade);
    if (content && remade.outcome === 'matches') process.stdout.write(remade.bytes.toString());
    else process.stdout.write(`${json ? JSON.stringify(about, null, 2) : printLines(about)}\n`);
    process.stderr.write(`annal: ${saySentence(remade)}\n`);
    return { matches: 0, differs: FAULTS_FOUND, altered: FAULTS_FOUND, gone: NOT_ALL_CHECKED }[
      remade.outcome
    ];
  });
}

/** Runs `work` on a database's receipts and log. */
export function withArchive<T>(
  where: Pick<ServiceOptions, 'dataDir'>,
  work: (archive: Archive, receipts: Receipts) => Promise<T>,
): Promise<T> {
  const { documentsBucket } = loadConfig(process.env);
  const documents = () => openDocumentStore(findDataDir(where), documentsBucket);
  return withDatabase(where, async ({ url }) => {
    const pool = openPool(url, { max: 1, name: 'annal receipt', answerMs: 0 });
    const renderers = new ArchivedRenderers(new Renderers(pool));
    const archive = { pool, documents, renderers };
    try {
      return await withEventStore(url, (store) => work({ ...archive, store }, new Receipts(pool)));
    } finally {
      renderers.close();
      await pool.end();
    }
  });
}

/** Describes the outcome in a sentence. */
export function saySentence(remade: Remade): string {
  switch (remade.outcome) {
    case 'matches':
      return `the answer was made again from the log${remade.archived ? ', by the archived renderer' : ''}: it is byte for byte the one that was sent`;
    case 'differs':
      return 'the answer made again differs from the one that was sent; run annal verify to check the events';
    case 'altered':
      return 'the receipt was altered: its id is not the hash of its content';
    case 'gone':
      return `the answer can't be made again: ${remade.what}. sha256 still proves what was sent`;
  }
}

function describeReceipt(row: ReceiptRow, { outcome }: Remade) {
  const { id, kind, reader, record, position, name, renderer, sha256 } = row;
  return {
    ...{ id, made_at: toInstant(row.made_at), kind, reader, patient: record },
    position: position === null ? null : toInstant(position),
    ...(name === null ? {} : { manifest_id: name }),
    parameters: unpack(row.parameters),
    versions: unpackVersions(row.versions).map(({ id, version }) => `${id}/_history/${version}`),
    inputs: unpack(row.inputs),
    ...{ renderer, sha256: sha256.toString('hex'), outcome },
  };
}

function printLines({ parameters, inputs, versions, ...about }: ReturnType<typeof describeReceipt>): string {
  const width = 12;
  return [
    ...Object.entries(about).map(([name, value]) => `${name.padEnd(width)} ${value ?? '–'}`),
    `${'versions'.padEnd(width)} ${versions.length} shown (--json lists them)`,
    `${'asked'.padEnd(width)} ${JSON.stringify(parameters)}`,
  ].join('\n');
}
