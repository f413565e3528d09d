/** `annal show`, `history`, `record`, `verify` and `rebuild` against the real service. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { isObject } from '#src/shared/json/json.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Answer, annal, type Service, startService } from '#test/support/service.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/annal.js', import.meta.url));

/** Runs the command line as a person would: with text output, from a different folder, in a separate process. */
function start(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [LAUNCHER, ...args],
      { cwd: tmpdir(), env: { ...process.env, DATABASE_URL: '', ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      },
    );
  });
}

/** Runs the command line in this process, for cases in which a separate process would test nothing more. */
const run = (args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandOutcome> =>
  runCommand(args, { DATABASE_URL: '', ...env });

describe('the command line', () => {
  let service: Service;
  let id: string;
  const versions: string[] = [];

  const at = (answer: Answer): string => {
    const { meta } = answer.json;
    return isObject(meta) ? String(meta.lastUpdated) : '';
  };

  before(async () => {
    service = await startService();
    const weight = '{"url":"http://example.org/weight","valueDecimal":1.50}';
    const created = await service.fhir('/Patient', {
      method: 'POST',
      body: `{"resourceType":"Patient","extension":[${weight}],"name":[{"family":"First"}]}`,
      headers: { 'X-Service-Author-Type': 'patient', 'X-Service-Source-System': 'Clinic' },
    });
    id = String(created.json.id);
    versions.push(at(created));
    const body = JSON.stringify({ resourceType: 'Patient', id, name: [{ family: 'Second' }] });
    versions.push(at(await service.fhir(`/Patient/${id}`, { method: 'PUT', body })));
    const condition = {
      resourceType: 'Condition',
      subject: { reference: `Patient/${id}` },
      code: { text: 'x' },
    };
    const made = await service.fhir('/Condition', { method: 'POST', body: JSON.stringify(condition) });
    await service.fhir(`/Condition/${String(made.json.id)}`, { method: 'DELETE' });
  });

  after(() => service.stop());

  const here = (): Record<string, string> => ({ DATA_DIR: service.dataDir });

  it('shows a resource, as text for people and as it is served', async () => {
    const shown = await start(['show', id], here());
    expect(shown.stdout).to.contain('\n  "id": ').and.to.contain('"Second"');
    const first = await run(['show', `Patient/${id}/_history/1`, '--json'], here());
    expect(first.stdout).to.equal(`${(await service.fhir(`/Patient/${id}/_history/1`)).text}\n`);
    expect(first.stdout).to.contain('1.50');
    expect(await run(['show', 'Patient/nobody'], here())).to.include({ code: 1, stdout: '' });
  });

  it('prints who wrote which version', async () => {
    const versionsOf = async (of: string): Promise<unknown[]> => {
      const { json } = await annal(service, ['history', of]);
      return isObject(json) && Array.isArray(json.versions) ? json.versions : [];
    };
    const shown = await versionsOf(`Patient/${id}`);
    expect(shown).to.have.length(2);
    const [second, first] = shown;
    expect(second).to.include({
      version: 2,
      operation: 'UPDATE',
      author_type: 'import',
      recorded: versions[1],
    });
    expect(first).to.include({
      version: 1,
      operation: 'CREATE',
      author_type: 'patient',
      source_system: 'Clinic',
    });
    expect(await versionsOf(id)).to.have.length(4);
    expect((await run(['history', id], here())).stdout).to.contain('DELETE');
  });

  it('rebuilds the record as of a moment', async () => {
    const bundle = async (moment: string): Promise<string> =>
      (await run(['record', id, '--at', moment, '--json'], here())).stdout;
    expect(await bundle(versions[0] ?? ''))
      .to.contain('"First"')
      .and.to.contain('1.50');
    expect(await bundle(versions[1] ?? ''))
      .to.contain('"Second"')
      .and.not.to.contain('"First"');
    expect(await bundle('revision:2')).to.contain('Condition');
    const now = await start(['record', `Patient/${id}`], here());
    expect(now.stdout).to.contain('1 resource, and 1 deleted');
    expect(await run(['record', id, '--at', '2001-01-01'], here())).to.include({ code: 1 });
    const none = await run(['record', id, '--at', 'yesterday'], here());
    expect(none).to.include({ code: 2 });
    expect(none.stderr).to.contain('revision:N');
  });

  itAtFullSize('verifies and rebuilds', async () => {
    const verified = await annal(service, ['verify']);
    expect(verified.code).to.equal(0);
    expect(verified.json).to.include({ clean: true });
    const rebuilt = await start(['rebuild', 'resources'], here());
    expect(rebuilt.code).to.equal(0);
    expect(rebuilt.stdout).to.contain('rebuilt and in service');
    expect((await run(['rebuild', 'nothing'], here())).stderr).to.contain('unknown projection nothing');
    expect((await service.fhir(`/Patient/${id}`)).status).to.equal(200);
  });

  it('sends the key to its own service only', async () => {
    const elsewhere = await run(['show', id, '--url', 'http://127.0.0.1:9'], here());
    expect(elsewhere).to.include({ code: 1, stdout: '' });
    expect(elsewhere.stderr).to.contain('no key for http://127.0.0.1:9');
    const given = await run(['show', id, '--url', `${service.url}/fhir/R4/`, '--key', service.key], {
      DATA_DIR: tmpdir(),
    });
    expect(given.stdout).to.contain('"Second"');
    const named = await run(['show', id, '--url', service.url], {
      DATA_DIR: tmpdir(),
      ANNAL_KEY: service.key,
    });
    expect(named.code).to.equal(0);
    const wrong = await run(['show', id, '--url', service.url, '--key', 'sk_test_wrong'], here());
    expect(wrong.code).to.equal(1);
  });

  itAtFullSize('says so when no service runs', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'annal-none-'));
    try {
      for (const args of [['show', id], ['import', empty], ['record', id], ['verify'], ['rebuild']]) {
        const { code, stdout, stderr } = await run(args, { DATA_DIR: empty });
        expect(code, args.join(' ')).to.equal(1);
        expect(stdout).to.equal('');
        expect(stderr, args.join(' ')).to.match(/^annal: no service .*npm start/);
      }
    } finally {
      await rm(empty, { recursive: true, force: true });
    }
  });

  it('shows a patient by name', async () => {
    expect((await run(['show', 'second'], here())).stdout).to.contain(`"id": "${id}"`);
    const elsewhere = await run(['show', 'second', '--url', service.url], here());
    expect(elsewhere).to.include({ code: 2, stdout: '' });
    expect(elsewhere.stderr).to.contain('pass Type/id, for example');
  });

  it('takes words as they were typed: digits, flags before them, and no values that are missing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'annal-words-'));
    try {
      const out = join(folder, '007');
      expect((await run(['export', id, '--out', out], here())).code).to.equal(0);
      expect(await readdir(folder)).to.deep.equal(['007']);
      const flagged = await run(['import', '--skip-invalid', join(folder, 'none')], here());
      expect(flagged.stderr).to.contain('none: file or folder not found');
      const given = await run(['sql', '--read-only', 'select 1 as one', '--json'], here());
      expect(JSON.parse(given.stdout)).to.deep.equal([{ one: 1 }]);
      expect((await run(['patients', '007'], here())).stdout).to.equal('No patient found.\n');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    for (const [said, ...args] of [
      ['--source-system needs a value', 'import', 'x', '--source-system', ''],
      ['--out needs a value', 'checkpoint', '--out', ''],
      ['--out needs a value', 'checkpoint', '--out='],
      ['--out needs a value', 'checkpoint', '--out'],
      ['--out needs a value', 'checkpoint', '--out', '--json'],
      ['--data-dir needs a value', '--data-dir', ' ', 'verify'],
      ['--command needs a value', 'sql', '--read-only', '-c', ''],
      ['sources must not be empty', 'import', 'x', ''],
      ['--from must not be after --to', 'access-log', '--from', '2026-03-02', '--to', '2026-03-01'],
      [
        '--since must not be after --until',
        ...['takeback', '--project', 'proj_x', '--source-system', 'x'],
        ...['--since', '2026-03-02T00:00:00Z', '--until', '2026-03-01T00:00:00Z'],
      ],
      ['--json takes no value', 'patients', 'second', '--json=yes'],
      ['--port must be a whole number from 1 to 65535', 'webhooks', 'listen', '--port', '1e3'],
      [
        'unknown action lisen of annal webhooks; its action is listen; did you mean `listen`?',
        'webhooks',
        'lisen',
      ],
      ['its actions are load and list; did you mean `load`?', 'terminology', 'lod'],
      ['its actions are allow, withdraw, list and refuse; did you mean `allow`?', 'production', 'alow', 'x'],
      ['name the project: annal production refuse proj_…', 'production', 'refuse'],
      ['--reason belongs to refuse, not to allow', 'production', 'allow', 'x', '--reason', 'y'],
      ['did you mean `history`?', 'help', 'hisotry'],
    ] as const) {
      const { stderr, ...outcome } = await run(args, here());
      expect(outcome, args.join(' ')).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr, args.join(' ')).to.contain(said);
    }
  });

  it('helps, and refuses what it does not understand', async () => {
    const all = (await start(['--help'], {})).stdout;
    for (const command of [
      'import',
      'show',
      'history',
      'record',
      'export',
      'checkpoint',
      'verify',
      'rebuild',
    ]) {
      expect(all).to.contain(`  ${command} `);
      const help = await run([command, '--help'], {});
      expect(help).to.include({ code: 0 });
      expect(help.stdout).to.contain(`annal ${command}`);
    }
    expect((await start(['--version'], {})).stdout).to.match(/^annal\/\d+\.\d+\.\d+/);
    for (const args of [
      ['nonsense'],
      ['import'],
      ['show', id, '--nonsense'],
      ['import', 'x', '--concurrency', '0'],
    ]) {
      expect((await run(args, {})).code, args.join(' ')).to.equal(2);
    }
  });
});
