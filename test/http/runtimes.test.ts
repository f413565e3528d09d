/**
 * The service on each supported major Node version other than the one that runs the tests. It starts on an empty DATA_DIR,
 * writes, reads, searches, verifies and stops. Its sources can also be loaded where no bundle can be stored.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { type Json, parseJson } from '#src/shared/json/json.ts';
import { eventually, freePort, ROOT, startProgram } from '#test/support/process.ts';
import { runtime, SUPPORTED } from '#test/support/runtimes.ts';
import { someOf } from '#test/support/scale.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const major = (version: string): number => Number.parseInt(version, 10);
const resource = z.object({ id: z.string() });
const bundle = z.object({ total: z.number(), entry: z.array(z.object({ resource })) });
const engines = z.object({ engines: z.object({ node: z.string() }) });

describe('on other versions of Node', () => {
  after(removeTemporaryFolders);

  it('are those that package.json names', async () => {
    const { node } = engines.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))).engines;
    const named = node.split(' || ').map((range) => major(range.replace(/^\D+/, '')));
    expect(named).to.deep.equal(Object.values(SUPPORTED).map(major));
    const image = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
    expect(image).to.contain(`FROM node:${Math.max(...named)}-slim`);
  });

  for (const version of someOf(Object.values(SUPPORTED), 0)) {
    if (major(version) === major(process.versions.node)) continue;
    it(`the service runs on Node ${version}`, async function () {
      const found = await runtime(version);
      if ('missing' in found) {
        console.log(`    Node ${version} was not tested: ${found.missing}`);
        return this.skip();
      }
      await smoke(found.node, version);
    });
  }
});

/** Starts a service with its own database, uses it and stops it. */
async function smoke(node: string, version: string): Promise<void> {
  const env = {
    DATA_DIR: await temporaryFolder(),
    PORT: String(await freePort()),
    SANDBOX_PATIENTS: '0',
    LOG_LEVEL: 'warn',
  };
  expect((await outcome(node, ['--version'])).stdout.trim()).to.equal(`v${version}`);
  // Only the newest version does this, because it takes long, and tsx is the only difference from a start with a bundle.
  if (version === Object.values(SUPPORTED).at(-1)) {
    const sources = await outcome(node, ['--import', 'tsx', '-e', `import('./src/cli/main.ts')`]);
    expect(sources, 'the sources through tsx').to.deep.include({ code: 0, stderr: '' });
  }

  const service = startProgram(node, ['bin/start.js'], env);
  try {
    await service.line('ready');
    const base = `http://127.0.0.1:${env.PORT}`;
    expect((await fetch(`${base}/health/ready`)).status).to.equal(200);
    const quickstart = z.object({ sandbox_key: z.string() });
    const file = await readFile(join(env.DATA_DIR, 'quickstart.json'), 'utf8');
    const { sandbox_key } = quickstart.parse(JSON.parse(file));
    const call = (path: string, body?: Json): Promise<unknown> =>
      answer(`${base}/fhir/R4${path}`, sandbox_key, body);

    const patient = resource.parse(
      await call('/Patient', { resourceType: 'Patient', name: [{ family: 'Ito' }] }),
    );
    const observation = resource.parse(
      await call('/Observation', {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: 'http://loinc.org', code: '8867-4' }] },
        subject: { reference: `Patient/${patient.id}` },
        valueQuantity: { value: 72, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
      }),
    );
    expect(resource.parse(await call(`/Observation/${observation.id}`)).id).to.equal(observation.id);
    const search = `/Observation?patient=${patient.id}&code=8867-4&value-quantity=ge70|http://unitsofmeasure.org|/min`;
    const { total, entry } = bundle.parse(await call(search));
    expect([total, entry[0]?.resource.id]).to.deep.equal([1, observation.id]);

    const verified = await outcome(node, ['bin/annal.js', 'verify'], env);
    expect(verified.code, verified.stderr).to.equal(0);
    expect(verified.stdout).to.match(/^\d+ events in \d+ streams: /);
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
  }
  expect(await service.ended, service.stderr()).to.equal(0);
  expect(service.stderr()).not.to.match(/Warning|"level":"(?:warn|error|fatal)"/);
  await eventually(() =>
    fetch(`http://127.0.0.1:${env.PORT}/`).then(
      () => false,
      () => true,
    ),
  );
}

/** Runs a command until it exits. */
async function outcome(
  node: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const program = startProgram(node, args, env);
  const code = await program.ended;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
}

/**
 * Returns a response's body.
 * @throws Error if the response isn't a success
 */
async function answer(url: string, key: string, body: Json | undefined): Promise<unknown> {
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/fhir+json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return parseJson(text).value;
}
