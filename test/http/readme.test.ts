/**
 * The pages for newcomers show what really happens: their commands are run against a fresh service, and the output is
 * compared. With `ANNAL_WRITE_PAGES=1`, the output is written to the pages instead.
 */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Outcome, runSteps, steadier, stepsOf, withOutputs } from '#test/support/pages.ts';
import { eventually, ROOT } from '#test/support/process.ts';
import { someOf } from '#test/support/scale.ts';
import { newDataDir, type Service, startedDataDir, startService } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

/** The service's URL as shown in the pages. */
const SHOWN_URL = 'http://localhost:3000';
/** Settings that the pages leave at their defaults. */
const UNSET = { DATA_DIR: undefined, DATABASE_URL: undefined, ANNAL_KEY: undefined, PORT: undefined };

/**
 * The pages use curl, which nothing else needs, so they are skipped if curl isn't installed. They are also skipped when tests
 * share a log (EVENTSTORE_URL), because they count its contents.
 */
const hasCurl = spawnSync('curl', ['--version'], { stdio: 'ignore' }).status === 0;

const isWriting = process.env.ANNAL_WRITE_PAGES === '1';

/** The pages, in the order in which they run. Pages in one group share a service. */
const PAGES = [
  ['README.md'],
  ['docs/quickstart.md', 'docs/labs.md'],
  ['docs/first-app.md'],
  ['docs/connect.md'],
  ['docs/shared-links.md'],
];
/** Pages whose commands sign in as synthetic patients, and the number of patients for them. */
const SIGNING_IN = new Set(['docs/connect.md', 'docs/shared-links.md']);
const PATIENTS = 3;

/** Creates a folder that looks like the repository and contains one service's data. */
async function cloneWith(dataDir: string): Promise<string> {
  const clone = await temporaryFolder();
  for (const name of await readdir(ROOT)) {
    if (name !== '.annal' && name !== '.git') await symlink(join(ROOT, name), join(clone, name));
  }
  await symlink(dataDir, join(clone, '.annal'));
  return clone;
}

describe('the pages for newcomers', () => {
  before(function () {
    if (!hasCurl || process.env.EVENTSTORE_URL) this.skip();
  });
  after(removeTemporaryFolders);

  for (const pages of isWriting ? PAGES : someOf(PAGES, 1)) {
    describe(pages.join(' and '), () => {
      let service: Service | undefined;
      const ran = new Map<string, { readonly outcomes: readonly Outcome[]; readonly stderr: string }>();

      before(async () => {
        const signsIn = pages.some((page) => SIGNING_IN.has(page));
        const dataDir = signsIn ? await newDataDir() : await startedDataDir();
        const env = signsIn ? { SANDBOX_PATIENTS: String(PATIENTS) } : {};
        const started = await startService({ dataDir, env });
        service = started;
        if (signsIn) {
          await eventually(async () => {
            const found = await started.fhir('/Patient?_summary=count');
            return Number(found.json.total) === PATIENTS;
          });
        }
        const clone = await cloneWith(dataDir);
        for (const page of pages) {
          const steps = stepsOf(await readFile(join(ROOT, page), 'utf8'));
          const { outcomes, stderr } = await runSteps(steps, clone, { ...process.env, ...UNSET });
          ran.set(page, {
            outcomes: outcomes.map(({ stdout, code }) => ({
              stdout: stdout.replaceAll(started.url, SHOWN_URL),
              code,
            })),
            stderr,
          });
        }
      });
      after(() => service?.stop());

      for (const page of pages) {
        it(`shows what the commands of ${page} print`, async () => {
          const steady = { shown: steadier(), printed: steadier() };
          const { outcomes, stderr } = ran.get(page) ?? { outcomes: [], stderr: '' };
          const text = await readFile(join(ROOT, page), 'utf8');
          const steps = stepsOf(text);
          expect(outcomes.length, `steps that were run\n${stderr}`).to.equal(steps.length);
          expect(steps).to.have.length.above(0);
          if (isWriting) {
            const outputs = outcomes.map(({ stdout }) => stdout);
            await writeFile(join(ROOT, page), withOutputs(text, outputs));
            return;
          }
          for (const [index, { line, shown, commands }] of steps.entries()) {
            const { stdout, code } = outcomes[index] ?? { stdout: '', code: -1 };
            const where = `${page}, line ${line}: ${commands}\n${stderr}`;
            expect(code, `exit code of ${where}`).to.equal(0);
            if (shown === undefined) expect(stdout, `nothing is shown of ${where}`).to.equal('');
            else expect(steady.printed(stdout), where).to.equal(steady.shown(shown));
          }
        });
      }
    });
  }
});
