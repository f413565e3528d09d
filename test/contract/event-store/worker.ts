/**
 * Another process with its own store. Does the task in ANNAL_TEST_TASK and reports everything that was acknowledged to its
 * parent. It is meant to be killed.
 */
import { Conflict, type EventStore, type Expected } from '#src/events/store.ts';
import { newEvents, newStream } from './events.ts';

/** The task: appends of 1 to 4 events to the process's own streams, or a race of single appends to one stream. */
export type Task =
  | { readonly kind: 'load'; readonly streams: number; readonly appends: number }
  | {
      readonly kind: 'race';
      readonly stream: string;
      readonly expected: Expected;
      readonly attempts: number;
    };

/** An append that was acknowledged. */
export interface Acknowledged {
  readonly stream: string;
  readonly revision: number;
  readonly ids: readonly string[];
}

/** What a worker says. */
export type Message =
  | { readonly ready: true }
  | { readonly acknowledged: Acknowledged }
  | { readonly won: number; readonly conflicts: number }
  | { readonly done: true };

function tell(message: Message): void {
  process.send?.(message);
}

async function load(store: EventStore, { streams, appends }: Task & { kind: 'load' }): Promise<void> {
  let left = appends;
  await Promise.all(
    Array.from({ length: streams }, async () => {
      const stream = newStream();
      for (let head: Expected = 'none'; left > 0; ) {
        left -= 1;
        const events = newEvents(1 + (left % 4), (n) => `{"n":${n},"padding":"${'x'.repeat(1_000)}"}`);
        const result = await store.append(stream, head, events);
        head = result.head;
        tell({ acknowledged: { stream, revision: head.revision, ids: events.map(({ id }) => id) } });
      }
    }),
  );
}

async function race(
  store: EventStore,
  { stream, expected, attempts }: Task & { kind: 'race' },
): Promise<void> {
  const started = new Promise((resolve) => process.once('message', resolve));
  tell({ ready: true });
  await started;
  const results = await Promise.allSettled(
    Array.from({ length: attempts }, () => store.append(stream, expected, newEvents(2))),
  );
  tell({
    won: results.filter(({ status }) => status === 'fulfilled').length,
    conflicts: results.filter((result) => result.status === 'rejected' && result.reason instanceof Conflict)
      .length,
  });
}

const { openStore } = (await import(process.env.ANNAL_TEST_STORE ?? '')) as {
  openStore(): Promise<EventStore>;
};
const task = JSON.parse(process.env.ANNAL_TEST_TASK ?? '{}') as Task;
const store = await openStore();
await (task.kind === 'load' ? load(store, task) : race(store, task));
await store.close();
tell({ done: true });
process.disconnect();
