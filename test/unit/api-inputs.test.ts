/** Inputs of the JSON interfaces: what passes, and how every fault is named (decisions.md, section 2). */
import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { parseInputs } from '#src/http/api/inputs.ts';
import { LIST_QUERY, wholeNumber } from '#src/http/api/schemas.ts';
import { Refusal } from '#src/shared/refusal.ts';

const body = z.strictObject({
  name: z.string().min(1).max(10),
  kind: z.enum(['public', 'confidential']).default('public'),
  uris: z.array(z.url()).max(2).optional(),
  owner: z.strictObject({ email: z.email(), age: z.int().min(0) }).optional(),
  value: z.union([z.number(), z.strictObject({ low: z.number(), high: z.number() })]).optional(),
});
const query = z.strictObject({ ...LIST_QUERY, since: z.iso.date().optional() });
const params = z.object({ year: z.string().regex(/^\d{4}$/, 'must be a year') });

const parse = (given: unknown, search = '', path = { year: '2026' }) =>
  parseInputs({ body, query, params }, { params: path, query: new URLSearchParams(search), body: given });

/** `field: code: message` of each fault. */
function faults(given: unknown, search = '', path = { year: '2026' }): string[] {
  try {
    parse(given, search, path);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.kind).to.equal('invalid');
    return error.issues.map(({ expression, code, diagnostics }) => `${expression}: ${code}: ${diagnostics}`);
  }
  return [];
}

describe('inputs of the JSON interfaces', () => {
  it('are given as their schemas say, with defaults', () => {
    const parsed = parse({ name: 'a' }, 'limit=7&since=2026-01-31');
    expect(parsed.body).to.deep.equal({ name: 'a', kind: 'public' });
    expect(parsed.query).to.deep.equal({ limit: 7, since: '2026-01-31' });
    expect(parse({ name: 'a' }).query).to.deep.equal({ limit: 50 });
  });

  it('name a member that is not there as missing, whatever it may hold', () => {
    const wanted = z.strictObject({
      environment: z.enum(['sandbox', 'production']),
      version: z.literal(1),
      value: z.union([z.number(), z.string()]),
    });
    const given = { params: {}, query: new URLSearchParams(), body: {} };
    expect(() => parseInputs({ body: wanted }, given))
      .to.throw(Refusal)
      .with.property('issues')
      .deep.equal(
        ['environment', 'version', 'value'].map((expression) => ({
          code: 'required',
          diagnostics: `${expression} is missing`,
          expression,
        })),
      );
  });

  const cases: readonly (readonly [string, unknown, string, readonly string[]])[] = [
    ['a missing member', {}, '', ['name: required: name is missing']],
    ['a member of another type', { name: 3 }, '', ['name: structure: name must be a string']],
    ['a null', { name: null }, '', ['name: structure: name must be a string']],
    [
      'an unknown member',
      { name: 'a', nme: 1, x: 2 },
      '',
      ['nme: structure: nme is not known', 'x: structure: x is not known'],
    ],
    ['an empty text', { name: '' }, '', ['name: value: name must have at least 1 character']],
    ['a long text', { name: 'a'.repeat(11) }, '', ['name: too-long: name must have at most 10 characters']],
    [
      'another code',
      { name: 'a', kind: 'x' },
      '',
      ['kind: code-invalid: kind must be one of public, confidential'],
    ],
    [
      'an item of a list',
      { name: 'a', uris: ['http://a', 'b'] },
      '',
      ['uris.1: value: uris.1 must be a url'],
    ],
    [
      'a long list',
      { name: 'a', uris: ['http://a', 'http://b', 'http://c'] },
      '',
      ['uris: too-long: uris must have at most 2 items'],
    ],
    [
      'a member further in',
      { name: 'a', owner: { email: 'x', age: -1, z: 0 } },
      '',
      [
        'owner.email: value: owner.email must be an email',
        'owner.age: value: owner.age must be at least 0',
        'owner.z: structure: owner.z is not known',
      ],
    ],
    [
      'a fraction',
      { name: 'a', owner: { email: 'a@b.org', age: 1.5 } },
      '',
      ['owner.age: structure: owner.age must be a whole number'],
    ],
    [
      'none of several forms',
      { name: 'a', value: true },
      '',
      ['value: value: value has none of the forms that are taken'],
    ],
    [
      'the nearest of several forms',
      { name: 'a', value: { low: 1 } },
      '',
      ['value.high: required: value.high is missing'],
    ],
    ['a control character', { name: 'a\u0000' }, '', ['name: value: name holds a control character']],
    ['half a character', { name: 'a\ud800' }, '', ['name: value: name holds half of a surrogate pair']],
    [
      'a control character in the query',
      { name: 'a' },
      'cursor=a%00',
      ['query.cursor: value: query.cursor holds a control character'],
    ],
    ['an unknown parameter', { name: 'a' }, 'lmit=1', ['query.lmit: structure: query.lmit is not known']],
    [
      'a repeated parameter',
      { name: 'a' },
      'limit=1&limit=2',
      ['query.limit: value: query.limit occurs more than once'],
    ],
    [
      'a parameter that is no number',
      { name: 'a' },
      'limit=0x10',
      ['query.limit: value: query.limit must be a whole number'],
    ],
    [
      'a parameter out of range',
      { name: 'a' },
      'limit=201',
      ['query.limit: value: query.limit must be at most 200'],
    ],
    [
      'a parameter called as what every object has',
      { name: 'a' },
      '__proto__=1',
      ['query.__proto__: structure: query.__proto__ is not known'],
    ],
    [
      'a member called so',
      JSON.parse('{"name": "a", "__proto__": {"kind": "x"}}'),
      '',
      ['__proto__: structure: __proto__ is not known'],
    ],
    ['a bad date', { name: 'a' }, 'since=2026-02-30', ['query.since: value: query.since must be a date']],
  ];
  for (const [name, given, search, expected] of cases)
    it(`name ${name}`, () => expect(faults(given, search)).to.deep.equal(expected));

  it('name every fault of path, query and body at once', () => {
    expect(faults({ x: 1 }, 'limit=a', { year: 'now' })).to.deep.equal([
      'path.year: value: path.year must be a year',
      'query.limit: value: query.limit must be a whole number',
      'name: required: name is missing',
      'x: structure: x is not known',
    ]);
  });

  it('may be empty parameters, which count as absent', () => {
    expect(parse({ name: 'a' }, 'limit=&cursor=').query).to.deep.equal({ limit: 50 });
  });

  it('may hold line breaks and tabs', () => {
    expect(faults({ name: 'a\n\tb' })).to.deep.equal([]);
  });

  it('where a route has no schema: nothing, or an empty object', () => {
    const bare = (given: unknown) =>
      parseInputs({}, { params: {}, query: new URLSearchParams(), body: given });
    expect(() => bare(undefined)).not.to.throw();
    expect(() => bare({})).not.to.throw();
    expect(() => bare({ a: 1 })).to.throw(Refusal, 'a is not known');
  });

  it('of any JSON are parsed or refused, never anything else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (given, search) => {
        for (const fault of faults(given, search)) expect(fault).to.match(/: [a-z-]+: .+/s);
      }),
    );
  });

  it('whole numbers are those between their limits', () => {
    const schema = wholeNumber(1, 200, 50);
    fc.assert(
      fc.property(fc.oneof(fc.integer().map(String), fc.string()), (text) => {
        const taken = schema.safeParse(text);
        const is = /^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= 200;
        expect(taken.success).to.equal(is);
        if (taken.success) expect(taken.data).to.equal(Number(text));
      }),
    );
  });
});
