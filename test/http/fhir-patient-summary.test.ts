import { expect } from 'chai';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { isObject, parseJson } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly [name: string]: unknown;
}

interface Section {
  readonly title: string;
  readonly text: { readonly div: string };
  readonly entry?: readonly { readonly reference: string }[];
  readonly emptyReason?: { readonly coding: readonly { readonly code: string }[] };
}

interface Document {
  readonly type: string;
  readonly identifier: { readonly value: string };
  readonly timestamp: string;
  readonly entry: readonly { readonly fullUrl: string; readonly resource: Resource }[];
}

const IPS = 'http://hl7.org/fhir/uv/ips/StructureDefinition';
const concept = (system: string, code: string, text?: string) => ({
  coding: [{ system, code }],
  ...(text === undefined ? {} : { text }),
});
const hl7 = (system: string, code: string) =>
  concept(`http://terminology.hl7.org/CodeSystem/${system}`, code);
const loinc = (code: string, text?: string) => concept('http://loinc.org', code, text);
const category = (code: string) => [hl7('observation-category', code)];

/** https://hl7.org/fhir/uv/ips/STU2/OperationDefinition-summary.html; docs/summary.md */
describe('$summary', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const create = async (body: object): Promise<string> => {
    const { resourceType } = body as Resource;
    const { id } = JSON.parse((await service.post(`/${resourceType}`, body)).text) as Resource;
    return `${resourceType}/${id}`;
  };
  const read = async (patient: string, query = ''): Promise<Answer> => {
    const answer = await service.fhir(`/${patient}/$summary${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  };
  const documentOf = (answer: Answer) => JSON.parse(answer.text) as Document;
  const sectionsOf = ({ entry }: Document) => (entry[0]?.resource.section ?? []) as readonly Section[];
  const sectionOf = (document: Document, title: string) => {
    const found = sectionsOf(document).find((section) => section.title === title);
    if (found === undefined) throw new Error(`no section ${title}`);
    return found;
  };
  /** Returns `Type/id` for each entry of a section. */
  const entriesOf = (document: Document, title: string) =>
    (sectionOf(document, title).entry ?? []).map(({ reference }) => reference.slice(service.base.length + 1));
  /** Returns the errors that a validator finds. */
  const faults = (answer: Answer): string[] => {
    const { value } = parseJson(answer.text);
    if (!isObject(value)) throw new Error('no resource');
    return validateWithProfiles(value, [`${IPS}/Bundle-uv-ips`])
      .filter(({ severity = 'error' }) => severity === 'error')
      .map(({ expression, diagnostics }) => `${expression}: ${diagnostics}`);
  };
  /** Returns the literal references that can't be resolved within the document. */
  const dangling = ({ entry }: Document): string[] => {
    const urls = new Set(entry.map(({ fullUrl }) => fullUrl));
    const found: string[] = [];
    const walk = (value: unknown, relative: boolean): void => {
      if (Array.isArray(value)) for (const item of value) walk(item, relative);
      else if (typeof value === 'object' && value !== null) {
        const { reference } = value as { reference?: unknown };
        if (typeof reference === 'string' && !reference.startsWith('#')) {
          const url = relative && !/^\w+:/.test(reference) ? `${service.base}/${reference}` : reference;
          if (!urls.has(url)) found.push(reference);
        }
        for (const member of Object.values(value)) walk(member, relative);
      }
    };
    for (const { fullUrl, resource } of entry) walk(resource, fullUrl.startsWith('http'));
    return found;
  };

  it('tells the newest episode of an illness that is over, by its own days and without clock times', async () => {
    const id = await create({
      ...{ resourceType: 'Patient', name: [{ text: 'Twice ill' }], birthDate: '1990-01-01' },
      deceasedDateTime: '2026-02-03T06:29:54+00:00',
    });
    const system = 'http://terminology.hl7.org/CodeSystem/condition-clinical';
    for (const [from, until] of [
      ['2012-04-13', '2012-04-25'],
      ['2016-12-14', '2016-12-22'],
    ])
      await create({
        ...{
          resourceType: 'Condition',
          code: { text: 'Pharyngitis' },
          subject: { reference: id },
        },
        clinicalStatus: { coding: [{ system, code: 'resolved' }] },
        ...{ onsetDateTime: `${from}T18:52:40+00:00`, abatementDateTime: `${until}T18:52:40+00:00` },
      });
    const document = documentOf(await read(id));
    expect(sectionOf(document, 'Past problems').text.div).to.contain(
      '<td>Pharyngitis</td><td>resolved</td><td>2016-12-14</td><td>2016-12-22</td><td>2 times, first began 2012-04-13</td>',
    );
    expect(JSON.stringify(document.entry[0]?.resource)).to.contain('<th>Died</th><td>2026-02-03</td>');
  });

  describe('of a full record', () => {
    let patient: string;
    let answer: Answer;
    let document: Document;
    const refs: Record<string, string> = {};
    const put = async (name: string, body: object): Promise<void> => {
      const owner = ['AllergyIntolerance', 'Immunization', 'Device'].includes((body as Resource).resourceType)
        ? { patient: { reference: patient } }
        : { subject: { reference: patient } };
      refs[name] = await create({ ...owner, ...body });
    };
    const reference = (name: string) => ({ reference: refs[name] ?? '' });
    const observation = (name: string, more: object) =>
      put(name, { resourceType: 'Observation', status: 'final', code: { text: name }, ...more });
    const condition = (name: string, clinical: string, more: object = {}) =>
      put(name, {
        resourceType: 'Condition',
        clinicalStatus: hl7('condition-clinical', clinical),
        code: { text: name },
        ...more,
      });

    before(async () => {
      refs.clinic = await create({ resourceType: 'Organization', name: 'Clinic' });
      refs.doctor = await create({ resourceType: 'Practitioner', name: [{ prefix: ['Dr.'] }] });
      refs.role = await create({
        resourceType: 'PractitionerRole',
        practitioner: reference('doctor'),
        organization: reference('clinic'),
      });
      refs.drug = await create({ resourceType: 'Medication', code: { text: 'Amoxicillin 500 mg capsule' } });
      patient = await create({
        resourceType: 'Patient',
        name: [{ family: 'Ångström', given: ['Eva'] }],
        birthDate: '1980-02-29',
        generalPractitioner: [reference('doctor')],
      });
      await put('visit', {
        resourceType: 'Encounter',
        status: 'finished',
        class: { code: 'AMB' },
      });
      const encounter = reference('visit');
      await condition('hypertension', 'active', {
        encounter,
        onsetDateTime: '2015',
        severity: { text: 'mild' },
      });
      await condition('asthma', 'active', { onsetDateTime: '2020-05' });
      await condition('fracture', 'resolved', { abatementDateTime: '2001-01-02' });
      await condition('wrong', 'active', { verificationStatus: hl7('condition-ver-status', 'refuted') });
      await condition('cannot walk', 'active', { category: [loinc('47420-5')] });
      await put('mistake', {
        resourceType: 'Condition',
        verificationStatus: hl7('condition-ver-status', 'entered-in-error'),
        code: { text: 'mistake' },
      });
      await condition('modified', 'active', {
        modifierExtension: [{ url: 'https://example.org/not', valueBoolean: true }],
      });
      await put('penicillin', {
        resourceType: 'AllergyIntolerance',
        clinicalStatus: hl7('allergyintolerance-clinical', 'active'),
        code: { text: 'Penicillin <b>&amp;' },
        criticality: 'high',
        reaction: [{ manifestation: [{ text: 'anaphylaxis' }], severity: 'severe' }],
      });
      await put('statement', {
        resourceType: 'MedicationStatement',
        status: 'active',
        medicationReference: reference('drug'),
        dosage: [{ text: '1 capsule three times a day' }],
        reasonReference: [reference('asthma')],
      });
      await put('request', {
        resourceType: 'MedicationRequest',
        status: 'active',
        intent: 'order',
        medicationCodeableConcept: { text: 'Salbutamol' },
        requester: { reference: `${refs.role}/_history/1` },
        encounter: { reference: refs.visit, type: 'Encounter', display: 'a visit' },
      });
      const never = { status: 'active', intent: 'order', medicationCodeableConcept: { text: 'Never' } };
      await put('never', { resourceType: 'MedicationRequest', ...never, doNotPerform: true });
      await put('shot', {
        resourceType: 'Immunization',
        status: 'completed',
        vaccineCode: { text: 'Tetanus' },
        occurrenceDateTime: '2019-03-01',
      });
      await put('refused', {
        resourceType: 'Immunization',
        status: 'not-done',
        vaccineCode: { text: 'Influenza' },
        occurrenceDateTime: '2019-03-02',
      });
      await put('blood', { resourceType: 'Specimen', type: { text: 'Blood' } });
      await observation('potassium', {
        category: category('laboratory'),
        effectiveDateTime: '2021-01-01T08:30:00+01:00',
        valueQuantity: { value: 4.5, unit: 'mmol/L' },
        specimen: reference('blood'),
        performer: [reference('clinic')],
      });
      await observation('bare lab', { category: category('laboratory') });
      await put('report', {
        resourceType: 'DiagnosticReport',
        status: 'final',
        code: { text: 'Chemistry' },
        result: [reference('potassium'), { reference: 'https://elsewhere.example/Observation/1' }],
      });
      await observation('pressure', {
        category: category('vital-signs'),
        code: loinc('85354-9', 'Blood pressure'),
        effectiveDateTime: '2021-01-02',
        component: [
          { code: loinc('8480-6', 'systolic'), valueQuantity: { value: 120, unit: 'mmHg' } },
          { code: loinc('8462-4', 'diastolic'), valueQuantity: { value: 80, unit: 'mmHg' } },
        ],
      });
      const tobacco = { category: category('social-history'), code: loinc('72166-2', 'Tobacco') };
      const smoker = { ...tobacco, valueCodeableConcept: { text: 'smoker' } };
      await observation('smoked', { ...smoker, effectiveDateTime: '2010-01-01' });
      await observation('smokes', { ...smoker, effectiveDateTime: '2020-01-01' });
      await observation('pregnant', {
        code: loinc('82810-3', 'Pregnancy status'),
        effectiveDateTime: '2021-01-01',
        valueCodeableConcept: { text: 'not pregnant' },
      });
      await put('operation', {
        resourceType: 'Procedure',
        status: 'completed',
        code: { text: 'Appendectomy' },
      });
      await put('pacemaker', {
        resourceType: 'Device',
        status: 'active',
        type: { text: 'Pacemaker' },
        serialNumber: 'S-1',
      });
      await put('will', {
        resourceType: 'DocumentReference',
        status: 'current',
        type: loinc('42348-3', 'Advance directive'),
        content: [{ attachment: { contentType: 'application/pdf', title: 'Will' } }],
      });
      await put('goal', {
        resourceType: 'Goal',
        lifecycleStatus: 'active',
        description: { text: 'walk again' },
      });
      await put('plan', {
        resourceType: 'CarePlan',
        status: 'active',
        intent: 'plan',
        title: 'Rehabilitation',
        goal: [reference('goal')],
      });
      const literal = JSON.stringify({
        resourceType: 'Observation',
        status: 'final',
        category: category('laboratory'),
        code: { text: 'creatinine' },
        subject: { reference: patient },
        effectiveDateTime: '2022-01-01',
        valueQuantity: { value: 1, unit: 'mg/dL' },
      }).replace('"value":1', '"value":1.50');
      const created = await service.fhir('/Observation', { method: 'POST', body: literal });
      refs.creatinine = `Observation/${(JSON.parse(created.text) as Resource).id}`;
      answer = await read(patient);
      document = documentOf(answer);
    });

    it('is a valid document in which every reference leads to an entry', () => {
      expect(faults(answer)).to.deep.equal([]);
      expect(dangling(document)).to.deep.equal([]);
      expect(document.type).to.equal('document');
      expect(document.entry[0]?.resource.resourceType).to.equal('Composition');
      expect(document.entry[1]?.fullUrl).to.equal(`${service.base}/${patient}`);
    });

    it('puts everything into its section, newest first', () => {
      const names = (title: string) =>
        entriesOf(document, title).map((key) => Object.keys(refs).find((name) => refs[name] === key) ?? key);
      expect(names('Problems')).to.deep.equal(['asthma', 'hypertension']);
      expect(names('Past problems')).to.deep.equal(['fracture']);
      expect(names('Functional status')).to.deep.equal(['cannot walk']);
      expect(names('Allergies and intolerances')).to.deep.equal(['penicillin']);
      expect(names('Medications')).to.have.members(['statement', 'request']);
      expect(names('Immunizations')).to.deep.equal(['shot']);
      expect(names('Results')).to.deep.equal(['creatinine', 'potassium', 'report', 'bare lab']);
      expect(names('Vital signs')).to.deep.equal(['pressure']);
      expect(names('Procedures')).to.deep.equal(['operation']);
      expect(names('Social history')).to.deep.equal(['smokes']);
      expect(names('Pregnancy')).to.deep.equal(['pregnant']);
      expect(names('Plan of care')).to.deep.equal(['plan']);
      expect(names('Advance directives')).to.deep.equal(['will']);
      expect(sectionOf(document, 'Medical devices').text.div)
        .to.contain('Pacemaker')
        .and.contain('serial S-1');
      expect(JSON.stringify(document.entry[0]?.resource.text))
        .to.contain('1 refuted')
        .and.contain('1 entered in error')
        .and.contain('1 with an unknown modifier');
    });

    it('brings along what entries refer to, and nothing else', () => {
      const held = document.entry.map(({ fullUrl }) => fullUrl.slice(service.base.length + 1));
      for (const name of ['drug', 'role', 'doctor', 'clinic', 'blood', 'goal', 'pacemaker']) {
        expect(held, name).to.include(refs[name]);
      }
      for (const name of ['visit', 'mistake', 'wrong', 'modified', 'never', 'refused', 'smoked']) {
        expect(held, name).not.to.include(refs[name]);
      }
      expect(new Set(held).size).to.equal(held.length);
      const request = document.entry.find(({ resource }) => resource.resourceType === 'MedicationRequest');
      expect(request?.resource.encounter).to.deep.equal({
        type: 'Encounter',
        identifier: { system: 'urn:ietf:rfc:3986', value: `${service.base}/${refs.visit}` },
        display: 'a visit',
      });
      expect(request?.resource.requester).to.deep.equal({ reference: refs.role });
    });

    it('reads as a page', () => {
      const narrated = (title: string) => sectionOf(document, title).text.div;
      expect(narrated('Results')).to.contain('<td>1.50 mg/dL</td>').and.contain('2021-01-01 08:30+01:00');
      expect(answer.text).to.contain('"value":1.50');
      expect(narrated('Allergies and intolerances'))
        .to.contain('Penicillin &lt;b&gt;&amp;amp;')
        .and.contain('anaphylaxis, severe')
        .and.contain('<td>may be life-threatening</td>');
      expect(narrated('Medications'))
        .to.contain('Amoxicillin 500 mg capsule')
        .and.contain('1 capsule three times a day')
        .and.contain('asthma');
      expect(narrated('Vital signs')).to.contain('systolic: 120 mmHg; diastolic: 80 mmHg');
    });

    it('is the same for the same record, but for its identifier and time', async () => {
      const again = documentOf(await read(patient));
      const [first, second] = [document, again].map(({ entry, ...rest }) => {
        const { id, identifier, date, text, ...resource }: Resource = entry[0]?.resource ?? {
          resourceType: '',
          id: '',
        };
        expect([id, identifier, date, text]).not.to.include(undefined);
        return { entries: entry.slice(1), resource, type: rest.type };
      });
      expect(first).to.deep.equal(second);
      expect(again.identifier.value).not.to.equal(document.identifier.value);
    });

    it('is also asked by POST, by profile, and by an identifier', async () => {
      const value = `id-${patient}`;
      const identified = await create({
        resourceType: 'Patient',
        name: [{ text: 'Identified' }],
        birthDate: '1990-01-01',
        identifier: [{ system: 'urn:test', value }],
      });
      const profile = encodeURIComponent(`${IPS}/Composition-uv-ips|2.0.0`);
      await read(identified, `?profile=${profile}`);
      const parameter = [{ name: 'identifier', valueString: `urn:test|${value}` }];
      const posted = await service.post('/Patient/$summary', { resourceType: 'Parameters', parameter });
      expect(documentOf(posted).entry[1]?.fullUrl).to.equal(`${service.base}/${identified}`);
      const status = async (query: string) => (await service.fhir(`/Patient/$summary${query}`)).status;
      expect(await status('')).to.equal(400);
      expect(await status('?identifier=urn:test|nobody')).to.equal(404);
      await create({ resourceType: 'Patient', identifier: [{ system: 'urn:test', value }] });
      expect(await status(`?identifier=urn:test|${value}`)).to.equal(412);
      await create({ resourceType: 'Patient', identifier: [{ system: 'urn:test', value: `L-${value}` }] });
      await create({ resourceType: 'Patient', identifier: [{ system: 'urn:test', value: `l-${value}` }] });
      for (const letter of ['L', 'l']) {
        expect(await status(`?identifier=urn:test|${letter}-${value}`), letter).to.equal(200);
        expect(await status(`?identifier=${letter}-${value}`), letter).to.equal(200);
      }
      expect(await status(`?identifier=urn:test|${value.toUpperCase()}`)).to.equal(404);
      for (const query of ['foo=1', '_summary=true', '_count=5']) {
        const refused = await service.fhir(`/${identified}/$summary?${query}&_format=json`);
        expect([refused.status, refused.text], query).to.satisfy(
          ([code, text]: [number, string]) => code === 400 && text.includes(`http.${query.split('=')[0]}`),
        );
      }
      const other = await service.fhir(`/${identified}/$summary?profile=${IPS}/Bundle-uv-ips`);
      expect([other.status, other.text]).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.includes('profile'),
      );
    });
  });

  it('of an empty record says what it does not hold', async () => {
    const patient = await create({ resourceType: 'Patient', name: [{ use: 'old' }] });
    const answer = await read(patient);
    expect(faults(answer)).to.deep.equal([]);
    const sections = sectionsOf(documentOf(answer));
    expect(sections.map(({ title }) => title)).to.deep.equal([
      'Problems',
      'Allergies and intolerances',
      'Medications',
    ]);
    for (const { emptyReason, entry, text } of sections) {
      expect(emptyReason?.coding[0]?.code).to.equal('unavailable');
      expect(entry).to.equal(undefined);
      expect(text.div).to.contain('does not mean that there are none');
    }
    expect(faults(await read(await create({ resourceType: 'Patient' })))).to.deep.equal([]);
  });

  it('says so when a section is cut, and keeps the newest of each kind', async () => {
    const patient = await create({ resourceType: 'Patient', name: [{ text: 'Long' }], birthDate: '1950' });
    const entry = Array.from({ length: 120 }, (_, n) => ({
      resource: {
        resourceType: 'Observation',
        status: 'final',
        category: category('vital-signs'),
        code: n === 0 ? loinc('8302-2', 'Height') : loinc('8867-4', 'Heart rate'),
        subject: { reference: patient },
        effectiveDateTime: new Date(Date.UTC(2020, 0, 1 + n)).toISOString().slice(0, 10),
        valueQuantity: { value: 60 + n },
      },
      request: { method: 'POST', url: 'Observation' },
    }));
    await service.post('', { resourceType: 'Bundle', type: 'transaction', entry });
    const { text, entry: entries } = sectionOf(documentOf(await read(patient)), 'Vital signs');
    expect(entries).to.have.length(100);
    expect(text.div).to.contain('100 of 120 entries').and.contain('Height').and.contain('2020-04-29');
    expect(text.div).not.to.contain('2020-01-02');
  });

  it('is refused for what is not there', async () => {
    const patient = await create({ resourceType: 'Patient' });
    const other = await service.newProject();
    expect((await service.fhir(`/${patient}/$summary`, { key: other })).status).to.equal(404);
    await service.fhir(`/${patient}`, { method: 'DELETE' });
    expect((await service.fhir(`/${patient}/$summary`)).status).to.equal(410);
    expect((await service.fhir('/Patient/nobody/$summary')).status).to.equal(404);
  });
});
