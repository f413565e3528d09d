/** The published IPS examples, each with one fault introduced here; each must fail at the place of its fault. */
import { expect } from 'chai';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import type { Issue } from '#src/shared/issue.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { changed, ipsExample } from '#test/support/ips.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const coded = (system: string, code: string): Json => ({ coding: [{ system, code }] });
const loinc = (code: string): Json => coded('http://loinc.org', code);

const NARRATIVE = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' };
const COMPOSITION = ipsExample('Composition-composition-minimal');
const ALLERGY = 'AllergyIntolerance/9838cf73-c30d-4aa5-8ed8-36a079060b81';
const ORGANIZATION = 'Organization/7a17027f-acc0-4d77-bf84-c0dad8f7c881';
const PRACTITIONER = 'urn:uuid:1c616b24-3895-48c4-9a02-9a64110351ef';
const NOWHERE = 'urn:uuid:00000000-0000-4000-8000-000000000000';
const CURED = coded('http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', 'cured');

/**
 * The fault, the changed path, the new value (undefined removes the value), the issue's code, and its place if this differs
 * from the path. `4.code` is short for `entry[4].resource.code`.
 */
type Fault = readonly [what: string, path: string, value: Json | undefined, code: string, place?: string];

const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  'bundle-minimal': [
    ['no identifier', 'identifier', undefined, 'required'],
    ['no timestamp', 'timestamp', undefined, 'required'],
    ['a collection', 'type', 'collection', 'value'],
    ['an entry with a request', 'entry[1].request', { method: 'GET', url: 'x' }, 'structure'],
    ['a search mode', 'entry[1].search', { mode: 'match' }, 'structure'],
    ['a second Composition', 'entry[3].resource', COMPOSITION, 'invariant', 'Bundle'],
    ['a Composition that is not first', 'entry[0]', undefined, 'invariant', 'Bundle'],
    [
      'one fullUrl twice',
      'entry[3].fullUrl',
      'urn:uuid:45271f7f-63ab-4946-970f-3daaaa06637f',
      'invariant',
      'Bundle',
    ],
    ['no title', '0.title', undefined, 'required'],
    ['another type of document', '0.type', loinc('34133-9'), 'value'],
    ['a Composition of nobody', '0.subject', undefined, 'required'],
    [
      'a subject by identifier',
      '0.subject',
      { identifier: { value: '1' } },
      'required',
      '0.subject.reference',
    ],
    ['no section of problems', '0.section[0].code', loinc('11348-0'), 'required', '0.section'],
    ['two sections only', '0.section[1]', undefined, 'required', '0.section'],
    ['a section without a narrative', '0.section[1].text', undefined, 'required'],
    ['neither entries nor a reason', '0.section[2].entry', undefined, 'invariant', '0.section[2]'],
    ['an entry that is nowhere', '0.section[0].entry[0].reference', NOWHERE, 'not-found'],
    ['a Patient without a birth date', '1.birthDate', undefined, 'required'],
    ['a name that says nothing', '1.name[0]', { use: 'official' }, 'invariant'],
    ['an unknown gender', '1.gender', 'f', 'code-invalid'],
    ['a Practitioner without a name', '2.name', undefined, 'required'],
    ['a problem without a code', '4.code', undefined, 'required'],
    ['a Medication without a code', '6.code', undefined, 'required'],
    ['an allergy of unknown status', '7.clinicalStatus', CURED, 'code-invalid'],
  ],
  'IPS-examples-Bundle-01': [
    ['a Patient without a name', '1.name', undefined, 'required'],
    ['a subject that is nowhere', '4.subject.reference', NOWHERE, 'not-found'],
    ['a day that no calendar has', '1.birthDate', '1972-02-30', 'value'],
    ['a problem of nobody', '4.subject.reference', undefined, 'required'],
    [
      'a medication that is a person',
      '5.medicationReference.reference',
      PRACTITIONER,
      'value',
      '5.medication.ofType(Reference)',
    ],
  ],
  'bundle-ips-all-sections': [
    ['an entry without a fullUrl', 'entry[20].fullUrl', undefined, 'required'],
    ['a section twice', '0.section[7].code', loinc('48765-2'), 'structure', '0.section'],
    ['a section without a title', '0.section[4].title', undefined, 'required'],
    ['a section without a code', '0.section[9].code', undefined, 'required'],
    [
      'an empty section with entries',
      '0.section[0].emptyReason',
      { text: 'none' },
      'invariant',
      '0.section[0]',
    ],
    ['a section in a section', '0.section[3].section', [{ title: 'x', text: NARRATIVE }], 'structure'],
    ['an allergy as a problem', '0.section[0].entry[0].reference', ALLERGY, 'value', '0.section[0].entry[0]'],
    ['an author who is nowhere', '0.author[0].reference', 'Practitioner/nobody', 'not-found'],
    ['a fullUrl of another resource', '2.id', 'other', 'value', 'entry[2].fullUrl'],
    ['an Organization without a name', '2.name', undefined, 'required'],
    ['an allergy without a code', '6.code', undefined, 'required'],
    ['a problem of an Organization', '7.subject.reference', ORGANIZATION, 'value', '7.subject'],
    ['a medication of no time', '9.effectiveDateTime', undefined, 'required', '9.effective'],
    ['an immunization of nobody', '12.patient.reference', undefined, 'required'],
    ['a result without a performer', '20.performer', undefined, 'required'],
    ['a result without a value', '22.valueQuantity', undefined, 'invariant', '22'],
    ['a result of no time', '23.effectiveDateTime', undefined, 'required', '23.effective'],
    ['a vital sign without a value', '26.valueQuantity', undefined, 'invariant', '26'],
    ['a vital sign of a year', '26.effectiveDateTime', '2024', 'invariant', '26.effective.ofType(dateTime)'],
    ['half a blood pressure', '28.component[0].valueQuantity', undefined, 'invariant', '28.component[0]'],
    ['tobacco use with components', '29.component', [{ code: { text: 'x' }, valueString: 'y' }], 'structure'],
    ['alcohol use of no time', '30.effectiveDateTime', undefined, 'required', '30.effective'],
    ['a pregnancy at a body site', '41.bodySite', { text: 'x' }, 'structure'],
    ['a procedure of no time', '33.performedDateTime', undefined, 'required', '33.performed'],
  ],
  'bundle-no-info-required-sections': [['no Patient', 'entry[1]', undefined, 'required', 'entry']],
};

