/** `annal parked`, and the help of the command line. */
import { expect } from 'chai';
import type { Position } from '#src/events/store.ts';
import { ParkedEvents } from '#src/processes/parked.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { runAnnal } from '#test/support/process.ts';

describe('annal parked', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());

  const annal = (...args: string[]) => runAnnal(database.url, ...args);

  it('lists what is set aside, and has it tried again', async () => {
    expect(await annal('parked')).to.include({ code: 0, stdout: 'No event is parked.\n' });
    const parked = new ParkedEvents(database.pool);
    const event = { id: newUuid(), type: 'RecordErasureRequested', stream: 'project-1', revision: 4 };
    const position = '0000000000000009' as Position;
    await parked.park('erasure', { ...event, position, data: '{}', metadata: '{}' }, 'no such thing', 6);
    const listed = await annal('parked');
    expect(listed.code).to.equal(3);
    for (const part of ['erasure', event.id, 'project-1 revision 4', 'no such thing'])
      expect(listed.stdout).to.contain(part);
    expect(await parked.due('erasure')).to.deep.equal([]);
    expect((await annal('parked', '--retry')).code).to.equal(0);
    expect((await parked.due('erasure')).map(({ eventId }) => eventId)).to.deep.equal([event.id]);
  });

  it('is in the help, which every spelling finds', async () => {
    const [asked, flagged, empty] = await Promise.all([annal('help'), annal('--help'), annal()]);
    expect([asked.code, asked.stdout]).to.deep.equal([0, flagged.stdout]);
    expect(empty.stdout).to.equal(flagged.stdout);
    expect(asked.stdout).to.contain('parked').and.contain('Examples');
    expect((await annal('help', 'import')).stdout).to.equal((await annal('import', '--help')).stdout);
    const bare = await annal('import');
    expect([bare.code, bare.stderr]).to.deep.equal([
      2,
      "annal: missing required argument 'sources'. See annal import --help\n",
    ]);
  });
});
