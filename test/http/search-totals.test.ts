/** Totals of broad searches: a running service begins to look them up instead of counting. */
import { hash } from 'node:crypto';
import { expect } from 'chai';
import { searchKey, tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

describe('totals of broad searches', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  it('are looked up when they are asked again', async () => {
    const key = await service.newProject();
    const { rows } = await service.pool.query(
      'select project, environment from projects.api_key where sha256 = $1',
      [hash('sha256', key)],
    );
    const form = valueKey(tenantId(rows[0]), 'Observation', 'status', tokenForm.code('final'));
    await service.pool.query(
      `insert into search.entry (id, version, keys, targets)
       select gen_random_uuid(), 1, array[$1::int8], '{}' from generate_series(1, 10000)`,
      [searchKey(form)],
    );
    const total = async () =>
      JSON.parse((await service.fhir('/Observation?status=final&_summary=count', { key })).text).total;
    expect(await total()).to.equal(10_000);
    await eventually(async () => {
      const found = await service.pool.query(
        'update search.tally set changed = changed + 1 where counted is not null',
      );
      return found.rowCount === 1;
    }, 20_000);
    expect(await total()).to.equal(10_001);
  });
});