/** Expands `4.code` to `entry[4].resource.code`. */
function whole(path: string): string {
  return path.replace(/^(\d+)/, 'entry[$1].resource');
}

function errorsOf(resource: JsonObject): Issue[] {
  return validateWithProfiles(resource).filter(({ severity = 'error' }) => severity === 'error');
}

describe('IPS documents with one fault', () => {
  for (const [document, faults] of Object.entries(FAULTS)) {
    for (const [what, path, value, code, place = path] of faults) {
      it(`${document} fails with ${what}`, () => {
        const mutant = changed(ipsExample(`Bundle-${document}`), whole(path), value);
        const told = errorsOf(mutant).map((issue) => `${issue.code} ${issue.expression}`);
        expect(told).to.include(`${code} ${`Bundle.${whole(place)}`.replace(/^Bundle\.Bundle$/, 'Bundle')}`);
      });
    }
  }

  for (const document of ['bundle-ips-all-sections', 'bundle-minimal']) {
    it(`name a fault once, however many refer to the faulty resource: ${document}`, () => {
      const mutant = changed(ipsExample(`Bundle-${document}`), whole('1.birthDate'), undefined);
      const issues = errorsOf(mutant);
      expect(issues.map(({ expression }) => expression)).to.deep.equal([
        'Bundle.entry[1].resource.birthDate',
      ]);
      expect(issues[0]?.diagnostics).to.include('Patient-uv-ips');
    });
  }

  itAtFullSize('end, though each refers to the next and the last to the first', () => {
    const document = ipsExample('Bundle-bundle-ips-all-sections') as { entry: JsonObject[] } & JsonObject;
    const template = document.entry[20]?.resource as JsonObject;
    const chain = Array.from({ length: 3000 }, (_, n) => ({
      fullUrl: `https://fhir.example.com/Observation/n${n}`,
      resource: { ...template, id: `n${n}`, hasMember: [{ reference: `Observation/n${(n + 1) % 3000}` }] },
    }));
    const faulty = changed(
      { ...document, entry: [...document.entry, ...chain] },
      whole('2000.performer'),
      undefined,
    );
    expect(errorsOf(faulty).map(({ expression }) => expression)).to.deep.equal([
      'Bundle.entry[2000].resource.performer',
    ]);
  });

  it('may refer to what is elsewhere, but not relatively', () => {
    const document = ipsExample('Bundle-bundle-ips-all-sections');
    const severities = (reference: string) =>
      validateWithProfiles(changed(document, whole('12.performer[0].actor.reference'), reference)).map(
        ({ severity, expression }) => `${severity} ${expression}`,
      );
    expect(severities('https://elsewhere.example.com/Organization/1')).to.deep.equal([]);
    expect(severities('Organization/1')).to.deep.equal([
      'warning Bundle.entry[12].resource.performer[0].actor.reference',
    ]);
  });

  it('take what breaks nothing that tells a profile apart for faulty, else for additional', () => {
    const document = ipsExample('Bundle-bundle-ips-all-sections');
    const inactive = validateWithProfiles(changed(document, whole('32.status'), 'inactive'));
    expect(inactive.map(({ severity, expression }) => `${severity} ${expression}`)).to.deep.equal([
      'information Bundle.entry[32]',
    ]);
    expect(inactive[0]?.diagnostics).to.include('by that of flag');
  });

  it('name no profile to what differs from it in its code alone', () => {
    const document = ipsExample('Bundle-bundle-ips-all-sections') as { entry: JsonObject[] } & JsonObject;
    const observation = changed(document, whole('20.category'), undefined) as typeof document;
    const fullUrl = 'https://fhir.example.com/Observation/uncategorized';
    const resource = { ...(observation.entry[20]?.resource as JsonObject), id: 'uncategorized' };
    const told = validateWithProfiles({ ...document, entry: [...document.entry, { fullUrl, resource }] });
    expect(told.map(({ severity, diagnostics }) => `${severity} ${diagnostics}`)).to.deep.equal([
      `information Bundle.entry[${document.entry.length}] matches no slice, so it counts as additional content (profile Bundle-uv-ips)`,
    ]);
  });
});
