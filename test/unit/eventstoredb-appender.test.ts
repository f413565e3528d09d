/**
 * Appends to a server that is slower than its callers: a limited number of appends wait, and all other callers are refused at
 * once.
 */
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import { Appender } from '#src/events/eventstoredb/appender.ts';
import type { AppendLine } from '#src/events/eventstoredb/library.ts';
import { Unavailable } from '#src/events/store.ts';
import { newEvents, rejection } from '#test/contract/event-store/events.ts';

/** Returns a connection that accepts everything and never answers. */
function silentLine(): AppendLine {
  const line = new Duplex({
    objectMode: true,
    read: () => undefined,
    write: (_message, _encoding, taken) => taken(),
  });
  return Object.assign(line, { cancel: () => undefined }) as unknown as AppendLine;
}

const proposal = (size = 10) => ({
  stream: 'record-1',
  revision: -1,
  events: newEvents(1, () => JSON.stringify('x'.repeat(size))),
});

describe('the line for appends', () => {
  it('refuses what comes when too many wait, and takes more once they do not', async () => {
    const lines = [silentLine(), silentLine()];
    const appender = new Appender({ appendLine: async () => lines.shift() ?? silentLine() }, 60_000, {
      appends: 3,
      bytes: 1_000_000,
    });
    const [first] = lines;
    const waiting = [1, 2, 3].map(() => rejection(appender.send(proposal())));
    await new Promise((resolve) => setImmediate(resolve));
    const refused = await rejection(appender.send(proposal()));
    expect(refused).to.be.instanceOf(Unavailable);
    expect(String(refused)).to.contain('3 appends are already waiting');
    first?.destroy(new Error('gone'));
    for (const each of await Promise.all(waiting)) expect(String(each)).to.contain('gone');
    const next = rejection(appender.send(proposal()));
    expect(
      await Promise.race([next, new Promise((resolve) => setImmediate(() => resolve('it waits')))]),
    ).to.equal('it waits');
  });

  it('counts their bytes, and lets one go that is larger than all may be together', async () => {
    const appender = new Appender({ appendLine: async () => silentLine() }, 60_000, {
      appends: 10,
      bytes: 500,
    });
    void appender.send(proposal(2_000)).catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await rejection(appender.send(proposal()))).to.be.instanceOf(Unavailable);
  });

  it('forgets what was not answered in time', async () => {
    const appender = new Appender({ appendLine: async () => silentLine() }, 20, { appends: 1, bytes: 500 });
    for (let n = 0; n < 3; n += 1)
      expect(String(await rejection(appender.send(proposal())))).to.contain('no answer');
  });
});
