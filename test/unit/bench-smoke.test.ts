/** The bench at a hundredth of its size: every row runs to completion and reports its figures; no ratio is judged. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { itAtFullSize } from '#test/support/scale.ts';
import { ROOT } from '../support/process.ts';

const run = promisify(execFile);

/** Rows that take long at any size, or are similar to another row; `npm run prove` runs them. */
const LONG = [
  ...[
    'history',
    'search',
    'transaction',
    'writes',
    'read',
    'visible',
    'rebuild',
    'beside',
    'growth',
    'cold',
    'instances',
    'processes',
    'disk',
    'everything',
  ],
  ...[
    'summary',
    'context',
    'receipts',
    'insight',
    'limits',
    'tokens',
    'grants',
    'lists',
    'projected',
    'codes',
    'projects',
    'webhooks',
    'hostile',
  ],
];
const ROWS = ['create'];

interface Report {
  readonly rows: readonly {
    readonly row: string;
    readonly failure?: string;
    readonly bounds: readonly { readonly ratio: string; readonly value: number }[];
  }[];
}

describe('npm run bench', () => {
  it('knows its rows', async () => {
    const { stdout } = await run(process.execPath, ['--import', 'tsx', 'bench/run.ts', '--help'], {
      cwd: ROOT,
    });
    const known = stdout.slice(stdout.indexOf('Rows:')).matchAll(/^ {2}(\w+)/gm);
    expect([...known].map(([, name]) => name)).to.have.members([...ROWS, ...LONG]);
  });

  itAtFullSize('measures rows against their baselines', async () => {
    const args = ['--import', 'tsx', 'bench/run.ts', '--scale', '0.01', '--runs', '1', '--json'];
    for (const row of ROWS) args.push('--only', row);
    // The bench's exit code says whether the promises hold, which isn't required at this size.
    const { stdout } = await run(process.execPath, args, { cwd: ROOT }).catch(
      (error: { stdout: string }) => error,
    );
    const report = JSON.parse(stdout) as Report;
    expect(report.rows.map(({ row }) => row)).to.deep.equal(ROWS);
    for (const { row, failure, bounds } of report.rows) {
      expect(failure, row).to.equal(undefined);
      expect(bounds, row).not.to.have.length(0);
      for (const { ratio, value } of bounds) expect(value, `${row}: ${ratio}`).to.be.greaterThan(0);
    }
  });
});
