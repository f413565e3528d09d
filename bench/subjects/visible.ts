/**
 * Measures an append alone, and an append until its event is visible. The store, the projector and `Progress` are assembled as
 * in the service, but in a separate process with one client. The append alone goes to a log that isn't projected.
 */
import { PROJECTIONS } from '#projections/all.ts';
import { Progress } from '#projections/progress.ts';
import { Projector } from '#projections/projector.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { openPool } from '#src/database/pool.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import type { Expected, NewEvent, Position } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { creations } from '../events.ts';
import { answer } from '../worker.ts';

const VISIBLE_MS = 10_000;

/** Appends to one stream after another, so that no stream grows long. */
class Writer {
  readonly #store: PostgresEventStore;
  #stream = '';
  #expected: Expected = 'none';
  #left = 0;

  constructor(store: PostgresEventStore) {
    this.#store = store;
  }

  /** Returns the event to append next. */
  make(): NewEvent[] {
    if (this.#left === 0) {
      const patient = newUuid();
      this.#stream = recordStream(patient);
      this.#expected = 'none';
      this.#left = 100;
    }
    this.#left -= 1;
    return creations(this.#stream.slice('record-'.length), 1);
  }

  /** Appends it. */
  async append(events: readonly NewEvent[]): Promise<Position> {
    const { head, position } = await this.#store.append(this.#stream, this.#expected, events);
    this.#expected = head;
    return position;
  }
}

let alone: Writer | undefined;
let projected: Writer | undefined;
let progress: Progress | undefined;
/** The read models that a response to a write waits for (`src/app.ts`). A search waits for its own read models. */
const WAITED_FOR = ['resources', 'history'];

async function open(urls: { readonly alone: string; readonly projected: string }): Promise<void> {
  alone = new Writer(await PostgresEventStore.open({ url: urls.alone }));
  const databaseUrl = urls.projected;
  const store = await PostgresEventStore.open({ url: databaseUrl });
  const pool = openPool(databaseUrl, { max: 1 });
  await prepareReadModels(pool, PROJECTIONS);
  await pool.end();
  progress = new Progress({ store, databaseUrl, projections: PROJECTIONS });
  new Projector({ store, databaseUrl, projections: PROJECTIONS, progress }).start();
  await progress.start();
  projected = new Writer(store);
}

/** Returns the times for the given number of appends, in ms. */
async function time(visible: boolean, count: number): Promise<number[]> {
  const writer = visible ? projected : alone;
  if (writer === undefined || progress === undefined) throw new Error('not opened yet');
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const events = writer.make();
    const began = performance.now();
    const position = await writer.append(events);
    if (visible && !(await progress.waitFor(position, WAITED_FOR, VISIBLE_MS)))
      throw new Error('it did not become visible');
    times.push(performance.now() - began);
  }
  return times;
}

type Call =
  | { readonly alone: string; readonly projected: string }
  | { readonly visible: boolean; readonly count: number };

answer(async (call: Call): Promise<number[]> => {
  if ('visible' in call) return time(call.visible, call.count);
  await open(call);
  return [];
});
