/** Which processes may use a DATA_DIR, and what they find in it. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  announceDatabase,
  DataDirInUse,
  findDatabase,
  forgetDatabase,
  lockDataDir,
  readQuickstart,
  writeQuickstart,
} from '#src/data-dir.ts';
import { processMark } from '#src/process-mark.ts';
import { startProgram } from '#test/support/process.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

async function refusal(taken: Promise<unknown>): Promise<unknown> {
  return taken.then(
    () => 'it was taken',
    (error: unknown) => error,
  );
}

describe('DATA_DIR', () => {
  after(removeTemporaryFolders);

  it('is made, and belongs to one at a time', async () => {
    const folder = join(await temporaryFolder(), 'new');
    const lock = await lockDataDir(folder);
    const second = await refusal(lockDataDir(folder));
    expect(second).to.be.instanceOf(DataDirInUse);
    expect(String(second)).to.contain(`pid ${process.pid}`);
    await lock.release();
    await (await lockDataDir(folder)).release();
  });

  it('goes to exactly one of many who come at once, also over a dead one', async () => {
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, 'lock.json'),
      JSON.stringify({ pid: process.pid, began: 'in another life' }),
    );
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => refusal(lockDataDir(folder))));
    expect(outcomes.filter((outcome) => outcome === 'it was taken')).to.have.length(1);
  });

  it('is taken over from a process that was killed', async () => {
    const folder = await temporaryFolder();
    const holder = startProgram('sleep', ['60']);
    const mark = await processMark(holder.child.pid ?? 0);
    await writeFile(join(folder, 'lock.json'), JSON.stringify(mark));
    expect(await refusal(lockDataDir(folder))).to.be.instanceOf(DataDirInUse);
    holder.child.kill('SIGKILL');
    await holder.ended;
    await (await lockDataDir(folder)).release();
  });

  it('is taken over when the process id belongs to another process by now, and when the lock is damaged', async () => {
    for (const content of [JSON.stringify({ pid: 1, began: 'before' }), '', '{"pid":']) {
      const folder = await temporaryFolder();
      await writeFile(join(folder, 'lock.json'), content);
      await (await lockDataDir(folder)).release();
    }
  });

  it('says where the database of its running service is', async () => {
    const folder = await temporaryFolder();
    expect(await findDatabase(folder)).to.equal(undefined);
    await announceDatabase(folder, { url: 'postgres://x/y' });
    expect(await findDatabase(folder)).to.equal('postgres://x/y');
    const file = join(folder, 'database.json');
    await writeFile(file, (await readFile(file, 'utf8')).replace(/"began": "[^"]*"/, '"began": "before"'));
    expect(await findDatabase(folder), 'of a service that is gone').to.equal(undefined);
    await forgetDatabase(folder);
    expect(await findDatabase(folder)).to.equal(undefined);
  });

  it('keeps the quickstart to its owner', async () => {
    const folder = await temporaryFolder();
    const quickstart = {
      base_url: 'http://x',
      organization_id: 'o',
      project_id: 'p',
      sandbox_key: 'sk_test_x',
    };
    expect(await readQuickstart(folder)).to.equal(undefined);
    const file = await writeQuickstart(folder, quickstart);
    expect(await readQuickstart(folder)).to.deep.equal(quickstart);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
  });
});
