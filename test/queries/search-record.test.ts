/** The limits of searches within a record as of a point in time (docs/as-of.md). */
import { expect } from 'chai';
import { loadPast } from '#projections/unwritten.ts';
import { openSearchRecord } from '#queries/search-record.ts';
import { requiredValueSets } from '#src/fhir/terminology.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { ANSWER_LIMITS } from '#src/shared/load/answer-budget.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

describe('searches within a record as of a moment', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service?.stop());

  it('refuse a record that is too large, and leave the connection usable', async () => {
    const record = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    const observed = { resourceType: 'Observation', status: 'final', code: { text: 'Pain' } };
    const created = await service.post('/Observation', {
      ...observed,
      subject: { reference: `Patient/${record}` },
    });
    const caughtUp = (version: number) =>
      eventually(async () => {
        const { rows } = await service.pool.query<{ found: number; kept: number }>(
          `select (select version from search.entry where id = $1) as found,
            (select max(version)::int from history.version where id = $1) as kept`,
          [created.json.id],
        );
        return rows[0]?.found === version && rows[0].kept === version;
      });
    await caughtUp(1);
    const asOf = nowMicros();
    const { rows } = await service.pool.query('select tenant from resources.resource where id = $1', [
      record,
    ]);
    const sees = { owner: {}, ownerId: rows[0].tenant, asOf };
    const caller = { sees, calls: {} } as unknown as Caller;
    const search = (limits: { resources?: number; bytes?: number }) =>
      openSearchRecord(service.pool, async (tx, versions) => loadPast(tx, versions), requiredValueSets, {
        ...ANSWER_LIMITS,
        ...limits,
      })(caller, { record, types: undefined }, ({ search: find }) =>
        find(caller, {
          type: 'Observation',
          query: new URLSearchParams({ patient: record }),
          base: `${service.base}/`,
        }),
      );
    const refused = (error: unknown) => (error as { issues?: { code: string }[] }).issues?.[0]?.code;
    expect((await search({ resources: 2 })).total).to.equal(1);
    expect(await search({ resources: 1 }).catch(refused)).to.equal('too-costly');
    // As long as a body's version is the current one, nothing has to be reconstructed.
    expect((await search({ bytes: 1 })).total).to.equal(1);
    await service.fhir(`/Observation/${created.json.id}`, { method: 'DELETE' });
    await caughtUp(2);
    expect(await search({ bytes: 1 }).catch(refused)).to.equal('too-costly');
  });
});
