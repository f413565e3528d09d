/**
 * Random commands on 50 records by 16 concurrent clients, through the real service, compared with a plain model. Versions and
 * final states are the same, version numbers have no gaps, and each version has one Provenance.
 */
import { expect } from 'chai';
import { audit } from '../support/audit.ts';
import { runLoad } from '../support/load.ts';
import { Model } from '../support/model.ts';
import { planCommands } from '../support/plan.ts';
import { scaled, steadySeed } from '../support/scale.ts';
import { annal, type Service, startService } from '../support/service.ts';
import { counted, tell } from '../support/tell.ts';

const RECORDS = 50;
const CLIENTS = 16;

describe('random commands by concurrent clients', function () {
  const commands = scaled(10_000, 80);
  this.timeout(120_000 + commands * 100);
  let service: Service;

  before(async () => {
    service = await startService({ env: { RATE_LIMIT_PER_MINUTE: '100000000' } });
  });
  after(() => service.stop());

  it(`${commands} of them leave what the model says`, async () => {
    const seed = steadySeed();
    const model = new Model();
    const tally = await runLoad({
      model,
      commands: planCommands(commands, RECORDS, seed),
      records: RECORDS,
      clients: CLIENTS,
      service: () => Promise.resolve(service),
      interrupted: false,
    });
    const faults = await audit(service, model);
    const told = `seed ${seed}; ${counted(tally)}`;
    tell(told);
    expect(faults.slice(0, 10), told).to.deep.equal([]);
    for (const kind of [
      'create 201',
      'update right 200',
      'update wrong 412',
      'delete none 204',
      'transaction 200',
      'patch 200',
    ]) {
      expect(tally.get(kind) ?? 0, `${kind} (${told})`).to.be.greaterThan(0);
    }
  });

  it('leave a log that verifies: hash chains and read models', async () => {
    const { code, output } = await annal(service, ['verify']);
    expect(code, output).to.equal(0);
  });
});
