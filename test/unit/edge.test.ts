/** The edge under a grant: requests, responses and cursors (docs/spec/decisions.md, section 1). */
import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '#queries/cursor.ts';
import type { Answer } from '#src/http/answer/answer.ts';
import { type Edge, Edges, edgeKeys } from '#src/http/edge/edge.ts';
import { type Json, parseJson, printJson } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';

const RECORD = '01932f5e-7a3b-7c4d-8e5f-0a1b2c3d4e5f';
const PATIENT = 'f3a9c1d2-5b6e-8f70-a1b2-c3d4e5f60718';
const UPPER = PATIENT.toUpperCase();
const BASE = 'https://annal.example/fhir/R4/';
const FHIR = { 'Content-Type': 'application/fhir+json; charset=utf-8' };

const edges = new Edges(edgeKeys(Buffer.alloc(32, 3)), {
  base: BASE,
  within: async () => new Set(),
});
const edge = edges.of({ grantId: 'grant_a', record: RECORD, patient: PATIENT });
const hidden = edge.inward(RECORD);

/** Parses a text as a body, replaces its ids and prints it. */
function exchanged(text: string, of: Edge = edge): string {
  const { value, exact } = parseJson(text);
  return printJson(of.json(value), exact);
}

describe('the edge', () => {
  describe('of requests', () => {
    it('exchanges ids in names and values of a body, also behind escapes, and keeps digits', () => {
      const escaped = [...PATIENT].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('');
      expect(
        exchanged(
          `{"a":1.50,"id":"${escaped}","div":"<a href=\\"Patient/${PATIENT}\\">${UPPER}</a>","${PATIENT}":["${RECORD}",12345678901234567890]}`,
        ),
      ).to.equal(
        `{"a":1.50,"id":"${RECORD}","div":"<a href=\\"Patient/${RECORD}\\">${RECORD.toUpperCase()}</a>","${RECORD}":["${hidden}",12345678901234567890]}`,
      );
      expect(exchanged(`"${PATIENT}"`)).to.equal(`"${RECORD}"`);
      expect(exchanged(`{"__proto__":{"x":"${PATIENT}"}}`)).to.equal(`{"__proto__":{"x":"${RECORD}"}}`);
    });

    it('reads percent-encoded ids in the URLs of a Bundle', () => {
      const encoded = PATIENT.replaceAll('-', '%2D').replace('f', '%66');
      const bundle = (id: string) =>
        JSON.stringify({
          request: { url: `Observation?subject=${id}`, ifNoneExist: `_id=${id}` },
          fullUrl: id,
        });
      expect(exchanged(bundle(encoded))).to.equal(bundle(RECORD));
    });

    it('gives every body back as it was sent', async () => {
      const text = fc.array(
        fc.oneof(
          fc.string(),
          fc.constantFrom(PATIENT, RECORD, UPPER, RECORD.toUpperCase(), hidden.slice(0, 20)),
        ),
      );
      const body = fc.dictionary(
        text.map((parts) => parts.join('')),
        fc.oneof(
          text.map((parts) => parts.join(' ')),
          fc.double({ noNaN: true }),
          fc.constant(null),
        ),
      );
      await fc.assert(
        fc.asyncProperty(body, async (sent) => {
          const { value } = parseJson(JSON.stringify(sent));
          const inside: Json = await edge.jsonInSlices(value);
          expect(JSON.stringify(inside)).not.to.contain(PATIENT);
          const { body: shown } = await edge.answer({
            status: 200,
            headers: FHIR,
            body: printJson(inside, false),
          });
          expect(shown).to.equal(JSON.stringify(sent));
        }),
      );
    });

    it('exchanges ids in parameters and headers', () => {
      const query = new URLSearchParams(`patient=${PATIENT}&${PATIENT}=1&_id=${RECORD}&_id=2`);
      expect([...edge.query(query)]).to.deep.equal([
        ['patient', RECORD],
        [RECORD, '1'],
        ['_id', hidden],
        ['_id', '2'],
      ]);
      const headers: Record<string, string> = {
        'if-none-exist': `subject=Patient%2F${PATIENT.replaceAll('-', '%2d')}`,
        'x-service-origin-id': `a%2d${PATIENT}`,
      };
      const header = edge.header((name) => headers[name]);
      expect(header('if-none-exist')).to.equal(`subject=Patient%2F${RECORD}`);
      expect(header('x-service-origin-id')).to.equal(`a%2d${RECORD}`);
      expect(header('if-match')).to.equal(undefined);
    });

    it('exchanges what a refusal quotes of a body that cannot be parsed', async () => {
      const parse = () => parseJson(`{"${RECORD}":1,"${RECORD}":2}`);
      expect(() => edge.refusing(parse)).to.throw(Refusal, hidden);
      const refusal = await edge.refusingLater(async () => parse()).catch((error: unknown) => error);
      expect(refusal).to.include({ kind: 'malformed' });
      expect(() =>
        edge.refusing(() => {
          throw new TypeError('bug');
        }),
      ).to.throw(TypeError, 'bug');
    });
  });

  describe('of answers', () => {
    it('exchanges ids in text, bytes and headers, and nothing else', async () => {
      const body = `{"id":"${RECORD}","name":"ü ${RECORD.toUpperCase()}","weight":1.50}`;
      const headers = { ...FHIR, Location: `${BASE}Patient/${RECORD}/_history/1`, ETag: 'W/"1"' };
      for (const sent of [body, Buffer.from(body)]) {
        const seen = await edge.answer({ status: 200, headers, body: sent });
        expect(typeof seen.body).to.equal(typeof sent);
        expect(String(seen.body)).to.equal(`{"id":"${PATIENT}","name":"ü ${UPPER}","weight":1.50}`);
        expect(seen.headers).to.deep.equal({ ...headers, Location: `${BASE}Patient/${PATIENT}/_history/1` });
      }
    });

    it('copies nothing where there is no id', async () => {
      const body = Buffer.from('{"resourceType":"Observation","subject":{"reference":"#a"}}');
      expect((await edge.answer({ status: 200, headers: FHIR, body })).body).to.equal(body);
    });

    it('leaves bytes of documents as they are', async () => {
      const content = { length: 1, open: () => Promise.reject(new Error('not opened')) };
      const headers = { 'Content-Disposition': `attachment; filename="${RECORD}.pdf"` };
      const seen = await edge.answer({ status: 200, headers, content });
      expect(seen.content).to.equal(content);
      expect(seen.headers['Content-Disposition']).to.contain(PATIENT);
    });

    it('finds ids that are cut between the pieces of a stream', async () => {
      const one = JSON.stringify({ id: RECORD, text: `${RECORD.toUpperCase()} ü ${hidden}`, other: 'a-b-1' });
      const whole = Buffer.from(`[${one},${one}]`);
      const expected = await edge.answer({ status: 200, headers: {}, body: whole });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat({ max: whole.length }), { maxLength: 12 }), async (cuts) => {
          const places = [0, ...cuts.sort((a, b) => a - b), whole.length];
          async function* pieces(): AsyncGenerator<Buffer> {
            for (const [n, to] of places.entries()) yield whole.subarray(places[n - 1] ?? 0, to);
          }
          const seen = await edge.answer({ status: 200, headers: {}, stream: pieces() });
          expect(await textOf(seen)).to.equal(String(expected.body));
        }),
      );
    });

    it('leaves references into other records out of bodies and streams', async () => {
      const other = '01932f5e-7a3b-7c4d-8e5f-000000000002';
      const entry = (id: string) => `{"subject":{"reference":"Patient/${id}","display":"ü"},"value":1.50}`;
      const without = '{"subject":{"display":"ü"},"value":1.50}';
      const body = `[${entry(RECORD)},${entry(other)}]`;
      const expected = `[${entry(PATIENT)},${without}]`;
      expect((await edge.answer({ status: 200, headers: FHIR, body })).body).to.equal(expected);
      async function* pieces(): AsyncGenerator<string | Buffer> {
        yield Buffer.from(`[${entry(RECORD)}`);
        yield `,${entry(other)}`;
        yield ']';
      }
      expect(await textOf(await edge.answer({ status: 200, headers: FHIR, stream: pieces() }))).to.equal(
        expected,
      );
    });

    it('exchanges the ids of a long answer', async () => {
      const part = `{"a":"${RECORD}","b":"${'x'.repeat(997)}"},`;
      const body = `[${part.repeat(4_000)}0]`;
      const seen = await edge.answer({ status: 200, headers: FHIR, body });
      expect(seen.body === body.replaceAll(RECORD, PATIENT)).to.equal(true);
    });
  });

  describe('of cursors', () => {
    const schema = z.tuple([z.string(), z.int()]);
    const plain = encodeCursor([RECORD, 7]);
    const opened = (text: string, of = edge): string =>
      of.query(new URLSearchParams({ _cursor: text })).get('_cursor') ?? '';
    const malformed = (text: string) =>
      expect(() => decodeCursor(text, schema)).to.throw(Refusal, 'not a cursor');

    it('encrypts them, the same page in the same way', () => {
      const sealed = edge.cursor(plain);
      expect(sealed)
        .to.match(/^[\w-]+$/)
        .and.to.equal(edge.cursor(plain));
      expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.to.contain(RECORD);
      expect(decodeCursor(opened(sealed), schema)).to.deep.equal([RECORD, 7]);
      const entry = edge.queryOfEntry(new URLSearchParams({ cursor: sealed, _id: RECORD }));
      expect([...entry]).to.deep.equal([
        ['cursor', plain],
        ['_id', RECORD],
      ]);
    });

    it('takes no cursor of an API key, of another grant or installation, cut or altered', () => {
      const sealed = edge.cursor(plain);
      const grant = { grantId: 'grant_b', record: RECORD, patient: PATIENT };
      const elsewhere = new Edges(edgeKeys(Buffer.alloc(32, 4)), {
        base: BASE,
        within: async () => new Set(),
      });
      malformed(opened(plain));
      malformed(opened(sealed, edges.of(grant)));
      malformed(opened(sealed, elsewhere.of({ ...grant, grantId: 'grant_a' })));
      malformed(opened(`${sealed}A`));
      malformed(opened('x'));
      for (let at = 0; at < sealed.length; at += 1) {
        malformed(opened(sealed.slice(0, at) || 'A'));
        malformed(opened(sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)));
      }
    });
  });

  it('is kept for a grant', () => {
    expect(edges.of({ grantId: 'grant_a', record: RECORD, patient: PATIENT })).to.equal(edge);
  });
});

async function textOf({ stream }: Answer): Promise<string> {
  const parts: Buffer[] = [];
  for await (const piece of stream ?? []) parts.push(Buffer.from(piece));
  return Buffer.concat(parts).toString();
}
