/** For random scopes, `covers` agrees with a naive interpretation of each scope as a set of accesses. */
import { expect } from 'chai';
import fc from 'fast-check';
import { covers, lettersFor, normalise, PLAIN_SCOPES, parseScopes, type Scope } from '#src/oauth/scopes.ts';
import { randomSeed } from '#test/support/scale.ts';

const TYPES = ['Observation', 'Condition', 'Patient'] as const;
const CODES = ['lab', 'vital'];
const SYSTEMS = ['http://a', 'http://b'];

const letters = fc.subarray([...'cruds'], { minLength: 1 }).map((chosen) => chosen.join(''));
const suffix = fc.oneof(letters, fc.constantFrom('read', 'write', '*'));
const category = fc
  .tuple(fc.option(fc.constantFrom(...SYSTEMS)), fc.constantFrom(...CODES))
  .map(([system, code]) => `?category=${system === null ? '' : `${system}|`}${code}`);
const scope = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom('Observation', 'Condition'), suffix, fc.option(category)),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom('*', 'Patient'), suffix, fc.constant(null)) },
);
const clinical = scope.map(([type, ends, filter]) => `patient/${type}.${ends}${filter ?? ''}`);
const system = fc.constantFrom('system/*.rs', 'system/*.cruds', 'system/*.write');
const names = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: clinical },
      { weight: 1, arbitrary: fc.constantFrom(...PLAIN_SCOPES) },
      { weight: 1, arbitrary: system },
    ),
    { maxLength: 6 },
  )
  .map((all) => all.join(' '));

const parsed = (text: string): Scope[] => {
  const result = parseScopes(text);
  if ('fault' in result) throw new Error(result.fault);
  return result.scopes;
};

/**
 * Returns everything that the scopes allow, as a set of texts. Each text is either a plain scope, or a letter on a resource of
 * a type with one category coding. `Future` stands for a type that will be added later, which only a wildcard covers. In
 * `system/`, `*` is treated as a type.
 */
function allowed(text: string): Set<string> {
  const all = new Set<string>();
  for (const name of text.split(' ').filter(Boolean)) {
    const [, context = '', type = '', ends = '', filter = ''] =
      /^(patient|system)\/([^.]+)\.([a-z*]+)(?:\?category=(.*))?$/.exec(name) ?? [];
    if (type === '') {
      all.add(name);
      continue;
    }
    const [one, two] = filter.split('|');
    const own = { read: 'rs', write: 'cud', '*': 'cruds' }[ends] ?? ends;
    for (const reached of type === '*' ? [...TYPES, 'Future'] : [type])
      for (const letter of own)
        for (const of of [...SYSTEMS, 'http://other', undefined])
          for (const code of [...CODES, 'other']) {
            const within = two === undefined ? filter === '' || code === one : of === one && code === two;
            if (within) all.add([context, reached, letter, of, code].join(' '));
          }
  }
  return all;
}

const within = (narrow: Set<string>, wide: Set<string>): boolean =>
  [...narrow].every((each) => wide.has(each));

describe('random scopes', () => {
  const options = { seed: randomSeed(), numRuns: 1_000 };

  it('cover others exactly if each access of those is theirs', () => {
    let covered = 0;
    fc.assert(
      fc.property(names, names, (registered, asked) => {
        const expected = within(allowed(asked), allowed(registered));
        if (expected && asked !== '') covered += 1;
        expect(covers(parsed(registered), parsed(asked))).to.equal(expected);
      }),
      options,
    );
    expect(covered).to.be.greaterThan(5);
  });

  it('allow the same after normalising, which is stable, sorted and in the v2 form', () => {
    fc.assert(
      fc.property(names, (text) => {
        const normal = normalise(parsed(text));
        expect(allowed(normal.join(' '))).to.deep.equal(allowed(text));
        expect(normalise(parsed(normal.join(' ')))).to.deep.equal(normal);
        expect([...normal].sort()).to.deep.equal(normal);
        expect(normal.join(' ')).to.not.match(/\.(?:read|write|\*)/);
        expect(covers(parsed(text), parsed(normal.join(' ')))).to.equal(true);
      }),
      options,
    );
  });

  it('give each type the letters of a naive reading', () => {
    fc.assert(
      fc.property(names, fc.constantFrom('Observation', 'Condition'), (text, type) => {
        const given = new Set<string>();
        for (const { letters: own, category: filter } of lettersFor(parsed(text), type))
          for (const letter of own)
            for (const of of [...SYSTEMS, 'http://other', undefined])
              for (const code of [...CODES, 'other'])
                if (filter === undefined || (filter.code === code && (filter.system ?? of) === of))
                  given.add(['patient', type, letter, of, code].join(' '));
        const expected = [...allowed(text)].filter((each) => each.startsWith(`patient ${type} `));
        expect([...given].sort()).to.deep.equal(expected.sort());
      }),
      options,
    );
  });

  it('are parsed or refused with a sentence, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), names, fc.string({ unit: 'binary' })), (text) => {
        const result = parseScopes(text);
        if ('fault' in result) expect(result.fault).to.match(/ must /);
        else expect(parseScopes(normalise(result.scopes).join(' '))).to.have.property('scopes');
      }),
      options,
    );
  });
});
