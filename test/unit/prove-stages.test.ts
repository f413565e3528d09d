/** The table for `npm run prove`: which change triggers which stage, and that no full-size test is left out. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { isIn, touchedStages } from '#test/prove/changed.ts';
import { RUN_ALL, STAGES } from '#test/prove/stages.ts';
import { ROOT } from '#test/support/process.ts';

/** Code without full-size tests, because `npm test` covers all of it. */
const WITHOUT_STAGE = ['src/metrics', 'src/tracing', 'src/v1'];

const named = (...files: string[]): string[] => touchedStages(files).map(({ name }) => name);
const ownTests = STAGES.flatMap(({ run }) => ('tests' in run ? run.tests : []));
/** Tests that run at full size. A stage's settings replace the default, which is full size. */
const atFullSize = STAGES.flatMap(({ run, env = { ANNAL_TEST_SCALE: '1' } }) =>
  'tests' in run && env.ANNAL_TEST_SCALE === '1' ? run.tests : [],
);

describe('the stages of npm run prove', () => {
  it('all run after a change of the kernel, events or projections', () => {
    const all = STAGES.map(({ name }) => name);
    for (const file of [
      'commands/kernel/kernel.ts',
      'src/shared/json/json.ts',
      'src/events/catalog.ts',
      'projections/search/project.ts',
      'package.json',
    ])
      expect(named(file), file).to.deep.equal(all);
  });

  it('run after a change of their code or their tests only', () => {
    expect(named('src/labs/message.ts')).to.include('labs').and.not.include('kill');
    expect(named('src/http/fhir/create.ts')).to.include.members(['kill', 'loop']).and.not.include('labs');
    expect(named('src/http/server/server.ts')).to.include('limits');
    expect(named('test/insight/exam.test.ts')).to.deep.equal(['insight']);
    expect(named('test/browser/consent.test.ts')).to.deep.equal(['pages']);
    expect(named('test/http/rest.test.ts')).to.deep.equal(['workers-h-z']);
    expect(named('docs/audit.md', ['src/labs', 'other/file.ts'].join(''))).to.deep.equal([]);
  });

  it('name files and folders that exist', () => {
    const places = [...STAGES.flatMap(({ touches }) => touches), ...ownTests, ...RUN_ALL, ...WITHOUT_STAGE];
    const missing = places.filter((place) => !existsSync(join(ROOT, place.replace(/[^/]*\*.*$/, ''))));
    expect(missing).to.deep.equal([]);
  });

  it('have every HTTP test once with workers', () => {
    const workers = STAGES.flatMap(({ run, env }) =>
      env?.WORKERS === '2' && 'tests' in run ? [run.tests] : [],
    );
    const times = readdirSync(join(ROOT, 'test/http'))
      .map((name) => `test/http/${name}`)
      .map((file) => workers.filter((tests) => isIn(file, tests)).length);
    expect(new Set(times)).to.deep.equal(new Set([1]));
  });

  it('leave out no folder of code', () => {
    const places = [...STAGES.flatMap(({ touches }) => touches), ...RUN_ALL, ...WITHOUT_STAGE];
    const forgotten = ['commands', 'queries', 'src', 'src/http'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && `${folder}/${entry.name}` !== 'src/http')
        .map(({ name }) => `${folder}/${name}`)
        .filter((path) => !isIn(`${path}/file.ts`, places))
        .filter((path) => !places.some((place) => place.startsWith(`${path}/`))),
    );
    expect(forgotten).to.deep.equal([]);
  });

  it('have every test file that has a full size', () => {
    const forgotten = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
      .map((name) => `test/${name}`)
      .filter((file) => file.endsWith('.test.ts') && !isIn(file, atFullSize))
      .filter((file) => /from '.*\/scale\.ts'/.test(readFileSync(join(ROOT, file), 'utf8')))
      .filter((file) =>
        /\b(scaled|someOf|everyNth|itAtFullSize|describeAtFullSize)\(/.test(
          readFileSync(join(ROOT, file), 'utf8'),
        ),
      );
    expect(forgotten).to.deep.equal([]);
  });
});
