/** Inputs to the JSON interfaces: what is accepted, and how every fault is reported (docs/spec/decisions.md, section 2). */
import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { parseInputs } from '#src/http/api/inputs.ts';
import { LIST_QUERY, wholeNumber } from '#src/http/api/schemas.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { refusal } from '#test/support/refusal.ts';

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

/** Returns `field: code: message` for each fault. */
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

  it('name an object by that word, also where its members are free', () => {
    const named = z.strictObject({ names: z.record(z.string(), z.string()) });
    const given = { params: {}, query: new URLSearchParams(), body: { names: [] } };
    expect(() => parseInputs({ body: named }, given))
      .to.throw(Refusal)
      .with.nested.property('issues.0.diagnostics', 'names must be an object');
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

  it('suggest what a field is called here', () => {
    const patient = z.strictObject({
      given: z.string().optional(),
      family: z.string().optional(),
      birth_date: z.string().optional(),
    });
    const said = (body: object): string[] => {
      const given = { params: {}, query: new URLSearchParams(), body };
      return refusal(() => parseInputs({ body: patient }, given)).issues.map(
        ({ diagnostics }) => diagnostics,
      );
    };
    for (const [sent, meant] of [
      ['firstName', 'given'],
      ['last_name', 'family'],
      ['birthDate', 'birth_date'],
      ['DOB', 'birth_date'],
      ['famliy', 'family'],
    ])
      expect(said({ [sent ?? '']: 'x' })).to.deep.equal([
        `unknown field \`${sent}\`; did you mean \`${meant}\`?`,
      ]);
    const none = 'the fields are given, family, birth_date';
    expect(said({ sex: 'x' })).to.deep.equal([`unknown field \`sex\`; ${none}`]);
    expect(said({ ['x'.repeat(1_000_000)]: 1 })).to.deep.equal([
      `unknown field \`${'x'.repeat(60)}\`; ${none}`,
    ]);
  });

  it('take the form of a union that the value comes nearest to', () => {
    const message = z.strictObject({ message: z.string(), source: z.string().optional() });
    const item = z.strictObject({ code: z.string(), value: z.number() });
    const items = z.strictObject({ items: z.array(item).min(1), date: z.string().optional() });
    const days = z.union([z.string().regex(/^a/, 'must be an a'), z.string().regex(/^b/, 'must be a b')]);
    const said = (schema: z.ZodType, body: object): (string | undefined)[] => {
      const given = { params: {}, query: new URLSearchParams(), body };
      return refusal(() => parseInputs({ body: schema }, given)).issues.map(({ expression }) => expression);
    };
    const either = z.union([message, items]).optional();
    const wrong = Array.from({ length: 5 }, () => ({ code: 1, value: 'x', vlaue: 1 }));
    const each = wrong.flatMap((_, n) => ['code', 'value', 'vlaue'].map((name) => `items.${n}.${name}`));
    expect(said(either, { items: wrong })).to.have.members(each);
    expect(said(either, { items: 'x' })).to.deep.equal(['items']);
    expect(said(either, { itms: [], date: 'x' })).to.have.members(['items', 'itms']);
    expect(said(either, { message: 1, source: 'x' })).to.deep.equal(['message']);
    expect(said(either, { source: 'x', items: [] })).to.have.members(['items', 'source']);
    const given = { params: {}, query: new URLSearchParams(), body: { day: 'c' } };
    expect(() => parseInputs({ body: z.strictObject({ day: days }) }, given)).to.throw(
      Refusal,
      'day must be an a, or a b',
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
      [
        'nme: structure: unknown field `nme`; did you mean `name`?',
        'x: structure: unknown field `x`; the fields are name, kind, uris, owner, value',
      ],
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
        'owner.z: structure: unknown field `owner.z`; the fields are email, age',
      ],
    ],
    [
      'a fraction',
      { name: 'a', owner: { email: 'a@b.org', age: 1.5 } },
      '',
      ['owner.age: structure: owner.age must be a whole number'],
    ],
    [
      'a number that is not exact',
      { name: 'a', owner: { email: 'a@b.org', age: 1e20 } },
      '',
      ['owner.age: value: owner.age must be at most 9007199254740991'],
    ],
    [
      'none of several forms',
      { name: 'a', value: true },
      '',
      ['value: value: value must be a number, or an object'],
    ],
    [
      'the nearest of several forms',
      { name: 'a', value: { low: 1 } },
      '',
      ['value.high: required: value.high is missing'],
    ],
    [
      'a member of the form that knows the others',
      { name: 'a', value: { high: 'x', mid: 1, sum: 2 } },
      '',
      [
        'value.low: required: value.low is missing',
        'value.high: structure: value.high must be a number',
        'value.mid: structure: unknown field `value.mid`; the fields are low, high',
        'value.sum: structure: unknown field `value.sum`; the fields are low, high',
      ],
    ],
    ['a control character', { name: 'a\u0000' }, '', ['name: value: name contains a control character']],
    ['half a character', { name: 'a\ud800' }, '', ['name: value: name contains an unpaired surrogate']],
    [
      'a control character in the query',
      { name: 'a' },
      'cursor=a%00',
      ['query.cursor: value: query.cursor contains a control character'],
    ],
    [
      'an unknown parameter',
      { name: 'a' },
      'lmit=1',
      ['query.lmit: structure: unknown query parameter `lmit`; did you mean `limit`?'],
    ],
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
      [
        'query.__proto__: structure: unknown query parameter `__proto__`; the query parameters are limit, cursor, since',
      ],
    ],
    [
      'a member called so',
      JSON.parse('{"name": "a", "__proto__": {"kind": "x"}}'),
      '',
      ['__proto__: structure: unknown field `__proto__`; the fields are name, kind, uris, owner, value'],
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
      'x: structure: unknown field `x`; the fields are name, kind, uris, owner, value',
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
    expect(() => bare({ a: 1 })).to.throw(Refusal, 'unknown field `a`; this request takes no fields');
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
