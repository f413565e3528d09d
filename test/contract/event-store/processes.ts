/** Many processes on one log: nothing is lost, duplicated or torn, even when a process is killed. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { BEGINNING, type EventStore, type Expected } from '#src/events/store.ts';
import { type LogUnderTest, SCALE } from './adapter.ts';
import { Audit, all, auditLog, Follower, faultsIn, newStream, write } from './events.ts';
import type { Acknowledged, Message, Task } from './worker.ts';

/** A worker process and the messages that it has sent. */
class Worker {
  readonly acknowledged: Acknowledged[] = [];
  readonly messages: Message[] = [];
  readonly #child: ChildProcess;
  readonly #gone: Promise<unknown>;
  #waiting: (() => void)[] = [];
  #over = false;

  constructor({ process: opening }: LogUnderTest, task: Task) {
    if (opening === undefined) throw new TypeError('no other process can open this log');
    this.#child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
      env: {
        ...process.env,
        ...opening.env,
        ANNAL_TEST_STORE: opening.module,
        ANNAL_TEST_TASK: JSON.stringify(task),
      },
    });
    this.#child.on('message', (message: Message) => {
      if ('acknowledged' in message) this.acknowledged.push(message.acknowledged);
      else this.messages.push(message);
      this.#changed();
    });
    // Messages sent before the process died are still delivered, because the channel closes after the last one.
    this.#gone = Promise.all([once(this.#child, 'exit'), once(this.#child, 'disconnect')]).then(() => {
      this.#over = true;
      this.#changed();
    });
  }

  async until(condition: (worker: this) => boolean): Promise<void> {
    while (!condition(this)) {
      if (this.#over) throw new Error('the worker ended too early');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  go(): void {
    this.#child.send('go');
  }

  async finished(): Promise<this> {
    await this.#gone;
    expect(this.messages.at(-1)).to.deep.equal({ done: true });
    return this;
  }

  async kill(): Promise<this> {
    this.#child.kill('SIGKILL');
    await this.#gone;
    return this;
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Checks that every acknowledged append is in its stream exactly as it was sent. */
async function expectAllPresent(store: EventStore, acknowledged: readonly Acknowledged[]): Promise<void> {
  const streams = new Map<string, string[]>();
  for (const { stream, revision, ids } of acknowledged) {
    let present = streams.get(stream);
    if (present === undefined) {
      present = (await all(store.read(stream))).map(({ id }) => id);
      streams.set(stream, present);
    }
    expect(present.slice(revision + 1 - ids.length, revision + 1)).to.deep.equal(ids);
  }
}

/**
 * Describes many processes on one log.
 * @param log the log under test
 * @param store a store on that log in this process
 */
export function manyProcesses(log: () => LogUnderTest, store: () => EventStore): void {
  describe('three processes that write while one reads', () => {
    const appends = 2_000 * SCALE;

    it(`loses, repeats and reorders nothing in 3 × ${appends} appends`, async function () {
      this.timeout(180_000 * Math.max(1, SCALE));
      const after = await store().head();
      const live = new Audit();
      const follower = new Follower(store(), { after }, async ({ events }) => live.take(events), 'forget');
      const workers = [1, 2, 3].map(() => new Worker(log(), { kind: 'load', streams: 8, appends }));
      const acknowledged = (await Promise.all(workers.map((worker) => worker.finished()))).flatMap(
        (worker) => worker.acknowledged,
      );
      expect(acknowledged).to.have.length(3 * appends);
      await follower.reaches(await store().head());
      follower.stop();
      const sent = acknowledged.flatMap(({ ids }) => ids);
      expect(live.ids.size).to.equal(sent.length);
      expect(sent.every((id) => live.ids.has(id))).to.equal(true);
      expect(live.end()).to.deep.equal([]);
      const again = await auditLog(store(), after);
      expect([...again.ids].join()).to.equal([...live.ids].join());
    });
  });

  describe('two processes with 25 appends each to the same head', () => {
    for (const state of ['a new stream', 'a stream with events'] as const) {
      it(`one append wins on ${state}`, async function () {
        this.timeout(60_000);
        const stream = newStream();
        const expected: Expected =
          state === 'a new stream' ? 'none' : (await write(store(), stream, [3])).head;
        const workers = [1, 2].map(() => new Worker(log(), { kind: 'race', stream, expected, attempts: 25 }));
        for (const worker of workers) await worker.until(({ messages }) => messages.length > 0);
        for (const worker of workers) worker.go();
        const sums = { won: 0, conflicts: 0 };
        for (const worker of workers) {
          for (const message of (await worker.finished()).messages) {
            if (!('won' in message)) continue;
            sums.won += message.won;
            sums.conflicts += message.conflicts;
          }
        }
        expect(sums).to.deep.equal({ won: 1, conflicts: 49 });
        const events = await all(store().read(stream));
        expect(events).to.have.length(expected === 'none' ? 2 : 5);
        expect(faultsIn(events)).to.deep.equal([]);
      });
    }
  });

  describe('a process killed while it writes', () => {
    const kills = Math.min(40, Math.ceil(4 * Math.sqrt(SCALE)));

    it(`loses nothing acknowledged and tears no append, ${kills} times`, async function () {
      this.timeout(30_000 * kills);
      const after = await store().head();
      const follower = new Follower(store(), { after });
      const acknowledged: Acknowledged[] = [];
      for (let round = 0; round < kills; round += 1) {
        const worker = new Worker(log(), { kind: 'load', streams: 16, appends: 1_000_000 });
        await worker.until((writer) => writer.acknowledged.length > 200 + 37 * round);
        acknowledged.push(...(await worker.kill()).acknowledged);
      }
      // The log keeps working: the dead process blocks nothing that others need.
      const { position } = await write(store(), newStream(), [1]);
      await follower.reaches(position);
      follower.stop();
      await expectAllPresent(store(), acknowledged);
      expect(faultsIn(follower.events)).to.deep.equal([]);
      const delivered = new Set(follower.events.map(({ id }) => id));
      expect(acknowledged.every(({ ids }) => ids.every((id) => delivered.has(id)))).to.equal(true);
    });
  });

  describe('the whole log at the end', () => {
    it('is in order, in whole appends, every hash chain intact', async function () {
      this.timeout(60_000 * Math.max(1, SCALE));
      const audit = await auditLog(store(), BEGINNING);
      expect(audit.ids.size).to.be.greaterThan(1_000);
      expect(audit.end()).to.deep.equal([]);
    });
  });
}
