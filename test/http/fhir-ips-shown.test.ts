/** The facts in summaries and their wording: docs/summary.md. */
import { expect } from 'chai';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Resource {
  readonly resourceType: string;
  readonly [element: string]: unknown;
}

interface Section {
  readonly title: string;
  readonly text: { readonly div: string };
}

const concept = (system: string, code: string, more: object = {}) => ({
  coding: [{ system, code, ...more }],
});
const LOINC = 'http://loinc.org';
const BY_AI = { 'X-Service-Author-Type': 'ai' };

describe('what a summary shows', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const create = async (body: Resource, headers = {}): Promise<string> => {
    const { text } = await service.post(`/${body.resourceType}`, body, headers);
    const { resourceType, id } = JSON.parse(text) as { resourceType: string; id: string };
    return `${resourceType}/${id}`;
  };
  const put = async (key: string, body: object, headers = {}): Promise<void> => {
    const [, id] = key.split('/');
    const text = JSON.stringify({ ...body, id });
    const answer = await service.fhir(`/${key}`, { method: 'PUT', body: text, headers });
    expect(answer.status, answer.text).to.equal(200);
  };
  const summaryOf = async (patient: string) => {
    const answer = await service.fhir(`/${patient}/$summary`);
    expect(answer.status, answer.text).to.equal(200);
    const { entry } = JSON.parse(answer.text) as {
      entry: readonly { fullUrl: string; resource: { text: { div: string }; section: readonly Section[] } }[];
    };
    const composition = entry[0]?.resource;
    return {
      text: answer.text,
      overview: composition?.text.div ?? '',
      held: entry.map(({ fullUrl }) => fullUrl.slice(service.base.length + 1)),
      narrated: (title: string) => composition?.section.find((each) => each.title === title)?.text.div ?? '',
    };
  };

  it('is not what an AI wrote last, which is counted', async () => {
    const patient = await create({ resourceType: 'Patient', name: [{ text: 'Eva' }], birthDate: '1980' });
    const subject = { reference: patient };
    const condition = (text: string) => ({ resourceType: 'Condition', subject, code: { text } });
    const kept = await create(condition('asthma'));
    const said = await create(condition('said by an AI'), BY_AI);
    const confirmed = await create(condition('confirmed by a person'), BY_AI);
    await put(confirmed, condition('confirmed by a person'), { 'X-Service-Author-Type': 'practitioner' });
    const rewritten = await create(condition('gout'));
    await put(rewritten, condition('rewritten by an AI'), BY_AI);
    const withdrawn = await create(condition('withdrawn'), BY_AI);
    await service.fhir(`/${withdrawn}`, { method: 'DELETE' });
    const goal = await create(
      { resourceType: 'Goal', lifecycleStatus: 'active', description: { text: 'a goal of an AI' }, subject },
      BY_AI,
    );
    const measured = { resourceType: 'Observation', status: 'final', subject, code: { text: 'measured' } };
    const observation = await create(measured, BY_AI);
    await create({
      resourceType: 'DiagnosticReport',
      status: 'final',
      code: { text: 'report' },
      subject,
      result: [{ reference: observation }],
    });
    await create({
      resourceType: 'CarePlan',
      status: 'active',
      intent: 'plan',
      title: 'plan',
      subject,
      goal: [{ reference: goal }],
    });
    const { text, overview, held, narrated } = await summaryOf(patient);
    expect(held).to.include.members([kept, confirmed]);
    expect(held).not.to.include.oneOf([said, rewritten, withdrawn, goal, observation]);
    expect(narrated('Problems')).to.contain('asthma').and.contain('confirmed by a person');
    expect(text).not.to.match(/said by an AI|rewritten by an AI|a goal of an AI|measured/);
    const changed = 'changed by an AI since somebody else wrote it';
    expect(overview).to.contain('Left out of this summary: ').and.contain('2 written by an AI');
    expect(overview).to.contain(`1 ${changed}`);
    expect(narrated('Problems'))
      .to.contain(`Not shown: 1 entry ${changed}. Nobody has confirmed that.`)
      .and.contain('<p>Before AI changed it: gout</p>');
    expect(text).to.contain(
      `"meta":{"tag":[{"system":"https://annal.dev/fhir/left-out","code":"changed-by-ai","display":"1 ${changed}"}]}`,
    );
  });

  it('says of what an AI ended, refuted or took back that it was changed, and counts it as no fact', async () => {
    const patient = await create({ resourceType: 'Patient', name: [{ text: 'Ida' }], birthDate: '1980' });
    const subject = { reference: patient };
    const state = (kind: string, code: string) =>
      concept(`http://terminology.hl7.org/CodeSystem/allergyintolerance-${kind}`, code);
    const allergy = (text: string, more: object = {}) => ({
      resourceType: 'AllergyIntolerance',
      patient: subject,
      code: { text },
      clinicalStatus: state('clinical', 'active'),
      ...more,
    });
    const drug = (status: string) => ({
      resourceType: 'MedicationStatement',
      status,
      subject,
      medicationCodeableConcept: { text: 'ramipril' },
    });
    const over = await create(allergy('penicillin'));
    await put(over, allergy('penicillin', { clinicalStatus: state('clinical', 'inactive') }), BY_AI);
    const refuted = await create(allergy('latex'));
    const doubt = { verificationStatus: state('verification', 'refuted') };
    await put(refuted, allergy('latex', doubt), BY_AI);
    const stopped = await create(drug('active'));
    await put(stopped, drug('stopped'), BY_AI);
    const vaccine = (text: string) => ({
      resourceType: 'Immunization',
      status: 'completed',
      patient: subject,
      vaccineCode: { text },
      occurrenceDateTime: '2020-03-04',
    });
    const given = await create(vaccine('measles'));
    await put(given, vaccine('mumps'), BY_AI);
    await put(given, vaccine('rubella'), BY_AI);
    const { text, overview, narrated } = await summaryOf(patient);
    const changed = 'changed by an AI since somebody else wrote';
    expect(narrated('Allergies and intolerances')).to.contain(`Not shown: 2 entries ${changed} it.`);
    expect(narrated('Medications')).to.contain(`Not shown: 1 entry ${changed} it.`);
    expect(overview).to.contain(`4 ${changed} it`).and.not.contain('refuted');
    expect(text).to.contain(`"code":"changed-by-ai","display":"4 ${changed} them"`);
    expect(narrated('Allergies and intolerances'))
      .to.contain('<p>Before AI changed it: penicillin; Status: active</p>')
      .and.contain('<p>Before AI changed it: latex; Status: active</p>')
      .and.contain('holds no other information about allergies');
    expect(narrated('Medications')).to.contain('<p>Before AI changed it: ramipril; Status: active</p>');
    expect(narrated('Immunizations'))
      .to.contain('<p>Before AI changed it: measles; Date: 2020-03-04; Status: given</p>')
      .and.not.match(/mumps|rubella/);
    const { value } = parseJson(text);
    const issues = validateWithProfiles(value as JsonObject, [
      'http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips',
    ]);
    expect(issues.filter(({ severity = 'error' }) => severity === 'error')).to.deep.equal([]);
  });

  it('says how often a medicine was prescribed, and what must not be given', async () => {
    const patient = await create({ resourceType: 'Patient', name: [{ text: 'Ada' }], birthDate: '1980' });
    const subject = { reference: patient };
    const order = (text: string, status: string, authoredOn: string, more: object = {}) =>
      create({
        resourceType: 'MedicationRequest',
        status,
        intent: 'order',
        subject,
        authoredOn,
        medicationCodeableConcept: { text },
        ...more,
      });
    const statin = await order('simvastatin', 'active', '2020-07-28');
    const past = await order('simvastatin', 'completed', '2019-07-28');
    await order('simvastatin', 'stopped', '2004-08-01');
    await order('amoxicillin', 'completed', '2010-01-02');
    const forbidden = await order('ketorolac', 'active', '2021-02-03', { doNotPerform: true });
    const { held, narrated } = await summaryOf(patient);
    expect(held).to.include(statin).and.not.include.oneOf([past, forbidden]);
    expect(narrated('Medications'))
      .to.contain('<td>active; prescribed 3 times, 2004-08-01 to 2020-07-28</td>')
      .and.contain('<td>Must not be given: ketorolac</td>')
      .and.contain('<td>not to be given; ordered 2021-02-03</td>')
      .and.not.contain('amoxicillin');
  });

  it('says that there is nothing current if all is over', async () => {
    const patient = await create({ resourceType: 'Patient', name: [{ text: 'Ole' }], birthDate: '1980' });
    const subject = { reference: patient };
    await create({
      resourceType: 'MedicationStatement',
      status: 'completed',
      subject,
      medicationCodeableConcept: { text: 'ibuprofen' },
    });
    const { narrated } = await summaryOf(patient);
    expect(narrated('Medications')).to.contain('This record holds no current medications, only past ones.');
    expect(narrated('Problems')).to.contain('This record holds no information about problems.');
  });

  it('names codes that come without words, and leaves their resources as they are', async () => {
    const patient = await create({ resourceType: 'Patient', name: [{ text: 'Eva' }], birthDate: '1980' });
    const subject = { reference: patient };
    const component = (code: string, value: number) => ({
      code: concept(LOINC, code),
      valueQuantity: { value, unit: 'mmHg' },
    });
    const pressure = await create({
      resourceType: 'Observation',
      status: 'final',
      category: [concept('http://terminology.hl7.org/CodeSystem/observation-category', 'vital-signs')],
      code: concept(LOINC, '85354-9'),
      subject,
      effectiveDateTime: '2021-01-02',
      interpretation: [concept('http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', 'H')],
      component: [component('8480-6', 150), component('8462-4', 95)],
    });
    const drug = await create({
      resourceType: 'Medication',
      code: concept('http://www.whocc.no/atc', 'A10BA02'),
    });
    await create({
      resourceType: 'MedicationStatement',
      status: 'active',
      subject,
      medicationReference: { reference: drug },
    });
    const problem = (code: object) => create({ resourceType: 'Condition', subject, code });
    await problem(concept('http://example.org/own', 'X-17'));
    await problem(concept(LOINC, '8480-6', { display: 'as the sender calls it' }));
    const { text, narrated } = await summaryOf(patient);
    expect(narrated('Vital signs'))
      .to.contain('<td>Blood pressure panel</td>')
      .and.contain('Systolic blood pressure: 150 mmHg; Diastolic blood pressure: 95 mmHg')
      .and.contain('<td>high</td>')
      .and.not.contain('85354-9');
    expect(narrated('Medications')).to.contain('<td>metformin</td>');
    expect(narrated('Problems')).to.contain('X-17').and.contain('as the sender calls it');
    const { text: stored } = await service.fhir(`/${pressure}`);
    const { code } = JSON.parse(stored) as { code: object };
    expect(text).to.contain(`"code":${JSON.stringify(code)},"subject"`);
    expect(code).to.deep.equal(concept(LOINC, '85354-9'));
  });
});
