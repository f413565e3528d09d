/** Scopes as applications may register them, and what is said of others. */
import { expect } from 'chai';
import { scopeFault } from '#src/http/admin/application-body.ts';

describe('scopes of applications', () => {
  for (const scope of [
    'openid',
    'offline_access',
    'patient/*.rs',
    'system/Patient.cruds',
    'patient/Observation.rs?category=laboratory',
  ]) {
    it(`take ${scope}`, () => {
      expect(scopeFault(scope)).to.equal(undefined);
    });
  }

  const refused: [string, string][] = [
    ['', 'SMART v2'],
    ['profile', 'SMART v2'],
    ['patient/*.read', 'SMART v2'],
    ['patient/*.sr', 'SMART v2'],
    ['patient/*.', 'SMART v2'],
    ['patient/Spaceship.rs', 'must not name Spaceship'],
    ['patient/Observation.rs?code=1', 'must have no filter except a single ?category'],
    ['patient/Observation.rs?category=a&status=final', 'must have no filter except a single ?category'],
    ['patient/Observation.rs?category=a?category=b', 'must have no filter except a single ?category'],
    ['patient/Observation.rs?', 'must have no filter except a single ?category'],
  ];
  for (const [scope, why] of refused) {
    it(`refuse ${JSON.stringify(scope)}: ${why}`, () => {
      expect(scopeFault(scope)).to.contain(why);
    });
  }
});
