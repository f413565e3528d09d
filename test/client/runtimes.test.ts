/**
 * The packed client runs the flows in the docs on every Node version that Annal supports, and on Deno and Bun, as part of `npm
 * run prove`.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { type ClientPackage, packClient } from '#test/support/client-package.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { installOnce } from '#test/support/npm-cache.ts';
import { ROOT } from '#test/support/process.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import { runtime, SUPPORTED } from '#test/support/runtimes.ts';
import { describeAtFullSize } from '#test/support/scale.ts';

/** The npm packages of other runtimes for Linux on x64, and the path of each executable. */
const OTHERS: Readonly<Record<string, readonly [name: string, version: string, program: string]>> = {
  Deno: ['@deno/linux-x64-glibc', '2.9.6', 'deno'],
  Bun: ['@oven/bun-linux-x64', '1.4.5', 'bin/bun'],
};
const FLOWS = `
  import { connect } from './examples/connect.ts';
  import { firstApp } from './examples/first-app.ts';
  const [base, key, client, person] = process.argv.slice(2);
  const ask = async (url) => (await fetch(person, { method: 'POST', body: url })).text();
  const { document, timeline } = await firstApp(base, key);
  const { corrected, refused } = await connect(base, client, ask);
  console.log(JSON.stringify([document.status, timeline.length, corrected.valueQuantity.value, refused]));`;

describeAtFullSize('the TypeScript client in other runtimes', () => {
  let service: InProcess;
  let workshop: Workshop;
  let packed: ClientPackage;
  let receiver: Receiver;
  before(async () => {
    [{ service, workshop }, packed, receiver] = await Promise.all([
      startWorkshop(),
      packClient(),
      startReceiver(),
    ]);
    receiver.answer('/person', (response, { body }) => {
      const asked = [
        join(ROOT, 'docs/examples/person.mjs'),
        String(body),
        's-002@patients.example.org',
        'allow',
      ];
      execFile(process.execPath, asked, (_, stdout) => response.end(stdout.trim()));
    });
    await writeFile(join(packed.folder, 'flows.mjs'), await packed.bundle(FLOWS));
  });
  after(async () => {
    await receiver?.stop();
    await stopWorkshop(service);
  });

  async function run(program: string, ...options: string[]): Promise<unknown> {
    const scopes =
      'openid fhirUser launch/patient offline_access patient/Observation.crus patient/Condition.rs';
    const { client_id } = await workshop.register({
      redirect_uris: ['http://localhost:5173/callback'],
      scopes: scopes.split(' '),
    });
    const flows = [
      join(packed.folder, 'flows.mjs'),
      service.url,
      service.key,
      client_id,
      `${receiver.url}/person`,
    ];
    const { stdout } = await promisify(execFile)(program, [...options, ...flows], { timeout: 60_000 });
    return JSON.parse(stdout);
  }
  const SHOWN = ['final', 3, 71.8, 'forbidden'];

  for (const [major, version] of Object.entries(SUPPORTED))
    it(`works in Node ${major}`, async function () {
      const found = await runtime(version);
      if ('missing' in found) return this.skip();
      expect(await run(found.node)).to.deep.equal(SHOWN);
    });

  for (const [name, [source, version, program]] of Object.entries(OTHERS))
    it(`works in ${name}`, async function () {
      if (process.platform !== 'linux' || process.arch !== 'x64') return this.skip();
      const command = ['install', '--no-save', `${source}@${version}`];
      const found = await installOnce(join('annal-runtimes', `${name}-${version}`), command, {});
      if ('missing' in found) return this.skip();
      const options = name === 'Deno' ? ['run', '--allow-all', '--no-config'] : [];
      expect(await run(join(found.folder, 'node_modules', source, program), ...options)).to.deep.equal(SHOWN);
    });
});
