/** Runs `npm run bench:peers` against this service twice, briefly: every row is measured, unless an answer is wrong. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { portOf, ROOT } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const run = promisify(execFile);

type Report = readonly {
  readonly row: string;
  readonly found: readonly { readonly rate: number; readonly failure?: string }[];
}[];

describe('npm run bench:peers', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const measure = async (...args: string[]): Promise<Report> => {
    const command = ['--import', 'tsx', 'bench/peers/run.ts', '--json', '--records', '2', '--rounds', '1'];
    const { stdout } = await run(process.execPath, [...command, '--seconds', '0.2', ...args], {
      cwd: ROOT,
    }).catch((error: { stdout: string }) => error);
    return JSON.parse(stdout) as Report;
  };

  itAtFullSize('measures each row on each server', async () => {
    const url = `${service.url}/fhir/R4`;
    const report = await measure(url, url, '--token', service.key, '--token', service.key);
    expect(report.map(({ row }) => row)).to.deep.equal([
      ...['read', 'search', 'count', 'update', 'create', 'transaction'],
    ]);
    for (const { row, found } of report) {
      expect(found, row).to.have.length(2);
      for (const { rate, failure } of found) {
        expect(failure, row).to.equal(undefined);
        expect(rate, row).to.be.above(0);
      }
    }
  });

  it('leaves out a server whose answer is wrong', async () => {
    // This server accepts everything but finds nothing.
    const server = createServer((request, response) => {
      const isBatch = request.method === 'POST';
      request.resume().on('end', () => {
        response.writeHead(200, { 'Content-Type': 'application/fhir+json' });
        const entry = [{ response: { location: 'Patient/1/_history/1' } }];
        response.end(JSON.stringify(isBatch ? { entry } : { total: 0 }));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const [found] = await measure(`http://127.0.0.1:${portOf(server)}/fhir`, '--only', 'count');
      expect(found?.found[0]?.failure).to.contain('total: 0 instead of');
    } finally {
      server.close();
    }
  });
});
