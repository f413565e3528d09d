/**
 * Whatever a resource contains, validation against profiles gives a result, and a broken resource is never reported as valid.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { changed, IPS_EXAMPLES, ipsExample } from '#test/support/ips.ts';

/** Returns the paths of all members and items of a value. */
function pathsIn(value: Json, path: string): string[] {
  const below = Array.isArray(value)
    ? value.map((item, index) => [`${path}[${index}]`, item] as const)
    : isObject(value)
      ? Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
      : [];
  return below.flatMap(([at, item]) => [at, ...pathsIn(item, at)]);
}

const examples = IPS_EXAMPLES.filter((name) => !name.includes('all-sections')).map(ipsExample);
const places = examples.map((example) => pathsIn(example, '').filter((path) => path !== 'resourceType'));

const anywhere = fc
  .nat(examples.length - 1)
  .chain((index) => fc.tuple(fc.constant(index), fc.nat((places[index]?.length ?? 1) - 1)));

const JUNK: readonly Json[] = [null, true, 0, '', '#', 'urn:uuid:x', 'Patient/x', [], {}, [[]], [null], [{}]];
const junk = fc.oneof(
  fc.constantFrom(...JUNK),
  fc.constantFrom<Json>({ reference: 5 }, { coding: 'x' }, { resourceType: 'Bundle', entry: [{}] }),
  fc.constantFrom<Json>({ resourceType: 'Observation' }, [{ resource: 'x' }], { extension: [{}] }),
);

describe('validation by profiles', () => {
  it('answers whatever a value is replaced by', () => {
    fc.assert(
      fc.property(anywhere, junk, ([index, at], value) => {
        const example = examples[index] as JsonObject;
        const issues = validateWithProfiles(
          changed(example, places[index]?.[at] ?? '', structuredClone(value)),
        );
        for (const { diagnostics } of issues) expect(diagnostics).to.be.a('string');
      }),
      { numRuns: 400 },
    );
  });

  it('never calls valid what has null', () => {
    fc.assert(
      fc.property(anywhere, ([index, at]) => {
        const example = examples[index] as JsonObject;
        const mutant = changed(example, places[index]?.[at] ?? '', null);
        const errors = validateWithProfiles(mutant).filter(({ severity = 'error' }) => severity === 'error');
        expect(errors, places[index]?.[at]).to.have.length.greaterThan(0);
      }),
      { numRuns: 200 },
    );
  });
});
