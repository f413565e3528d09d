/** Scopes that applications can register, and the messages about other scopes. */
import { expect } from 'chai';
import { scopeFault } from '#src/http/admin/applications/body.ts';

describe('scopes of applications', () => {
  for (const scope of [
    'openid',
    'offline_access',
    'patient/*.rs',
    'profile',
    'online_access',
    'patient/*.read',
    'patient/Observation.*',
    'system/*.cruds',
    'system/*.read',
    'patient/Observation.rs?category=laboratory',
  ]) {
    it(`take ${scope}`, () => {
      expect(scopeFault(scope)).to.equal(undefined);
    });
  }

  const refused: [string, string][] = [
    ['', 'SMART v2'],
    ['launch', 'SMART v2'],
    ['user/*.rs', 'SMART v2'],
    ['patient/*.readwrite', 'SMART v2'],
    ['system/Spaceship.rs', 'must not name Spaceship'],
    ['system/Observation.rs?category=laboratory', 'no other system scopes'],
    ['system/*.r', 'no other system scopes'],
    ['patient/*.rs?category=laboratory', 'not every type has category'],
    ['patient/Patient.rs?category=laboratory', 'Patient has no category'],
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
