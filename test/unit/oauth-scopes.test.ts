/** OAuth scopes: their syntax, which scope covers which, and what they allow. */
import { expect } from 'chai';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import {
  CATEGORY_TYPES,
  covers,
  knownScopes,
  lettersFor,
  MAX_SCOPE_LENGTH,
  narrows,
  normalise,
  parseScopes,
  type Scope,
  systemAccess,
} from '#src/oauth/scopes.ts';

const of = (text: string): Scope[] => {
  const parsed = parseScopes(text);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed.scopes;
};
const faultOf = (text: string): string => {
  const parsed = parseScopes(text);
  return 'fault' in parsed ? parsed.fault : '';
};

describe('OAuth scopes', () => {
  for (const [text, normal] of [
    ['', ''],
    ['openid  fhirUser launch/patient openid', 'fhirUser launch/patient openid'],
    ['patient/Observation.s patient/Observation.r', 'patient/Observation.rs'],
    ['patient/*.read', 'patient/*.rs'],
    ['patient/Condition.write', 'patient/Condition.cud'],
    ['patient/Condition.*', 'patient/Condition.cruds'],
    ['system/*.read', 'system/*.rs'],
    ['system/*.read system/*.write', 'system/*.cruds'],
    ['patient/Observation.rs patient/Observation.c?category=laboratory', ''],
    [
      'patient/Observation.r?category=laboratory patient/Observation.s?category=laboratory',
      'patient/Observation.rs?category=laboratory',
    ],
    [
      'patient/Observation.rs?category=http%3A%2F%2Fexample.org%2Fc%7Claboratory',
      'patient/Observation.rs?category=http://example.org/c|laboratory',
    ],
  ] as const) {
    it(`have the v2 form: ${text === '' ? 'none' : text}`, () => {
      expect(normalise(of(text)).join(' ')).to.equal(
        normal === '' ? text.split(' ').sort().join(' ') : normal,
      );
    });
  }

  it('name the invalid one', () => {
    expect(faultOf('openid patient/Spaceship.rs patient/Star.rs')).to.match(
      /^patient\/Spaceship\.rs must not name Spaceship/,
    );
    for (const scope of [
      'launch',
      'launch/encounter',
      'user/*.rs',
      'patient/Observation.sr',
      'patient/Observation.rr',
      'patient/Observation.',
      'patient/Observation',
      'Patient/Observation.rs',
      'patient/observation.rs',
      'patient/Observation.rs?',
      'patient/Observation.rs?category=',
      'patient/Observation.rs?category=a,b',
      'patient/Observation.rs?category=a%2Cb',
      'patient/Observation.rs?category=%zz',
      'patient/Observation.rs?category=|a',
      'patient/Observation.rs?category=a|',
      'patient/Observation.rs?category=a|b|c',
      'patient/Observation.rs?category=a%20b',
      'patient/Observation.rs?status=final',
      'patient/Observation.rs?category:in=a',
      'patient/*.rs?category=a',
      'patient/__proto__.rs',
      'patient/constructor.rs',
      'system/Observation.rs?category=a',
      'system/Magic.rs',
      'system/Observation.sr',
      'system/*.r',
      'system/*.rs?category=a',
      'OPENID',
      'öpenid',
    ]) {
      expect(faultOf(`openid ${scope}`), scope).to.satisfy((fault: string) => fault.startsWith(`${scope} `));
    }
  });

  it('have limits', () => {
    expect(faultOf('openid '.repeat(MAX_SCOPE_LENGTH / 7))).to.contain('at most 200 scopes');
    expect(faultOf('x'.repeat(MAX_SCOPE_LENGTH + 1))).to.contain(`at most ${MAX_SCOPE_LENGTH} characters`);
  });

  it('filter by category where R4 searches by it', () => {
    const types = TYPE_NAMES.filter((type) => compiledParameter(type, 'category') !== undefined);
    expect([...CATEGORY_TYPES].sort()).to.deep.equal([...types].sort());
  });

  for (const [registered, asked, expected] of [
    ['patient/*.rs', 'patient/Observation.rs', true],
    ['patient/*.rs', 'patient/Observation.r?category=laboratory', true],
    ['patient/*.cruds', 'patient/*.rs', true],
    ['patient/*.rs', 'patient/Observation.c', false],
    ['patient/Observation.rs', 'patient/*.rs', false],
    ['patient/Observation.r patient/Observation.s', 'patient/Observation.rs', true],
    ['patient/*.r patient/Observation.s', 'patient/Observation.rs', true],
    ['patient/Observation.rs?category=laboratory', 'patient/Observation.rs', false],
    ['patient/Observation.rs?category=laboratory', 'patient/Observation.rs?category=survey', false],
    [
      'patient/Observation.rs?category=laboratory',
      'patient/Observation.r?category=http://x|laboratory',
      true,
    ],
    [
      'patient/Observation.rs?category=http://x|laboratory',
      'patient/Observation.r?category=laboratory',
      false,
    ],
    ['patient/Observation.rs?category=http://x|lab', 'patient/Observation.rs?category=http://y|lab', false],
    ['system/*.cruds', 'system/*.rs', true],
    ['system/*.cruds', 'patient/*.rs', false],
    ['patient/*.cruds', 'system/*.rs', false],
    ['patient/*.cruds', 'openid', false],
    ['openid fhirUser', 'openid', true],
    ['offline_access', 'online_access', false],
    ['', '', true],
  ] as const) {
    it(`${registered || 'none'} ${expected ? 'covers' : "doesn't cover"} ${asked || 'none'}`, () => {
      expect(covers(of(registered), of(asked))).to.equal(expected);
      expect(narrows(of(registered), of(asked))).to.equal(expected);
    });
  }

  it('registered once and accepted no longer cover nothing', () => {
    const known = knownScopes(['system/Spaceship.cruds', 'openid']);
    expect(known).to.deep.equal(['openid']);
  });

  it('give letters to a type; Patient and the directory can always be read', () => {
    expect(lettersFor(of('openid'), 'Observation')).to.deep.equal([]);
    expect(lettersFor(of('system/*.cruds'), 'Observation')).to.deep.equal([]);
    expect(lettersFor([], 'Patient')).to.deep.equal([{ letters: 'rs' }]);
    expect(lettersFor([], 'Organization')).to.deep.equal([{ letters: 'rs' }]);
    expect(lettersFor(of('patient/Patient.u'), 'Patient')).to.deep.equal([{ letters: 'rus' }]);
    const scopes = of(
      'patient/*.s patient/Observation.c patient/Observation.r?category=a patient/Observation.u?category=a',
    );
    expect(lettersFor(scopes, 'Observation')).to.deep.equal([
      { letters: 'cs' },
      { letters: 'ru', category: { code: 'a' } },
    ]);
    expect(lettersFor(scopes, 'Condition')).to.deep.equal([{ letters: 's' }]);
  });

  it('of system/ are scopes of an API key, on all types or on those that they name', () => {
    const held = (text: string) => systemAccess(of(text));
    expect(held('system/*.rs')).to.deep.equal({ keyScopes: ['read'] });
    expect(held('system/*.write')).to.deep.equal({ keyScopes: ['write'] });
    expect(held('system/*.rs system/*.write')).to.deep.equal({ keyScopes: ['read', 'write'] });
    expect(held('system/*.*')).to.deep.equal({ keyScopes: ['read', 'write'] });
    expect(held('patient/*.cruds openid')).to.deep.equal({ keyScopes: [] });
    const on = (text: string, type: string) =>
      held(text)
        .types?.types.get(type)
        ?.map(({ letters }) => letters);
    for (const [suffix, scopes, letters] of [
      ['r', ['read'], 'rs'],
      ['s', ['read'], 'rs'],
      ['rs', ['read'], 'rs'],
      ['read', ['read'], 'rs'],
      ['c', ['write'], 'cud'],
      ['u', ['write'], 'cud'],
      ['d', ['write'], 'cud'],
      ['write', ['write'], 'cud'],
      ['cr', ['read', 'write'], 'rscud'],
      ['*', ['read', 'write'], 'rscud'],
    ] as const) {
      const text = `system/Observation.${suffix}`;
      expect(held(text).keyScopes, text).to.deep.equal(scopes);
      expect(on(text, 'Observation'), text).to.deep.equal([letters]);
      expect(on(text, 'Patient'), text).to.equal(undefined);
      expect(on(text, 'ValueSet'), text).to.deep.equal(['rs']);
    }
    const mixed = 'system/*.rs system/Observation.c';
    expect(on(mixed, 'Observation')).to.deep.equal(['rscud']);
    expect(on(mixed, 'Patient')).to.deep.equal(['rs']);
  });
});
