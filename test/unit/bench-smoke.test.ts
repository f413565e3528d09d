/** The bench at a hundredth of its size: every row runs to its end and reports; no ratio is judged. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ROOT } from '../support/process.ts';

const run = promisify(execFile);

const ROWS = [
  ...['create', 'read', 'transaction', 'history', 'visible', 'rebuild', 'beside', 'growth', 'cold'],
  ...['instances', 'search', 'everything', 'summary', 'limits', 'projects'],
];

interface Report {
  readonly rows: readonly {
    readonly row: string;
    readonly failure?: string;
    readonly bounds: readonly { readonly ratio: string; readonly value: number }[];
  }[];
}

describe('npm run bench', function () {
  this.timeout(300_000);

  it('measures every row against its baseline', async () => {
    const args = ['--import', 'tsx', 'bench/run.ts', '--scale', '0.01', '--runs', '1', '--json'];
    // Its exit code says whether the promises hold, which they need not at this size.
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
