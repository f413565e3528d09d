import { expect } from 'chai';
import { runBatch } from '#commands/batch.ts';
import type { CommandContext, WriteResult } from '#commands/command.ts';
import type { WriteEntry } from '#src/fhir/bundle.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';

describe('the entries of a batch', () => {
  it('run in R4’s order, those on one resource one after the other, others side by side', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
    const methods = ['PUT', 'PATCH', 'DELETE', 'POST'] as const;
    const writes = Array.from({ length: 400 }, (_, index): WriteEntry => {
      const method = methods[index % methods.length] ?? 'PUT';
      const id = index % 3 === 0 ? 'a' : (ids[index % ids.length] ?? 'a');
      return { index, method, type: 'Patient', ...(method === 'POST' ? {} : { id }) };
    });
    const context = { ids: new IdSource(newUuid(), Date.now()) } as CommandContext;
    const began: WriteEntry[] = [];
    const running = new Set<string | undefined>();
    let most = 0;
    const { result } = await runBatch(context, writes, async (_, entry) => {
      began.push(entry);
      if (entry.id !== undefined) expect(running.has(entry.id), `${entry.id} at once`).to.equal(false);
      running.add(entry.id);
      most = Math.max(most, running.size);
      await new Promise(setImmediate);
      running.delete(entry.id);
      return { result: new Map([[0, { id: String(entry.index) } as WriteResult]]), position: undefined };
    });
    expect(result.size).to.equal(writes.length);
    expect(most).to.be.greaterThan(1).and.at.most(8);
    const steps = began.map(({ method }) =>
      ['DELETE', 'POST', 'PUT'].indexOf(method === 'PATCH' ? 'PUT' : method),
    );
    expect(steps).to.deep.equal([...steps].sort());
    for (const id of ids) {
      const own = began
        .filter((entry) => entry.id === id && entry.method !== 'DELETE')
        .map(({ index }) => index);
      expect(own, id).to.deep.equal([...own].sort((one, other) => one - other));
    }
  });
});
