/** Replacing a Patient's ids with each other (docs/spec/decisions.md, section 1). */
import { expect } from 'chai';
import fc from 'fast-check';
import { withPlainIds } from '#src/shared/access/encoded-ids.ts';
import { IdExchange } from '#src/shared/access/id-exchange.ts';

const KEY = Buffer.alloc(32, 7);
const RECORD = '01932f5e-7a3b-7c4d-8e5f-0a1b2c3d4e5f';
const PATIENT = 'f3a9c1d2-5b6e-8f70-a1b2-c3d4e5f60718';
const ids = new IdExchange({ record: RECORD, patient: PATIENT }, KEY);
const hidden = ids.inward(RECORD);

/** Generates a text that contains either id, in any letter case, whole or truncated. */
const texts = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom(
        RECORD,
        PATIENT,
        RECORD.toUpperCase(),
        PATIENT.toUpperCase(),
        mixed(RECORD),
        RECORD.slice(0, 20),
        '-',
        'a',
      ),
    ),
  )
  .map((parts) => parts.join(' '));

function mixed(id: string): string {
  return [...id].map((one, at) => (at % 2 === 0 ? one.toUpperCase() : one)).join('');
}

describe('the exchange of ids', () => {
  it('makes the pairwise id of a request the real one, and the real one an id that nobody has', () => {
    expect(ids.inward(PATIENT)).to.equal(RECORD);
    expect(ids.inward(`Patient/${PATIENT}/_history/1`)).to.equal(`Patient/${RECORD}/_history/1`);
    expect(ids.inward(PATIENT.toUpperCase())).to.equal(RECORD.toUpperCase());
    expect(ids.inward(mixed(PATIENT))).to.equal(mixed(PATIENT));
    for (const sent of [RECORD, RECORD.toUpperCase(), mixed(RECORD)]) {
      const inside = ids.inward(`a ${sent} b`);
      expect(inside.toLowerCase()).not.to.contain(RECORD).and.not.to.contain(PATIENT);
      expect(inside).to.equal(`a ${sent === RECORD ? hidden : inside.slice(2, -2)} b`);
      expect(ids.outward(inside)).to.equal(`a ${sent} b`);
    }
  });

  it('makes the hidden id one of the same form', () => {
    for (const [place, character] of [...hidden].entries()) {
      const real = RECORD.charAt(place);
      expect(/\d/.test(character), hidden).to.equal(/\d/.test(real));
      expect(character === real).to.equal(place < 15 || place === 19 || real === '-');
    }
    const other = new IdExchange({ record: RECORD, patient: PATIENT.replace('f', 'e') }, KEY);
    expect(other.inward(RECORD)).not.to.equal(hidden);
    const otherKey = new IdExchange({ record: RECORD, patient: PATIENT }, Buffer.alloc(32, 8));
    expect(otherKey.inward(RECORD)).not.to.equal(hidden);
  });

  it('has no real id in what leaves, in any letter case', () => {
    for (const kept of [RECORD, RECORD.toUpperCase(), mixed(RECORD)]) {
      const seen = ids.outward(`<a href="Patient/${kept}">${kept}</a>`);
      expect(seen.toLowerCase()).not.to.contain(RECORD);
      expect(seen.toLowerCase()).to.contain(PATIENT);
    }
    expect(ids.outward(RECORD.toUpperCase())).to.equal(PATIENT.toUpperCase());
    // This id was written into the record by someone.
    expect(ids.outward(PATIENT)).to.equal(PATIENT);
  });

  it('reads percent-encoded ids where a text will be decoded', () => {
    const whole = (id: string): string =>
      [...id].map((one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`).join('');
    for (const encoded of [whole(PATIENT), PATIENT.replaceAll('-', '%2d'), `%66${PATIENT.slice(1)}`])
      expect(ids.inwardUrl(`Patient/${encoded}?a=%20`)).to.equal(`Patient/${RECORD}?a=%20`);
    expect(ids.inwardUrl(whole(RECORD))).to.equal(hidden);
    expect(ids.inwardUrl(whole(RECORD.toUpperCase()))).to.equal(ids.inward(RECORD.toUpperCase()));
    expect(ids.inwardUrl(`Patient/${PATIENT}`)).to.equal(`Patient/${RECORD}`);
    // Other ids are decoded in the same way, and nothing else is decoded, so the real id can't be distinguished from other
    // ids.
    const other = RECORD.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    expect(ids.inwardUrl(`x%20${whole(other)}%2F`)).to.equal(`x%20${other}%2F`);
    const beside = `00000000-0000-7000-8000-0000`;
    for (const id of [RECORD, other])
      for (const sent of [`%3${id.slice(0, 1)}${id.slice(1)}`, whole(id)])
        expect(ids.outward(ids.inwardUrl(`http://x/${beside}${sent}`))).to.equal(`http://x/${beside}${id}`);
  });

  it('decodes every UUID alike, and nothing else', () => {
    const other = '5a1b2c3d-0000-4000-8000-0a1b2c3d4e5f';
    for (const [text, plain] of [
      [`a%20%35${other.slice(1)}%30%41`, `a%20${other}%30%41`],
      [`%61-${other.slice(0, 20)}`, `%61-${other.slice(0, 20)}`],
      [`%40${other.slice(1)}`, `%40${other.slice(1)}`],
      // The percent sign would encode a character together with the digits after it.
      [`0%%35${other.slice(1)}`, `0%25${other}`],
      [`%%4x %35${other.slice(1)}`, `%%4x ${other}`],
      // The end of one id is the beginning of another.
      [`${other.slice(0, 35)}%66${other.slice(8)}`, `${other}${other.slice(8)}`],
    ] as const) {
      expect(withPlainIds(text)).to.equal(plain);
      expect(ids.outward(ids.inwardUrl(text))).to.equal(plain);
    }
  });

  it('leaves no encoded text that is the real id once it is decoded, unless it was the pairwise one', () => {
    const decoded = (text: string) => new URLSearchParams(`a=${text}`).get('a') ?? '';
    const encode = (text: string, flags: readonly number[]) =>
      [...text]
        .map((one, at) => (flags[at % flags.length] === 0 ? `%${one.charCodeAt(0).toString(16)}` : one))
        .join('');
    const piece = fc.constantFrom('%', '0', '%3', '%33', '%4', '-', 'f', '31', 'R', 'R1', 'R2', 'H', 'T');
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(5), { minLength: 1, maxLength: 9 }),
        (pieces, flags) => {
          const parts: Record<string, string> = {
            R: RECORD,
            R1: RECORD.slice(1),
            R2: RECORD.slice(2),
            H: RECORD.slice(0, 29),
            T: `${RECORD.slice(30)}-0000-4000-8000-000000000000`,
          };
          const text = pieces.map((one) => (one in parts ? encode(parts[one] ?? '', flags) : one)).join('');
          const inside = ids.inwardUrl(text);
          expect(inside).not.to.contain(RECORD);
          expect(decoded(inside)).not.to.contain(RECORD);
          expect(decoded(withPlainIds(text))).to.equal(decoded(text));
          expect(ids.outward(inside)).to.equal(withPlainIds(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('exchanges the real id without its first digits, which an encoding may end with', () => {
    for (const cut of [RECORD.slice(1), RECORD.slice(2)]) {
      const inside = ids.inward(`@${cut}`);
      expect(inside).to.equal(`@${hidden.slice(-cut.length)}`);
      expect(ids.outward(encodeURIComponent(inside))).to.equal(`%40${cut}`);
    }
    // The owner wrote it.
    expect(ids.outward(`@${RECORD.slice(2)}`)).to.equal(`@${RECORD.slice(2)}`);
  });

  it('leaves other ids of the same time as they are', () => {
    const sibling = `${RECORD.slice(0, 20)}abc-0a1b2c3d4e5f`;
    expect(ids.outward(`${sibling} ${sibling}x`)).to.equal(`${sibling} ${sibling}x`);
    expect(ids.inward(sibling)).to.equal(sibling);
  });

  it('finds an id that follows the beginning of one', () => {
    for (let length = 1; length < 36; length += 1) {
      const seen = ids.outward(RECORD.slice(0, length) + RECORD);
      expect(seen).to.equal(RECORD.slice(0, length) + PATIENT);
    }
  });

  it('gives every client back what it sent, and nobody a real id that they did not send', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const inside = ids.inward(text);
        expect(inside.length).to.equal(text.length);
        expect(inside).not.to.contain(PATIENT);
        expect(ids.outward(inside)).to.equal(text);
      }),
    );
  });
});
