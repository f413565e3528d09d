/**
 * The IPS profiles, tested with the examples that HL7 published along with them: the examples pass, but fail once they contain
 * a fault.
 */
import { expect } from 'chai';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import type { Issue } from '#src/shared/issue.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { changed, IPS_EXAMPLES, ipsExample } from '#test/support/ips.ts';

const IPS = 'http://hl7.org/fhir/uv/ips/StructureDefinition/';
const LOINC = 'http://loinc.org';

const coding = (system: string, code: string): Json => ({ coding: [{ system, code }] });

function errorsOf(resource: JsonObject, profiles: readonly string[] = []): Issue[] {
  return validateWithProfiles(resource, profiles).filter(({ severity = 'error' }) => severity === 'error');
}

describe('the examples of the IPS package', () => {
  it('are there', () => {
    expect(IPS_EXAMPLES.filter((name) => name.startsWith('Bundle-'))).to.have.length(5);
    expect(IPS_EXAMPLES).to.have.length.greaterThan(40);
  });

  for (const name of IPS_EXAMPLES) {
    it(`pass: ${name}`, () => {
      const example = ipsExample(name);
      expect(errorsOf(example)).to.deep.equal([]);
      const { meta } = example;
      expect(meta, 'it says which profile it is an example of').to.have.property('profile');
    });
  }
});

describe('resources by an IPS profile', () => {
  const LABORATORY = `${IPS}Observation-results-laboratory-pathology-uv-ips`;

  it('fail at the element when the caller names a profile', () => {
    const bare: JsonObject = { resourceType: 'Patient', name: [{ text: 'x' }] };
    expect(errorsOf(bare)).to.deep.equal([]);
    const [issue, more] = errorsOf(bare, [`${IPS}Patient-uv-ips`]);
    expect(more).to.equal(undefined);
    expect(issue).to.deep.include({ code: 'required', expression: 'Patient.birthDate' });
  });

  it('fail when they are of another type than the profile', () => {
    const issues = errorsOf({ resourceType: 'Patient' }, [`${IPS}Condition-uv-ips`]);
    expect(issues.map(({ code, expression }) => `${code} ${expression}`)).to.deep.equal(['value Patient']);
    expect(
      errorsOf({ resourceType: 'Patient' }, ['http://hl7.org/fhir/StructureDefinition/Group']),
    ).to.have.length(1);
  });

  it('pass with an element that has a data absent reason alone', () => {
    const absent = {
      url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason',
      valueCode: 'unknown',
    };
    const patient = { resourceType: 'Patient', name: [{ text: 'x' }], _birthDate: { extension: [absent] } };
    expect(errorsOf(patient, [`${IPS}Patient-uv-ips`])).to.deep.equal([]);
  });

  const LABORATORY_FAULTS: readonly (readonly [string, string, Json | undefined, string, string])[] = [
    ['without the category', 'category', [{ text: 'x' }], 'required', 'Observation.category'],
    ['entered in error', 'status', 'entered-in-error', 'code-invalid', 'Observation.status'],
    ['of no time', 'effectiveDateTime', undefined, 'required', 'Observation.effective'],
    ['about something else', 'subject.reference', 'Medication/1', 'value', 'Observation.subject'],
  ];
  for (const [fault, path, value, code, place] of LABORATORY_FAULTS) {
    it(`fail as a laboratory result ${fault}`, () => {
      const errors = errorsOf(changed(ipsExample('Observation-hemoglobin'), path, value), [LABORATORY]);
      expect(errors.map((issue) => `${issue.code} ${issue.expression}`)).to.include(`${code} ${place}`);
    });
  }

  it('pass with every status but entered-in-error, those below another one too', () => {
    const statuses = ['registered', 'preliminary', 'final', 'amended', 'corrected', 'cancelled', 'unknown'];
    for (const status of statuses) {
      const observation = changed(ipsExample('Observation-hemoglobin'), 'status', status);
      expect(errorsOf(observation), status).to.deep.equal([]);
    }
    for (const status of ['partial', 'preliminary', 'appended']) {
      const report = changed(ipsExample('DiagnosticReport-hemoglobin'), 'status', status);
      expect(errorsOf(report), status).to.deep.equal([]);
    }
  });

  it('warn of a code outside an extensible binding, of the profile or of R4', () => {
    const warningsOf = (resource: JsonObject) =>
      validateWithProfiles(resource).map(
        ({ severity, code, expression }) => `${severity} ${code} ${expression}`,
      );
    const condition = ipsExample('Condition-eumfh-39-07-1');
    const other = { coding: [{ system: LOINC, code: '75326-9' }] };
    expect(warningsOf(changed(condition, 'category', [other]))).to.deep.equal([
      'warning code-invalid Condition.category[0]',
    ]);
    expect(warningsOf(changed(condition, 'category', [{ text: 'x' }]))).to.deep.equal([]);
    const observation = ipsExample('Observation-hemoglobin');
    expect(warningsOf(changed(observation, 'interpretation', [other]))).to.deep.equal([
      'warning code-invalid Observation.interpretation[0]',
    ]);
    const normal = coding('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'N');
    expect(warningsOf(changed(observation, 'interpretation', [normal]))).to.deep.equal([]);
  });

  it('are told when a profile is unknown: an error when it was asked for, a remark when it is claimed', () => {
    const profile = 'http://example.org/StructureDefinition/x';
    const asked = validateWithProfiles({ resourceType: 'Patient' }, [profile]);
    expect(asked.map(({ severity = 'error', code }) => `${severity} ${code}`)).to.deep.equal([
      'error not-supported',
    ]);
    expect(asked[0]?.diagnostics).to.include(profile).and.include('Patient-uv-ips');
    const claimed = validateWithProfiles({ resourceType: 'Patient', meta: { profile: [profile] } });
    expect(
      claimed.map(({ severity, code, expression }) => `${severity} ${code} ${expression}`),
    ).to.deep.equal(['information not-supported Patient.meta.profile[0]']);
    expect(errorsOf({ resourceType: 'Patient' }, [`${IPS}Patient-uv-ips|1.1.0`])[0]?.diagnostics).to.include(
      '2.0.0',
    );
  });

  it('fail by R4’s vital signs', () => {
    const heartRate = {
      resourceType: 'Observation',
      status: 'final',
      category: [coding('http://terminology.hl7.org/CodeSystem/observation-category', 'vital-signs')] as Json,
      code: coding(LOINC, '8867-4'),
      subject: { reference: 'Patient/1' },
      effectiveDateTime: '2024-01-01',
      valueQuantity: { value: 60, unit: 'bpm', system: 'http://unitsofmeasure.org', code: '/min' },
    };
    const profile = 'http://hl7.org/fhir/StructureDefinition/heartrate';
    expect(errorsOf(heartRate, [profile])).to.deep.equal([]);
    const places = (resource: JsonObject) =>
      errorsOf(resource, [profile]).map(({ expression }) => expression);
    expect(places(changed(heartRate, 'valueQuantity.code', 'bpm'))).to.deep.equal([
      'Observation.value.ofType(Quantity).code',
    ]);
    expect(places(changed(heartRate, 'subject', undefined))).to.deep.equal(['Observation.subject']);
    expect(places(changed(heartRate, 'code', coding(LOINC, '9279-1')))).to.deep.equal([
      'Observation.code.coding',
    ]);
  });
});
