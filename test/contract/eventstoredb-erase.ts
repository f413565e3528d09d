/**
 * Removes what the contract suite wrote to a shared log. Otherwise, `annal verify` would report these events, because no
 * service wrote them.
 */
import { lastValueFrom, takeWhile } from 'rxjs';
import { BEGINNING } from '#src/events/store.ts';
import { openStore } from './eventstoredb-store.ts';

/** Erases all streams of the contract suite, including streams left by an interrupted run. */
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
