/** `verify` compares the totals that the read model `search` keeps on request with the entries that they count. */
import { expect } from 'chai';
import { verify } from '#projections/verify/verify.ts';
import { LIMITS } from '#queries/search/plan.ts';
import { openSearch } from '#queries/search/search.ts';
import { openTallies } from '#queries/search/tallies.ts';
import { groupByCause } from '#src/cli/verify/verify-causes.ts';
import { ownCaller, tenantId } from '#src/shared/access/caller.ts';
import { makeChance } from '#test/support/chance.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { itAtFullSize, randomSeed } from '#test/support/scale.ts';
import { ObservationWriter, TENANTS } from '#test/support/search/observations.ts';
import { tell } from '#test/support/tell.ts';
import { type Instance, startInstance } from './instance.ts';
import { made, Streams, until } from './made.ts';

describe('verify compares tallies', () => {
  let database: TestDatabase;
  let instance: Instance;
  let writer: ObservationWriter;
  const seed = randomSeed();

  before(async () => {
    database = await createDatabase();
    instance = await startInstance(database.url);
    const data = { project_id: 'proj_one', organization_id: 'org_1', name: 'One' };
    await new Streams(instance.store).project(made({ type: 'ProjectCreated', data }, { owner: TENANTS[0] }));
    writer = new ObservationWriter(instance.store, makeChance(seed));
    for (let n = 0; n < 200; n += 1) await writer.write();
    await instance.shown(writer.position);
    const search = openSearch(
      database.pool,
      undefined,
      { ...LIMITS, few: 1 },
      openTallies(database.pool, 1, 1),
    );
    for (const tenant of TENANTS) {
      for (const query of QUERIES) {
        await search(ownCaller(tenant, { kind: 'api_key', keyId: 'key_1' }, ['read']), {
          ...{ type: 'Observation', query: new URLSearchParams(query), base: 'http://localhost/' },
        });
      }
    }
    await until(async () => (await counted()).length === TENANTS.length * QUERIES.length);
  });
  after(async () => {
    await instance?.stop();
    await database?.drop();
  });

  const QUERIES = ['code=a', 'code=urn:s|b&status=final', 'category=urn:c|', 'code:missing=false'];
  const counted = async () =>
    (await database.pool.query('select keys::text from search.tally where counted is not null')).rows;
  const run = () => verify({ store: instance.store, databaseUrl: database.url });

  it('names tallies that were altered, with project, query and both numbers', async () => {
    expect((await run()).readModels).to.deep.equal([]);
    for (const column of ['counted', 'changed']) {
      const { rows } = await database.pool.query<{ keys: string; total: number }>(
        `update search.tally set ${column} = ${column} + 2 returning keys::text, counted + changed as total`,
      );
      const { clean, readModels } = await run();
      await database.pool.query(`update search.tally set ${column} = ${column} - 2`);
      expect(clean).to.equal(false);
      const causes = groupByCause({ log: [], readModels });
      const names = causes.map(({ where, what, which, changes }) => {
        expect({ where, what }).to.deep.equal({ where: 'search.tally', what: 'changed' });
        const [name = '', keys] = which.split(', keys ');
        const { total = 0 } = rows.find((row) => row.keys === keys) ?? {};
        expect(changes).to.deep.equal([{ path: 'total', before: `${total - 2}`, after: `${total}` }]);
        const [owner, query = ''] = name.split(', type Observation, query ');
        return `${owner} ${query.split('&').sort().join('&')}`;
      });
      const owners = TENANTS.map((tenant) =>
        // The second project isn't in the log.
        tenant.project === 'proj_one'
          ? `project proj_one, environment ${tenant.environment}`
          : `tenant ${tenantId(tenant)}`,
      );
      expect(names).to.have.members(owners.flatMap((owner) => QUERIES.map((query) => `${owner} ${query}`)));
    }
    expect((await run()).clean).to.equal(true);
  });

  itAtFullSize('raises no false alarm while resources are written', async function () {
    this.timeout(120_000);
    let isOver = false;
    let written = 0;
    const writing = (async () => {
      while (!isOver) {
        await writer.write();
        written += 1;
      }
    })();
    let runs = 0;
    try {
      for (; runs < 3 || written < 200; runs += 1) {
        const { readModels } = await run();
        expect(readModels, `seed ${seed}, run ${runs}`).to.deep.equal([]);
      }
    } finally {
      isOver = true;
      await writing;
    }
    tell(`${runs} verifications during ${written} writes`);
  });
});
