/** Text is never cut within a UUID, and clients' and records' texts are cut in no other way. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { cut } from '#src/shared/cut.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ID = '01932f5e-7a3b-7c4d-8e5f-0a1b2c3d4e5f';

/** Code that runs under a grant: folders, and files directly in `src/http`. */
const FOLDERS = [
  'src/http/rest',
  'src/http/fhir',
  'src/http/api',
  'src/fhir',
  'src/shared',
  'src/v1',
  'src/labs',
];
const MORE = ['src/context', 'queries', 'commands'];

/** Matches cuts from the beginning to a fixed length, or directly within a message. */
const CUT =
  /\.(?:slice|substring|substr)\(0, ?(?:1[1-9]|[2-9]\d|\d{3,}|[A-Z][A-Z_]+)(?: - 1)?\)|\$\{[\w.?]+\.(?:slice|substring|substr)\(0, ?[a-z0-9]\w*\)\}/;

/** Cuts that reveal nothing of a text: the file, part of the line, and the reason. */
const ALLOWED: readonly (readonly [file: string, part: string, why: string])[] = [
  ['src/shared/access/caller.ts', '.slice(0, ', 'digits of a hash'],
  ['src/shared/access/id-exchange.ts', 'record.slice(0, HEAD)', 'the beginning of an id'],
  ['src/fhir/search/keys.ts', '.slice(0, 16)', 'digits of a hash'],
  ['src/shared/time/time.ts', 'instant.slice(0, 19)', 'an instant'],
  ['src/shared/time/day.ts', 'date.slice(0, ', 'a date'],
  ['src/fhir/units/canonical.ts', 'text.slice(0, end)', 'digits of a number'],
  ['src/shared/json/json.ts', 'text.slice(0, outer.open)', 'a part that is parsed'],
  ['src/fhir/search/phonetic.ts', 'words.slice(0, MOST_WORDS)', 'a list'],
  ['src/fhir/validation/nearest-element.ts', 'alternatives.slice(0, LISTED)', 'a list'],
  ['src/fhir/validation/nearest-element.ts', 'word.slice(0, 40)', 'compared with names'],
  ['src/http/api/unknown-names.ts', '.slice(0, 40)', 'compared with names'],
  ['src/http/api/issues.ts', '.keys.slice(0, MAX_FAULTS)', 'a list'],
  ['src/http/api/inputs.ts', 'names.slice(0, MOST)', 'a list'],
  ['src/context/ai-notes.ts', 'slice(0, MOST_OTHERS)', 'a list'],
  ['src/http/key-reads.ts', '.slice(0, ID)', 'an id of the service'],
  ['src/labs/hl7v2/time.ts', 'offset.slice(0, 3)', 'an offset'],
  ['src/v1/lists.ts', '.slice(0, MOST_CODINGS)', 'a list'],
  ['src/v1/phrase.ts', 'characters.slice(0, LONGEST - 1)', 'counts code units'],
  ['src/context/fact.ts', '[...line].slice(0, LONGEST - 1)', 'counts code units'],
  ['src/context/guidance/focus.ts', '.slice(0, 50)', 'a list'],
  ['src/context/warnings.ts', 'code.slice(0, CHEMICAL_GROUP)', 'compared with codes'],
  ['src/context/warnings.ts', 'later.slice(0, NAMED)', 'a list'],
  ['src/context/findings.ts', 'entries.slice(0, NEWEST)', 'a list'],
  ['src/context/manifest.ts', '.slice(0, 24)', 'digits of a hash'],
  ['queries/cursor.ts', '.slice(0, 11)', 'digits of a hash'],
];

function sources(): string[] {
  const below = [...FOLDERS, ...MORE].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => `${folder}/${String(name)}`),
  );
  const http = readdirSync(join(ROOT, 'src/http')).map((name) => `src/http/${name}`);
  return [...below, ...http].map((name) => name.replaceAll('\\', '/')).filter((name) => name.endsWith('.ts'));
}

describe('cuts', () => {
  it('return a text that fits, and the beginning of any other', () => {
    expect([cut('abc', 3), cut('abcd', 3), cut('', 0)]).to.deep.equal(['abc', 'abc', '']);
  });

  it('leave out a UUID that does not fit, in any letter case, also in a longer run', () => {
    for (const id of [ID, ID.toUpperCase()]) {
      for (let most = 4; most < 40; most += 1) expect(cut(`abc ${id} end`, most), `${most}`).to.equal('abc ');
      expect(cut(`abc ${id} end`, 40)).to.equal(`abc ${id}`);
      expect(cut(`dead-beef${id}f-0`, 30)).to.equal('dead-beef');
      expect(cut(`${id}${id}`, 50)).to.equal(id);
    }
  });

  it('contain of every UUID all or nothing, whatever is around it', () => {
    const run = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF-x '), maxLength: 40 });
    fc.assert(
      fc.property(run, fc.uuid(), run, fc.nat(120), (before, id, after, most) => {
        const whole = before + id + after;
        const shown = cut(whole, most);
        expect(whole.startsWith(shown)).to.equal(true);
        expect(shown.length).to.be.at.most(most);
        const isWithin = shown.length > before.length && shown.length < before.length + id.length;
        expect(isWithin && whole !== shown, shown).to.equal(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('of texts of clients and records are made by `cut`', () => {
    const found: string[] = [];
    for (const file of sources())
      for (const [n, line] of readFileSync(join(ROOT, file), 'utf8').split('\n').entries()) {
        const isAllowed = ALLOWED.some(([of, part]) => of === file && line.includes(part));
        if (CUT.test(line) && !isAllowed) found.push(`${file}:${n + 1}: ${line.trim()}`);
      }
    expect(found, 'use cut() of src/shared/cut.ts').to.deep.equal([]);
  });
});
