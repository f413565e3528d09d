/**
 * Removes what the contract suite wrote to a shared log; otherwise `annal verify` would report its events, which no service
 * wrote.
 */
import { lastValueFrom, takeWhile } from 'rxjs';
import { BEGINNING } from '#src/events/store.ts';
import { openStore } from './eventstoredb-store.ts';

/** Erases all streams of the contract suite, including those that an interrupted run left. */
export async function eraseContractStreams(): Promise<void> {
  const store = await openStore();
  try {
    const head = await store.head();
    if (head === BEGINNING) return;
    const left = new Set<string>();
    const reading = store.subscribe({
      after: BEGINNING,
      handle: async ({ events }) => {
        for (const { stream } of events) if (stream.startsWith('contract-')) left.add(stream);
      },
    });
    await lastValueFrom(reading.pipe(takeWhile((position) => position < head, true)));
    for (const stream of left) await store.erase(stream);
  } finally {
    await store.close();
  }
}
