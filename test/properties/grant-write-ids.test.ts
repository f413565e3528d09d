/**
 * Ids in the bodies of writes under a grant. An application reads back what it sent. The owner sees the real id where the
 * pairwise id was sent, and never where the real id was sent (docs/spec/decisions.md, section 1).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { contentOf, GrantWriting } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';

/** A piece of a text. */
type Piece = 'pairwise' | 'PAIRWISE' | 'Pairwise' | 'real' | 'REAL' | 'Real' | 'neither';
const PIECES: readonly Piece[] = ['pairwise', 'PAIRWISE', 'Pairwise', 'real', 'REAL', 'Real', 'neither'];

const piece = fc.constantFrom(...PIECES);
const text = fc.array(fc.oneof(piece, fc.constantFrom('Patient/', ' ', '|', '%2D', 'é', '"', '\\')), {
  minLength: 1,
  maxLength: 5,
});
const body = fc.record({
  note: text,
  narrative: fc.array(piece, { minLength: 1, maxLength: 3 }),
  system: fc.array(piece, { minLength: 1, maxLength: 2 }),
  value: text,
  url: piece,
  extension: text,
  display: text,
  code: text,
});
/** Which characters of the JSON text are written as `\u00xx`; the pattern repeats. */
const escapes = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 });

