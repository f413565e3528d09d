/** Hashes of searchable values are cached, but never more than a fixed number, however many tenants there are. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { typeHashes } from '#src/fhir/search/keys.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const TENANTS = 20;
const VALUES = 5_000;

describe('hashes of searchable values', () => {
  const keysOf = (tenant: number): string => {
    const hashes = typeHashes(`tenant ${tenant}`, 'Observation');
    return (
      hashes.value('code', 'http://loinc.org|8867-4') +
      hashes.about('code', '8867-4') +
      hashes.parameter('date')
    );
  };

  itAtFullSize('take bounded memory together, and are the same when they are made again', () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    collect();
    const before = process.memoryUsage().heapUsed;
    const first: string[] = [];
    for (let tenant = 0; tenant < TENANTS; tenant += 1) {
      first.push(keysOf(tenant));
      const hashes = typeHashes(`tenant ${tenant}`, 'Observation');
      for (let n = 0; n < VALUES; n += 1) hashes.value('code', `http://loinc.org|${tenant}-${n}`);
    }
    collect();
    // If all hashes were cached, each would take about 200 bytes.
    expect(process.memoryUsage().heapUsed - before).to.be.below(TENANTS * VALUES * 120);
    expect(first.map((_, tenant) => keysOf(tenant))).to.deep.equal(first);
    expect(new Set(first)).to.have.length(TENANTS);
  });
});
