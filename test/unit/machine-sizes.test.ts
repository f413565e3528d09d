/** How many processes share a machine's work, depending on its cores and the settings. */
import { totalmem } from 'node:os';
import { expect } from 'chai';
import { loadConfig } from '#src/config.ts';
import { countConnections, fitConnections, shareConnections, shareLimits } from '#src/machine/budgets.ts';
import { chooseSizes, readMemory, readQuota } from '#src/machine/sizes.ts';

const { workers, projectors } = loadConfig({});
const AUTO = { workers, projectors };
const GB = 2 ** 30;

describe('the sizes of a machine', () => {
  for (const [cores, embedded, apart] of [
    [1, [1, 0], [1, 0]],
    [2, [1, 0], [1, 0]],
    [3, [1, 1], [2, 1]],
    [4, [2, 1], [2, 1]],
    [8, [3, 2], [6, 2]],
    [16, [7, 2], [14, 2]],
  ] as const)
    it(`on ${cores} cores`, () => {
      const list = (isEmbedded: boolean) =>
        Object.values(chooseSizes(AUTO, { cores, memory: 64 * GB, embedded: isEmbedded }));
      expect(list(true), 'with the embedded PostgreSQL').to.deep.equal(embedded);
      expect(list(false), 'with another').to.deep.equal(apart);
    });

  it('are those of the settings', () => {
    const choose = (settings: Record<string, string>, cores: number) => {
      const asked = loadConfig(settings);
      return chooseSizes(asked, { cores, memory: 64 * GB, embedded: true });
    };
    expect(choose({ WORKERS: '4', PROJECTORS: '2' }, 1)).to.deep.equal({ workers: 4, projectors: 2 });
    expect(choose({ WORKERS: '1' }, 16).projectors).to.equal(0);
    expect(choose({ WORKERS: '4' }, 2).projectors).to.equal(1);
    expect(choose({ PROJECTORS: '2' }, 2).workers).to.equal(1);
  });

  it('leave room in the memory', () => {
    const list = (memory: number, embedded: boolean) =>
      Object.values(chooseSizes(AUTO, { cores: 16, memory: memory * GB, embedded }));
    expect(list(1, false)).to.deep.equal([1, 0]);
    expect(list(2, false)).to.deep.equal([3, 1]);
    expect(list(2, true)).to.deep.equal([2, 1]);
    expect(list(4, false)).to.deep.equal([7, 2]);
    expect(readMemory()).to.be.within(2 ** 20, totalmem());
  });

  for (const [settings, named] of [
    [{ WORKERS: '0' }, 'WORKERS must be auto, or a whole number from 1 to 64'],
    [{ WORKERS: 'many' }, 'WORKERS must be auto, or a whole number from 1 to 64'],
    [{ PROJECTORS: '3' }, 'PROJECTORS must be auto, 0, 1 or 2'],
    [{ WORKERS: '2', PROJECTORS: '0' }, 'PROJECTORS must not be 0 unless WORKERS is 1'],
    [{ PROJECTORS: '0' }, 'PROJECTORS must not be 0 unless WORKERS is 1'],
  ] as const)
    it(`refuse ${JSON.stringify(settings)}`, () => {
      expect(() => loadConfig(settings)).to.throw(named);
    });

  it('are bounded by the quota of a container, of either version of control groups', () => {
    const files: Readonly<Record<string, string>> = {
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '150000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    };
    expect(readQuota((file) => files[file] ?? '')).to.equal(1.5);
    expect(readQuota((file) => (file.endsWith('cpu.max') ? '200000 100000\n' : ''))).to.equal(2);
    expect(readQuota((file) => (file.endsWith('cpu.max') ? 'max 100000\n' : ''))).to.equal(
      Number.POSITIVE_INFINITY,
    );
    expect(readQuota(() => '')).to.equal(Number.POSITIVE_INFINITY);
  });
});

describe('the budgets of a machine', () => {
  const { limits } = loadConfig({});

  it('are divided among its processes, and stay large enough for one answer and one body', () => {
    const third = shareLimits(limits, 3);
    expect(third.answerMemoryBytes).to.equal(100_000_000);
    expect(third.connectionsPerAddress).to.equal(86);
    const small = shareLimits(limits, 64);
    expect(small.answerMemoryBytes).to.equal(limits.answerBytes);
    expect(small.bodyMemoryBytes).to.equal(limits.bundleBytes);
    expect(small.answerSeconds).to.equal(limits.answerSeconds);
    expect(shareLimits(limits, 1)).to.equal(limits);
  });

  it('have as many connections as PostgreSQL allows, or say what to change', () => {
    expect([1, 2, 7, 64].map((sharers) => shareConnections(10, sharers))).to.deep.equal([10, 5, 3, 3]);
    const sizes = { workers: 7, projectors: 2 } as const;
    const needed = countConnections(sizes);
    expect(needed).to.be.within(150, 300);
    expect(fitConnections(sizes, needed, true)).to.equal(sizes);
    // PostgreSQL's default settings allow 97.
    expect(countConnections({ workers: 2, projectors: 1 })).to.be.at.most(97);
    expect(fitConnections(sizes, 97, true)).to.include(
      `WORKERS=7 and PROJECTORS=2 may need ${needed} connections to PostgreSQL, and its max_connections leaves 97`,
    );
    const fewer = fitConnections(sizes, needed - 1, false);
    if (typeof fewer === 'string') throw new Error(fewer);
    expect(fewer.workers).to.be.within(1, 6);
    expect(countConnections(fewer)).to.be.at.most(needed - 1);
  });
});
