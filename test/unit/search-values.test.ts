import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { decodeCursor, encodeCursor } from '#queries/cursor.ts';
import { bounds, parsePrefixedDate } from '#queries/search/predicates/dates.ts';
import { parseRaw, split, unescaped } from '#queries/search/raw.ts';
import { parsePeriod } from '#src/fhir/search/period.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toInstant, toMicros } from '#src/shared/time/time.ts';

const period = (text: string): string => {
  const found = parsePeriod(text);
  return found === undefined ? 'none' : `${toInstant(found.from)} ${toInstant(found.to)}`;
};

describe('dates in searches', () => {
  it('stand for the period of their precision, UTC without an offset', () => {
    for (const [text, from, to] of [
      ['2024', '2024-01-01T00:00:00.000000Z', '2025-01-01T00:00:00.000000Z'],
      ['2024-12', '2024-12-01T00:00:00.000000Z', '2025-01-01T00:00:00.000000Z'],
      ['2024-02-29', '2024-02-29T00:00:00.000000Z', '2024-03-01T00:00:00.000000Z'],
      ['2024-05-01T10:30', '2024-05-01T10:30:00.000000Z', '2024-05-01T10:31:00.000000Z'],
      ['2024-05-01T10:30:15+02:00', '2024-05-01T08:30:15.000000Z', '2024-05-01T08:30:16.000000Z'],
      ['2024-05-01T10:30:15 02:00', '2024-05-01T08:30:15.000000Z', '2024-05-01T08:30:16.000000Z'],
      ['2024-05-01T10:30:15.5Z', '2024-05-01T10:30:15.500000Z', '2024-05-01T10:30:15.600000Z'],
      ['2024-05-01T10:30:15.123456Z', '2024-05-01T10:30:15.123456Z', '2024-05-01T10:30:15.123457Z'],
    ] as const) {
      expect(period(text), text).to.equal(`${from} ${to}`);
    }
    expect(parsePeriod('9999')?.to).to.be.greaterThan(parsePeriod('9999')?.from ?? Number.NaN);
  });

  it('are refused when the calendar does not know them', () => {
    for (const text of [
      '',
      '24',
      '2023-02-29',
      '2024-13',
      '2024-1-1',
      '2024-01-01T25:00',
      '2024-01-01T10',
      'now',
    ]) {
      expect(period(text), text).to.equal('none');
    }
  });

  it('compare by prefix as R4 says of moments', () => {
    const of = (text: string) => {
      const { prefix, period: found } = parsePrefixedDate('_lastUpdated', text);
      return bounds(prefix, found, toMicros('2024-01-11T00:00:00Z'));
    };
    const from = toMicros('2024-01-01T00:00:00Z');
    const to = toMicros('2024-01-02T00:00:00Z');
    expect(of('2024-01-01')).to.deep.equal({ from, to });
    expect(of('ne2024-01-01')).to.deep.equal({ outside: { from, to } });
    expect([of('gt2024-01-01'), of('sa2024-01-01')]).to.deep.equal([{ from: to }, { from: to }]);
    expect([of('lt2024-01-01'), of('eb2024-01-01')]).to.deep.equal([{ to: from }, { to: from }]);
    expect([of('ge2024-01-01'), of('le2024-01-01')]).to.deep.equal([{ from }, { to }]);
    const day = to - from;
    expect(of('ap2024-01-01')).to.deep.equal({ from: from - day, to: to + day });
    expect(() => of('xx2024')).to.throw(Refusal, '_lastUpdated');
  });

  it('that are finer than a microsecond lie within it', () => {
    const of = (prefix: string) => {
      const text = `${prefix}2024-01-01T00:00:00.1234567Z`;
      const { prefix: found, period } = parsePrefixedDate('_lastUpdated', text);
      return bounds(found, period, 0);
    };
    const from = toMicros('2024-01-01T00:00:00.123456Z');
    for (const prefix of ['lt', 'le', 'eb']) expect(of(prefix), prefix).to.deep.equal({ to: from + 1 });
    for (const prefix of ['gt', 'ge', 'sa']) expect(of(prefix), prefix).to.deep.equal({ from: from + 1 });
    expect(of('eq')).to.deep.include({ from, to: from + 1 });
    // Trailing zeros don't change the value.
    const zeros = parsePrefixedDate('_lastUpdated', 'lt2024-01-01T00:00:00.1234560000000Z');
    expect(bounds(zeros.prefix, zeros.period, 0)).to.deep.equal({ to: from });
  });

  it('contain the moment that they were cut from (property)', () => {
    const moment = fc.integer({
      min: toMicros('1900-01-01T00:00:00Z'),
      max: toMicros('2199-12-31T00:00:00Z'),
    });
    fc.assert(
      fc.property(moment, fc.constantFrom(4, 7, 10, 19, 21, 23, 26), (micros, length) => {
        const cut = toInstant(micros).slice(0, length);
        const found = parsePeriod(length > 10 ? `${cut}Z` : cut);
        expect(found?.from).to.be.at.most(micros);
        expect(found?.to).to.be.greaterThan(micros);
      }),
    );
  });
});

describe('raw search parameters', () => {
  it('are names, modifiers and alternatives; empty ones do not count', () => {
    const query = new URLSearchParams('a=1,2&a=3&b:exact=x&c=&d=,&e=%5C%2C');
    expect(parseRaw(query)).to.deep.equal([
      { name: 'a', values: ['1', '2'], text: '1,2' },
      { name: 'a', values: ['3'], text: '3' },
      { name: 'b', modifier: 'exact', values: ['x'], text: 'x' },
      { name: 'e', values: ['\\,'], text: '\\,' },
    ]);
    expect(() => parseRaw(new URLSearchParams('a=%00'))).to.throw(Refusal, 'NUL');
  });

  it('give back any text that was escaped (property)', () => {
    const escaped = (text: string) => text.replaceAll(/[\\,|$]/g, '\\$&');
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', ',', '|', '$', '\\', 'é') }), { minLength: 1 }),
        (texts) => {
          for (const separator of [',', '|', '$'] as const) {
            expect(split(texts.map(escaped).join(separator), separator).map(unescaped)).to.deep.equal(texts);
          }
        },
      ),
    );
  });
});

describe('cursors', () => {
  const schema = z.tuple([z.int(), z.string()]);

  it('come back as they were (property)', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.string(), (key, id) => {
        const cursor = encodeCursor([key, id]);
        expect(cursor).to.match(/^[\w-]+$/);
        expect(decodeCursor(cursor, schema)).to.deep.equal([key, id]);
      }),
    );
  });

  it('that nobody made here are refused, whatever they are (property)', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => decodeCursor(text, z.tuple([z.literal('never')]))).to.throw(Refusal, '_cursor');
      }),
    );
  });
});

describe('the values of a search', () => {
  it('are a thousand at most, over all its parameters', () => {
    const many = (count: number) => Array.from({ length: count }, () => 'a').join(',');
    expect(parseRaw(new URLSearchParams({ identifier: many(999), _id: 'a' }))).to.have.length(2);
    expect(() => parseRaw(new URLSearchParams({ identifier: many(70_000) })))
      .to.throw(Refusal)
      .that.includes({ kind: 'malformed' });
    expect(() => parseRaw(new URLSearchParams({ identifier: many(999), _id: 'a,b' }))).to.throw('_id');
  });
});
