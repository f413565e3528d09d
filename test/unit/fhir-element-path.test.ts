/** Places in OperationOutcomes: FHIRPath for elements, `http.<name>` for the rest of a request. */
import { expect } from 'chai';
import fc from 'fast-check';
import { elementPath, pathName } from '#src/fhir/element-path.ts';
import { loadEngine } from '#src/fhir/fhirpath/engine.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';

describe('the FHIRPath of a path of JSON names', () => {
  const PATHS: readonly (readonly [string, string])[] = [
    ['Parameters.parameter[0].valueBoolean', 'Parameters.parameter[0].value.ofType(boolean)'],
    ['Parameters.parameter[0]._valueBoolean', 'Parameters.parameter[0].value.ofType(boolean)'],
    ['Observation.valueQuantity.code', 'Observation.value.ofType(Quantity).code'],
    ['Patient._name', 'Patient.name'],
    ['Patient.__proto__', 'Patient.`__proto__`'],
    ['Patient.name[0]._given[1].extension[0]._url', 'Patient.name[0].given[1].extension[0].url'],
    ['Patient.colour', 'Patient.colour'],
    ['Patient.extension[0].valueFoo', 'Patient.extension[0].valueFoo'],
    ['Bundle.resourceType', 'Bundle'],
    ['Bundle.entry[2].resource.name[0]', 'Bundle.entry[2].resource.name[0]'],
    ['Patient.a-b[1]', 'Patient.`a-b`[1]'],
    ['Patient.`a.b`', 'Patient.`a.b`'],
    ['Patient.mod', 'Patient.`mod`'],
    ['Observation.value.ofType(Quantity).code', 'Observation.value.ofType(Quantity).code'],
    ['Patient', 'Patient'],
    ['', ''],
  ];
  for (const [path, expected] of PATHS) {
    it(`${path} is ${expected}`, () => {
      expect(elementPath(path)).to.equal(expected);
      expect(elementPath(expected), 'again').to.equal(expected);
    });
  }

  it('parses, whatever the members are called', () => {
    const { fhirpath } = loadEngine();
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 130 }), (name) => {
        if (pathName(name) === 'div' || pathName(name) === '``') return;
        expect(() => fhirpath.parse(elementPath(`Patient.${pathName(name)}`)), name).to.not.throw();
      }),
    );
  });

  it('is what an OperationOutcome has; headers and parameters are locations', () => {
    const issue = { code: 'value', diagnostics: 'x' } as const;
    const outcome = operationOutcome([
      { ...issue, expression: 'Patient._name' },
      { ...issue, expression: 'http.if-match' },
      { ...issue, expression: 'query._count' },
      issue,
    ]);
    expect(JSON.parse(outcome).issue).to.deep.equal([
      { severity: 'error', ...issue, expression: ['Patient.name'] },
      { severity: 'error', ...issue, location: ['http.if-match'] },
      { severity: 'error', ...issue, location: ['http._count'] },
      { severity: 'error', ...issue },
    ]);
  });
});
