/**
 * The summary in a shared link: valid, and without anything that identifies or locates the person except name, birth date and
 * sex.
 */
import { expect } from 'chai';
import { choose } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';
import { earlierVersions, withEarlier } from '#src/clinical/summary/earlier.ts';
import { withoutContact } from '#src/clinical/summary/without-contact.ts';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';

const BASE = 'https://annal.example/fhir/R4/';
const [P, R, O, A, M] = ['1', '2', '3', '4', '5'].map((n) => `01890a5d-ac96-774b-bcce-00000000000${n}`);
const identifier = (value: string) => ({ system: 'urn:test:number', value: `HIDDEN ${value}` });
const address = (value: string) => ({ line: [`HIDDEN ${value}`], city: 'HIDDEN city' });
const telecom = (value: string) => ({ system: 'phone', value: `HIDDEN ${value}` });
const narrative = (text: string) => ({
  status: 'generated',
  div: `<div xmlns="http://www.w3.org/1999/xhtml">HIDDEN ${text}</div>`,
});
const laboratory = [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' }] },
];

const PATIENT: JsonObject = {
  resourceType: 'Patient',
  id: P ?? '',
  text: narrative('narrative'),
  contained: [{ resourceType: 'Organization', id: 'firm', name: 'HIDDEN employer' }],
  extension: [
    {
      url: 'http://hl7.org/fhir/StructureDefinition/patient-birthPlace',
      valueAddress: { city: 'HIDDEN birthplace' },
    },
  ],
  identifier: [identifier('record number')],
  name: [{ family: 'Vogel', given: ['Sabine'] }],
  telecom: [telecom('telephone')],
  gender: 'female',
  birthDate: '1957-03-14',
  address: [address('street')],
  photo: [{ url: 'https://example.org/HIDDEN-photo' }],
  contact: [{ telecom: [telecom('of a contact')], organization: { reference: '#firm' } }],
  link: [{ other: { reference: 'Patient/HIDDEN-other' }, type: 'seealso' }],
};

const RECORD: readonly JsonObject[] = [
  {
    resourceType: 'RelatedPerson',
    id: R ?? '',
    patient: { reference: `Patient/${P}`, identifier: identifier('of the patient in a reference') },
    name: [{ text: 'Jonas Vogel' }],
    relationship: [{ text: 'son' }],
    identifier: [identifier('of the son')],
    telecom: [telecom('of the son')],
    address: [address('of the son')],
    birthDate: '1980-01-01',
  },
  {
    resourceType: 'Observation',
    id: O ?? '',
    status: 'final',
    category: laboratory,
    code: { text: 'Creatinine' },
    subject: { reference: `${BASE}Patient/${P}`, identifier: identifier('of the subject') },
    effectiveDateTime: '2026-01-02',
    performer: [
      { reference: `RelatedPerson/${R}` },
      { reference: 'Organization/elsewhere', identifier: { system: 'urn:test:lab', value: 'lab 7' } },
      { type: 'Patient', identifier: identifier('without a reference') },
    ],
    identifier: [{ system: 'urn:test:order', value: 'order 12' }],
    valueQuantity: { value: '1.50', unit: 'mg/dL' },
  },
  {
    resourceType: 'Observation',
    id: A ?? '',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '56799-0' }] },
    subject: { reference: `Patient/${P}` },
    effectiveDateTime: '2026-01-02',
    valueString: 'HIDDEN answer to a questionnaire',
  },
  {
    resourceType: 'MedicationStatement',
    id: M ?? '',
    status: 'active',
    subject: { reference: `Patient/${P}` },
    effectiveDateTime: '2026-01-02',
    medicationCodeableConcept: { text: 'Ramipril' },
    contained: [
      {
        resourceType: 'RelatedPerson',
        id: 'mother',
        patient: { reference: `Patient/${P}` },
        telecom: [telecom('inside')],
      },
    ],
    informationSource: { reference: '#mother', identifier: identifier('of one inside') },
  },
];

/** Returns a resource's JSON text; the digits of the Observation's value are preserved. */
const stored = (resource: JsonObject) => ({
  type: String(resource.resourceType),
  id: String(resource.id),
  body: printJson(resource).replace('"1.50"', '1.50'),
});

describe('the summary of a shared link', () => {
  const chosen = choose({ base: BASE, patient: stored(PATIENT), record: RECORD.map(stored) });
  const parts = { id: P ?? '', now: 1_780_000_000_000_000, directory: [] };
  const whole = summaryDocument(chosen, parts);
  const shared = summaryDocument(atOnce(withoutContact(chosen)), parts);

  it('has no contact data of anyone, and no number of the person, wherever they stand', () => {
    expect(whole.match(/HIDDEN/g)?.length).to.be.greaterThan(15);
    expect(shared).not.to.include('HIDDEN').and.not.include('"telecom"').and.not.include('"address"');
  });

  it('has none in what it tells of entries that an AI changed', () => {
    const ofAi = RECORD.map((each) => ({ ...each, meta: { versionId: '2' } }));
    const byAi = new Map(RECORD.map(({ resourceType, id }) => [`${resourceType}/${id}/_history/2`, 1]));
    const current = choose({ base: BASE, patient: stored(PATIENT), record: ofAi.map(stored), byAi });
    const versions = earlierVersions(current);
    expect(versions.map(({ id }) => id)).to.have.members([O, A, M]);
    const told = withEarlier(
      current,
      RECORD.filter(({ id }) => versions.some((each) => each.id === id)).map(stored),
    );
    expect(summaryDocument(told, parts)).to.include('Before AI changed it: ').and.include('HIDDEN answer');
    const without = summaryDocument(atOnce(withoutContact(told)), parts);
    expect(without)
      .to.include('Before AI changed it: Ramipril')
      .and.include('Before AI changed it: Creatinine');
    expect(without).not.to.include('HIDDEN');
  });

  it('keeps what the entries say, and who they are about', () => {
    for (const kept of [
      'Sabine',
      'Vogel',
      '1957-03-14',
      'female',
      'Jonas Vogel',
      'son',
      'Creatinine',
      'Ramipril',
    ])
      expect(shared, kept).to.include(kept);
    expect(shared).to.include('"value":1.50').and.include('order 12').and.include('lab 7');
  });

  it('is valid by the profiles of the guide', () => {
    const { value } = parseJson(shared);
    if (!isObject(value)) throw new TypeError('no document');
    const faults = validateWithProfiles(value, [
      'http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips',
    ]);
    expect(faults.filter(({ severity = 'error' }) => severity === 'error')).to.deep.equal([]);
  });
});
