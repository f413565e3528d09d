/** Stores bytes in the document store before the append that makes them a document's content. */
import type { BlobKey } from '#src/documents/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { CommandContext } from '../command.ts';
import { Stale } from '../kernel/kernel.ts';
import type { Contents } from '../resource/contents.ts';
import type { PlacedWrite, Write } from '../resource/decide.ts';

/** Number of blobs to store concurrently. */
const AT_ONCE = 8;

/**
 * Stores the contents of a plan's documents, then appends. If the append is refused, the contents are removed. After a crash,
 * or an append with an unknown outcome, the sweeper removes contents that no event refers to.
 */
export async function withContents<T>(
  contents: Contents,
  ctx: Pick<CommandContext, 'retry'>,
  planned: readonly PlacedWrite[],
  append: () => Promise<T>,
): Promise<T> {
  for (const { write, stream } of planned) await requireStored(contents, write, stream);
  const blobs = planned.flatMap(({ write, stream }) => listBlobs(write, stream));
  await putBlobs(contents, blobs);
  try {
    return await append();
  } catch (error) {
    const unwritten = error instanceof Stale || (error instanceof Refusal && error.kind !== 'unavailable');
    // Two attempts with the same Idempotency-Key use the same names, so events of the other attempt may refer to these blobs.
    if (unwritten && ctx.retry === undefined)
      await Promise.all(blobs.map(({ key }) => contents.remove(key).catch(() => undefined)));
    throw error;
  }
}

/**
 * Checks that contents stored before this write still exist, because they may have been swept.
 * @throws Refusal conflict (409)
 */
async function requireStored({ has }: Pick<Contents, 'has'>, write: Write, stream: string): Promise<void> {
  const patient = recordPatient(stream);
  if (write.kind === 'remove' || patient === undefined) return;
  for (const { blob, bytes } of write.finalized ?? []) {
    if (bytes !== undefined || (await has({ patient, document: write.id, blob }))) continue;
    const diagnostics =
      'the uploaded bytes were removed before the document was finalized; upload them again';
    throw new Refusal('conflict', { code: 'conflict', diagnostics });
  }
}

/** Bytes and the key under which to store them. */
export interface Blob {
  readonly key: BlobKey;
  readonly bytes: Buffer;
}

/** Returns the blobs that must be stored before a write to the given stream. */
export function listBlobs(write: Write, stream: string): Blob[] {
  const patient = recordPatient(stream);
  if (write.kind === 'remove' || write.finalized === undefined || patient === undefined) return [];
  return write.finalized.flatMap(({ blob, bytes }) =>
    bytes === undefined ? [] : [{ key: { patient, document: write.id, blob }, bytes }],
  );
}

/** Stores the blobs, a few at a time. */
export async function putBlobs({ put }: Pick<Contents, 'put'>, blobs: readonly Blob[]): Promise<void> {
  const waiting = blobs.values();
  const worker = async (): Promise<void> => {
    for (const { key, bytes } of waiting) await put(key, bytes);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, blobs.length) }, worker));
}
