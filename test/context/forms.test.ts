/**
 * Compares the hashes of contexts for records that never change. If an answer changes, `FORM` must change, so that `annal
 * context` can tell which rules produced an answer (docs/context.md, "Reproducing a context").
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { buildAnswer } from '#src/context/answer.ts';
import { makeExcerpts } from '#src/context/excerpt.ts';
import { makeContext } from '#src/context/make.ts';
import { FORM } from '#src/context/manifest.ts';
import { openRecord, versionReference } from '#src/context/record.ts';
import type { ContextRequest } from '#src/context/request.ts';
import type { Authored } from '#src/sandbox/synthetic.ts';
import { currentOf } from './records.ts';

const TODAY = '2026-11-22';
/** Maps a form to the SHA-256 of its answers. */
const ANSWERS = new URL('./forms/answers.json', import.meta.url);
const RECORDS = new URL('./forms/records.json.gz', import.meta.url);

const ASKED: readonly Partial<ContextRequest>[] = [
  {},
  { task: 'medication review', question: 'Is the potassium safe?', budget_tokens: 600 },
  { task: 'follow-up: diabetes', needs: ['labs:4548-4', 'vitals', 'timeline:180d'], window_days: 400 },
  { task: 'acute visit', format: 'structured', budget_tokens: 300 },
  { task: 'referral letter', needs: ['conditions:E11', 'medications'], budget_tokens: 20_000 },
];

/** Makes all answers for one record, one after another. */
async function answersOf(patient: string, resources: readonly Authored[]): Promise<object[]> {
  const current = currentOf(resources);
  const authors = new Map(
    resources.map(({ type, id, author }) => [
      versionReference({ type, id, version: 1 }),
      { authorType: author.type, source: author.sourceSystem },
    ]),
  );
  const byAi = new Map(
    [...authors].flatMap(([version, { authorType }]) => (authorType === 'ai' ? [[version, undefined]] : [])),
  );
  const bodies = new Map(current.map((version) => [versionReference(version), version.body]));
  const answers: object[] = [];
  for (const more of ASKED) {
    const ask: ContextRequest = { needs: [], budget_tokens: 2_000, format: 'text', ...more };
    const made = await makeContext(
      {
        opened: openRecord(makeExcerpts(current), byAi),
        directory: () => Promise.resolve([]),
        displays: (codes) =>
          Promise.resolve(new Map(codes.map(({ system, code }) => [`${system}|${code}`, `Name of ${code}`]))),
        authors: () => Promise.resolve(authors),
        bodies: () => Promise.resolve(bodies),
        replaced: () => Promise.resolve(new Map()),
        covered: () => 'all',
      },
      ask,
      TODAY,
    );
    const ground = { patient, at: `${TODAY}T00:00:00Z`, day: TODAY, madeFor: '', version: '0.0.0' };
    answers.push({ ...buildAnswer(made, ask, ground).body, manifest_id: '' });
  }
  return answers;
}

describe('the form of contexts', () => {
  it('is another one when an answer is another one', async () => {
    const records = JSON.parse(gunzipSync(readFileSync(RECORDS)).toString()) as Record<string, Authored[]>;
    const hash = createHash('sha256');
    for (const resources of Object.values(records)) {
      const patient = resources.find(({ type }) => type === 'Patient')?.id ?? '';
      for (const answer of await answersOf(patient, resources)) hash.update(JSON.stringify(answer));
    }
    const now = hash.digest('hex');
    const known = existsSync(ANSWERS)
      ? (JSON.parse(readFileSync(ANSWERS, 'utf8')) as Record<string, string>)
      : {};
    // The hash of a known form is never overwritten: if answers change, a new form is needed.
    if (process.env.ANNAL_WRITE_FORMS === '1' && known[FORM] === undefined) {
      known[FORM] = now;
      writeFileSync(ANSWERS, `${JSON.stringify(known, null, 2)}\n`);
    }
    expect(
      known[FORM],
      'contexts changed: raise FORM in src/context/manifest.ts, then run ANNAL_WRITE_FORMS=1 npm test -- context/forms',
    ).to.equal(now);
    expect(Math.max(...Object.keys(known).map(Number)), 'FORM is the highest').to.equal(FORM);
  });
});
