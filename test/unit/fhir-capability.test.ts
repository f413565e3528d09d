/** The service's descriptions of itself and of faults are valid FHIR. */
import { expect } from 'chai';
import { capabilityStatement, listSearchParameters } from '#src/fhir/capability.ts';
import { operationOutcome } from '#src/fhir/outcome.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';

function parsed(text: string): JsonObject {
  const { value } = parseJson(text);
  if (!isObject(value)) throw new Error('not an object');
  return value;
}

describe('CapabilityStatement', () => {
  const service = {
    baseUrl: 'http://localhost:3000/fhir/R4',
    serviceUrl: 'http://localhost:3000',
    version: '0.3.0',
    date: '2026-11-21T09:30:00Z',
    operations: [],
  };
  const statement = parsed(JSON.stringify(capabilityStatement(service)));

  it('is valid', () => {
    expect(validateResource(statement, 'CapabilityStatement')).to.deep.equal([]);
  });

  it('names every type once, in the order of the table', () => {
    expect(statement).to.have.nested.property('rest[0].resource').that.has.length(26);
    for (const [index, type] of TYPE_NAMES.entries()) {
      expect(statement).to.have.nested.property(`rest[0].resource[${index}].type`, type);
      expect(statement).to.have.nested.property(`rest[0].resource[${index}].versioning`, 'versioned');
    }
  });

  it('names the search parameters that R4 gives a type', () => {
    expect(listSearchParameters('Observation')).to.include.members([
      '_id',
      '_lastUpdated',
      '_tag',
      'category',
      'code',
      'combo-value-quantity',
      'date',
      'patient',
      'value-string',
    ]);
    expect(listSearchParameters('Observation')).to.include('code-value-quantity');
    expect(listSearchParameters('Location')).to.include('near');
    expect(new Set(listSearchParameters('Patient')).size).to.equal(listSearchParameters('Patient').length);
    expect(listSearchParameters('Provenance')).to.include.members(['target', 'agent', 'patient', 'recorded']);
  });

  it('says that terminology is read-only', () => {
    const index = TYPE_NAMES.indexOf('ValueSet');
    expect(statement)
      .to.have.nested.property(`rest[0].resource[${index}].interaction`)
      .that.deep.equals([{ code: 'read' }, { code: 'vread' }, { code: 'search-type' }]);
  });
});

describe('OperationOutcome', () => {
  it('holds each issue with its expression, and is valid', () => {
    const outcome = parsed(
      operationOutcome([
        { code: 'required', diagnostics: 'Observation.status is required', expression: 'Observation.status' },
        { code: 'not-found', diagnostics: "Patient/1 doesn't exist" },
      ]),
    );
    expect(validateResource(outcome, 'OperationOutcome')).to.deep.equal([]);
    expect(outcome.issue).to.deep.equal([
      {
        severity: 'error',
        code: 'required',
        diagnostics: 'Observation.status is required',
        expression: ['Observation.status'],
      },
      { severity: 'error', code: 'not-found', diagnostics: "Patient/1 doesn't exist" },
    ]);
  });

  it('says so when all is well', () => {
    const outcome = parsed(operationOutcome([]));
    expect(validateResource(outcome, 'OperationOutcome')).to.deep.equal([]);
    expect(outcome).to.have.nested.property('issue[0].severity', 'information');
  });
});