describe('ids in writes under a grant', () => {
  let on: GrantWriting;
  let allowed: Allowed;
  before(async () => {
    on = await GrantWriting.start();
    allowed = await on.allow(['patient/*.cruds']);
  });
  after(() => on?.stop());

  const mixed = (id: string) =>
    id.replace(/[a-f]/g, (letter, at: number) => (at % 2 === 0 ? letter.toUpperCase() : letter));
  function written(pieces: readonly string[]): string {
    const ids: Record<Piece, string> = {
      pairwise: allowed.patient,
      PAIRWISE: allowed.patient.toUpperCase(),
      Pairwise: mixed(allowed.patient),
      real: on.record,
      REAL: on.record.toUpperCase(),
      Real: mixed(on.record),
      neither: '01890000-0000-7000-8000-000000000000',
    };
    return pieces
      .map((each) => (PIECES.some((known) => known === each) ? ids[each as Piece] : each))
      .join('');
  }
  function resourceOf(sent: typeof body extends fc.Arbitrary<infer T> ? T : never) {
    return on.observation(allowed.patient, 'laboratory', {
      text: {
        status: 'additional',
        div: `<div xmlns="http://www.w3.org/1999/xhtml"><p id="x">${written(sent.narrative)}</p></div>`,
      },
      note: [{ text: `n ${written(sent.note)}` }],
      identifier: [{ system: `urn:x:${written(sent.system)}`, value: `v ${written(sent.value)}` }],
      extension: [
        { url: `https://x.example/${written([sent.url])}`, valueString: `e ${written(sent.extension)}` },
      ],
      code: { text: `c ${written(sent.code)}` },
      performer: [{ display: `d ${written(sent.display)}` }],
    });
  }
  /** Returns JSON with some characters of its strings escaped. */
  function json(value: object, pattern: readonly boolean[]): string {
    let at = 0;
    return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, (quoted) =>
      quoted.replace(/\\.|[A-Za-z0-9-]/g, (one) => {
        at += 1;
        if (one.startsWith('\\') || pattern[at % pattern.length] !== true) return one;
        return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
      }),
    );
  }
  const stringsIn = (value: unknown): string[] =>
    typeof value === 'string'
      ? [value]
      : typeof value === 'object' && value !== null
        ? Object.values(value).flatMap(stringsIn)
        : [];

  it('come back as they were sent, by create, update and transaction', async () => {
    await fc.assert(
      fc.asyncProperty(
        body,
        escapes,
        fc.constantFrom('POST', 'PUT', 'transaction'),
        async (sent, pattern, way) => {
          const resource = resourceOf(sent);
          const answer = await writeBy(way, resource, pattern);
          const { id } = answer;
          const seen = await on.ask(allowed, `/Observation/${id}`);
          expect(contentOf(seen.text)).to.deep.equal(JSON.parse(JSON.stringify(resource)));
          const owner = await on.service.fhir(`/Observation/${id}`);
          const [mine, theirs] = [stringsIn(contentOf(seen.text)), stringsIn(contentOf(owner.text))];
          expect(theirs).to.have.length(mine.length);
          for (const [n, own] of mine.entries()) {
            const other = theirs[n] ?? '';
            // Where the application's text contains the pairwise id, the owner's text contains the real id. Where the
            // application's text contains the real id, in upper or lower case, the owner's text contains neither.
            const expected = own
              .replaceAll(new RegExp(on.record, 'gi'), '?'.repeat(36))
              .replaceAll(allowed.patient, on.record)
              .replaceAll(allowed.patient.toUpperCase(), on.record.toUpperCase());
            expect(other).to.have.length(expected.length);
            for (let at = 0; at < other.length; at += 1)
              if (expected[at] !== '?') expect(other[at], `${own} → ${other}`).to.equal(expected[at]);
            for (
              let at = expected.indexOf('?'.repeat(36));
              at >= 0;
              at = expected.indexOf('?'.repeat(36), at + 36)
            )
              expect(other.slice(at, at + 36).toLowerCase()).not.to.be.oneOf([on.record, allowed.patient]);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  async function writeBy(
    way: string,
    resource: object,
    pattern: readonly boolean[],
  ): Promise<{ id: string }> {
    if (way === 'transaction') {
      const bundle = {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [{ resource, request: { method: 'POST', url: 'Observation' } }],
      };
      const made = await on.ask(allowed, '/', {
        method: 'POST',
        headers: { Prefer: 'return=representation' },
        body: json(bundle, pattern),
      });
      expect(made.status, made.text).to.equal(200);
      const { entry } = JSON.parse(made.text) as { entry: { resource: { id: string } }[] };
      expect(contentOf(JSON.stringify(entry[0]?.resource))).to.deep.equal(
        JSON.parse(JSON.stringify(resource)),
      );
      return { id: entry[0]?.resource.id ?? '' };
    }
    const made = await on.ask(allowed, '/Observation', { method: 'POST', body: json(resource, pattern) });
    expect(made.status, made.text).to.equal(201);
    const id = String(made.json.id);
    if (way === 'POST') {
      expect(contentOf(made.text)).to.deep.equal(JSON.parse(JSON.stringify(resource)));
      return { id };
    }
    const put = await on.ask(allowed, `/Observation/${id}`, {
      method: 'PUT',
      body: json({ ...resource, id, status: 'final', issued: '2026-01-01T00:00:00Z' }, pattern),
    });
    expect(put.status, put.text).to.equal(200);
    const back = await on.ask(allowed, `/Observation/${id}`, {
      method: 'PUT',
      body: json({ ...resource, id }, pattern),
    });
    expect(back.status, back.text).to.equal(200);
    return { id };
  }

  it('are quoted in refusals as they were sent', async () => {
    await fc.assert(
      fc.asyncProperty(text, escapes, async (sent, pattern) => {
        const wrong = written(sent);
        const refused = await on.ask(allowed, '/Observation', {
          method: 'POST',
          body: json(
            on.observation(allowed.patient, 'laboratory', { status: wrong.slice(0, 60), [`x${wrong}`]: 1 }),
            pattern,
          ),
        });
        expect(refused.status).to.equal(422);
        const real = refused.text.toLowerCase().split(on.record).length - 1;
        const own = refused.text.split(allowed.patient).length - 1;
        // No id appears that wasn't sent.
        if (!wrong.toLowerCase().includes(on.record)) expect(real, refused.text).to.equal(0);
        if (!wrong.toLowerCase().includes(allowed.patient)) expect(own, refused.text).to.equal(0);
      }),
      { numRuns: 40 },
    );
  });
});
