/** `.ci/audit.js` with a simulated npm. */
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { temporaryFolder } from '#test/support/temporary.ts';

const SCRIPT = resolve(dirname(fileURLToPath(import.meta.url)), '../../.ci/audit.js');

/**
 * Runs the script.
 * @param answer what npm prints before it exits with 1, as `npm audit` does
 */
async function audit(answer: string): Promise<{ status: number | null; line: string }> {
  const folder = await temporaryFolder();
  const npm = join(folder, 'npm');
  writeFileSync(join(folder, 'answer'), answer);
  writeFileSync(npm, `#!/bin/sh\ncat '${join(folder, 'answer')}'\nexit 1\n`);
  chmodSync(npm, 0o755);
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT], { env, encoding: 'utf8' });
  return { status, line: stdout.trim() };
}

const counted = (counts: Record<string, number>, vulnerabilities = {}) =>
  JSON.stringify({ vulnerabilities, metadata: { vulnerabilities: { low: 0, ...counts } } });

describe('.ci/audit.js', () => {
  it('fails when there are known vulnerabilities, and names the packages', async () => {
    const { status, line } = await audit(counted({ high: 1, low: 2 }, { leaky: {}, weak: {} }));
    expect(line).to.equal('audit: FAILED, known vulnerabilities: 1 high, 2 low (leaky, weak)');
    expect(status).to.equal(1);
  });

  it('passes when there are none', async () => {
    const { status, line } = await audit(counted({}));
    expect([status, line]).to.deep.equal([
      0,
      'audit: no known vulnerabilities in what the service depends on',
    ]);
  });

  it('says that nothing was checked when the registry answers no audits', async () => {
    for (const [answer, reason] of [
      [JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 }), '405 Method Not Allowed'],
      ['', 'npm audit'],
    ] as const) {
      const { status, line } = await audit(answer);
      expect(line).to.include('audit: NOT CHECKED for known vulnerabilities').and.to.include(reason);
      expect(status).to.equal(0);
    }
  });
});
