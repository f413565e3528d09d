/** An import's state on disk. */
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Failure } from '#src/cli/failure.ts';
import { contentHash, makeEntry } from '#src/cli/import/entry.ts';
import { unnamedKey } from '#src/cli/import/identity.ts';
import { readLines } from '#src/cli/import/lines.ts';
import { Records } from '#src/cli/import/records.ts';
import { Report } from '#src/cli/import/report.ts';
import { Sender } from '#src/cli/import/send.ts';
import { ImportState } from '#src/cli/import/state.ts';

const URL = 'http://127.0.0.1:3000';

describe('the state of an import', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'annal-state-'));
    path = join(folder, 'state.jsonl');
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is there again after a crash, without a line that was torn', async () => {
    const state = await ImportState.open(path, URL);
    await state.note({ unit: 'u1', left: 0, patient: 'Patient/1', ids: { 'Patient/1': 'Patient/a' } });
    await state.note({ unit: 'u2', parts: [2, 1] });
    await state.note({ intent: 'k', body: '{}', identities: ['Organization|s|1'], contents: ['c'] });
    await state.close();
    await appendFile(path, '{"unit":"u3","left":0,"pat');

    const again = await ImportState.open(path, URL);
    expect([...again.doneUnits]).to.deep.equal(['u1']);
    expect(again.patients.get('Patient/1')).to.equal('Patient/a');
    expect(again.parts.get('u2')).to.deep.equal([2, 1]);
    expect([...again.intents.keys()]).to.deep.equal(['k']);
    await again.note({
      answered: 'k',
      directory: [{ identity: 'Organization|s|1', content: 'c', reference: 'Organization/o' }],
    });
    await again.close();

    const third = await ImportState.open(path, URL);
    expect([...third.intents]).to.deep.equal([]);
    expect(third.directory.get('Organization|s|1')).to.deep.equal({
      reference: 'Organization/o',
      content: 'c',
    });
    await third.close();
  });

  it('knows units of entries without ids that earlier versions named by their places', async () => {
    const resource = { resourceType: 'Observation', status: 'final' };
    const place = 'Observation.ndjson, line 1';
    const state = await ImportState.open(path, URL);
    const records = new Records(state, Object.create(Sender.prototype), new Report(() => []));
    const unit = (n: number) => {
      const one = { ...resource, valueInteger: n };
      return {
        patient: 'Patient/1',
        entries: [makeEntry(unnamedKey(one), 'Observation', one, place)],
      };
    };
    const before = unit(1).entries.map((entry) => ({ ...entry, key: entry.place }));
    await state.note({ unit: contentHash(before), left: 0, patient: 'Patient/1', ids: {} });
    expect([1, 2].map((n) => records.isDone(unit(n)))).to.deep.equal([true, false]);
    await state.close();
  });

  it('finds old ids on disk', async () => {
    const state = await ImportState.open(path, URL);
    const ids = { 'Patient/1': 'Patient/a', 'Observation/2': 'Observation/b' };
    await state.note({ unit: 'u1', left: 1, patient: 'Patient/1', ids });
    const found = await state.find(new Set(['Observation/2', 'Observation/3']));
    expect([...found]).to.deep.equal([
      ['Observation/2', { reference: 'Observation/b', patient: 'Patient/1' }],
    ]);
    expect(state.doneUnits.has('u1')).to.equal(false);
    await state.close();
  });

  it('is used by one import at a time, and starts over when asked to', async () => {
    const state = await ImportState.open(path, URL);
    await state.note({ unit: 'u1', left: 0, patient: 'p', ids: {} });
    expect(await ImportState.open(path, URL).catch((error: unknown) => error)).to.be.instanceOf(Failure);
    await state.close();
    const fresh = await ImportState.open(path, URL, { salt: 'second' });
    expect(fresh.doneUnits.size).to.equal(0);
    expect(fresh.salt).to.equal('second');
    await fresh.close();
  });

  it('belongs to one service, and is no other file', async () => {
    await (await ImportState.open(path, URL)).close();
    const other: unknown = await ImportState.open(path, 'http://elsewhere').catch((error: unknown) => error);
    expect(other).to.be.instanceOf(Failure);
    const letter = join(folder, 'letter.txt');
    await writeFile(letter, 'Dear Sir');
    expect(await ImportState.open(letter, URL).catch((error: unknown) => error)).to.be.instanceOf(Failure);
    expect(await readFile(letter, 'utf8')).to.equal('Dear Sir');
  });

  it('reads lines that hold line separators of Unicode, a byte order mark and no final line feed', async () => {
    await writeFile(path, '\ufeff{"a":"x\u2028y"}\r\n\nlast');
    const lines: (string | undefined)[] = [];
    for await (const { text } of readLines(path)) lines.push(text);
    expect(lines).to.deep.equal(['{"a":"x\u2028y"}\r', '', 'last']);
  });
});
