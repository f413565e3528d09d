/**
 * The receiver's side: `annal webhooks listen`, and the snippets in docs/webhooks.md, which accept what is sent and nothing
 * else.
 */
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { sign } from '#src/reactions/webhooks/signature.ts';
import { eventually, ROOT, startProgram } from '../support/process.ts';
import { type Service, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const SECRET = 'whsec_abc';
const BODY = '{"id":"evt_ä","data":{"version":2}}';

interface Case {
  readonly why: string;
  readonly secret: string;
  readonly signature: string;
  readonly body: string;
  readonly genuine: boolean;
}

function cases(): Case[] {
  const now = Math.floor(Date.now() / 1000);
  const good = sign(SECRET, BODY, now);
  const base = { secret: SECRET, signature: good, body: BODY, genuine: false };
  return [
    { ...base, why: 'as it was sent', genuine: true },
    { ...base, why: 'a tampered body', body: BODY.replace('2', '3') },
    { ...base, why: 'another secret', secret: 'whsec_abd' },
    { ...base, why: 'too old', signature: sign(SECRET, BODY, now - 310) },
    { ...base, why: 'from the future', signature: sign(SECRET, BODY, now + 310) },
    { ...base, why: 'nearly too old', signature: sign(SECRET, BODY, now - 280), genuine: true },
    { ...base, why: 'another time', signature: good.replace(`t=${now}`, `t=${now - 1}`) },
    { ...base, why: 'no signature', signature: '' },
    { ...base, why: 'no v1', signature: `t=${now}` },
    { ...base, why: 'a short v1', signature: good.slice(0, -2) },
  ];
}

async function snippet(language: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/webhooks.md'), 'utf8');
  const blocks = page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'));
  const code = [...blocks].map(([, block]) => block).find((block) => /is_?genuine/i.test(block ?? ''));
  if (code === undefined) throw new Error(`docs/webhooks.md has no ${language}`);
  return code;
}

describe('receiving webhooks', () => {
  it('by the TypeScript of the documentation', async () => {
    const file = join(await temporaryFolder(), 'receiver.mts');
    await writeFile(file, await snippet('ts'));
    const { isGenuine } = (await import(pathToFileURL(file).href)) as {
      isGenuine(secret: string, signature: string, body: Buffer): boolean;
    };
    for (const { why, secret, signature, body, genuine } of cases())
      expect(isGenuine(secret, signature, Buffer.from(body)), why).to.equal(genuine);
  });

  it('by the Python of the documentation', async function () {
    if (spawnSync('python3', ['--version']).status !== 0) this.skip();
    const file = join(await temporaryFolder(), 'receiver.py');
    const run = `
import json, sys
for case in json.load(open(sys.argv[1])):
    print(is_genuine(case["secret"], case["signature"], case["body"].encode()))
`;
    const all = cases();
    await writeFile(`${file}.json`, JSON.stringify(all));
    await writeFile(file, (await snippet('python')) + run);
    const { stdout } = await promisify(execFile)('python3', [file, `${file}.json`]);
    const answers = stdout.trim().split('\n');
    for (const [index, { why, genuine }] of all.entries())
      expect(answers[index], why).to.equal(genuine ? 'True' : 'False');
  });

  describe('by annal webhooks listen', () => {
    let service: Service;
    before(async () => {
      service = await startService({ env: { SANDBOX_PATIENTS: '0' } });
    });
    after(() => service.stop());

    it('makes an endpoint, prints what comes, and deletes it at the end', async () => {
      const listening = startProgram(
        process.execPath,
        [join(ROOT, 'bin/annal.js'), 'webhooks', 'listen', '--json', '--events', 'resource.created'],
        { DATA_DIR: service.dataDir },
      );
      await eventually(() => listening.stderr().includes('listening at'));
      const endpoints = async () => (await service.fhir(`${service.url}/v1/webhooks`)).json.total;
      expect(Number(await endpoints())).to.equal(1);
      const body = JSON.stringify({ resourceType: 'Patient' });
      const { id } = (await service.fhir('/Patient', { method: 'POST', body })).json;
      const line = JSON.parse(await listening.line('resource.created')) as { genuine: boolean; body: string };
      expect(line.genuine).to.equal(true);
      expect(JSON.parse(line.body)).to.have.nested.property('data.id', id);
      const [, url = ''] = /listening at (\S+) /.exec(listening.stderr()) ?? [];
      const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'Service-Event': 'forged' } });
      expect(forged.status).to.equal(400);
      listening.child.kill('SIGINT');
      expect(await listening.ended).to.equal(0);
      expect(Number(await endpoints())).to.equal(0);
    });
  });
});
