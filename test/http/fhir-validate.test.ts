import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { changed, ipsExample } from '#test/support/ips.ts';
import type { Answer } from '#test/support/service.ts';

interface Outcome {
  readonly resourceType: string;
  readonly issue: readonly {
    readonly severity: string;
    readonly code: string;
    readonly diagnostics: string;
    readonly expression?: readonly string[];
  }[];
}

const PATIENT_IPS = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Patient-uv-ips';
const PATIENT = { resourceType: 'Patient', name: [{ family: 'Ruiz' }] };

/** https://hl7.org/fhir/R4/resource-operation-validate.html */
describe('$validate', () => {
  let service: InProcess;
  let id: string;
  const ask = (path: string, body?: object, key?: string): Promise<Answer> =>
    service.fhir(path, {
      method: 'POST',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(key === undefined ? {} : { key }),
    });
  const outcomeOf = (answer: Answer): Outcome => JSON.parse(answer.text) as Outcome;
  /** Returns `severity code expression` for each issue of a response with status 200. */
  const issuesOf = (answer: Answer): string[] => {
    expect(answer.status, answer.text).to.equal(200);
    const outcome = outcomeOf(answer);
    expect(outcome.resourceType).to.equal('OperationOutcome');
    for (const issue of outcome.issue) expect(issue.diagnostics).to.be.a('string').and.not.equal('');
    return outcome.issue.map(({ severity, code, expression = [] }) =>
      [severity, code, ...expression].join(' '),
    );
  };
  const parameters = (...parameter: object[]): object => ({ resourceType: 'Parameters', parameter });
  const ALL_WELL = ['information informational'];

  before(async () => {
    service = await startInProcess();
    ({ id } = JSON.parse((await service.post('/Patient', PATIENT)).text) as { id: string });
  });
  after(() => service.stop());

  it('says that a resource is valid', async () => {
    expect(issuesOf(await ask('/Patient/$validate', PATIENT))).to.deep.equal(ALL_WELL);
  });

  it('warns of what is implausible', async () => {
    const body = { ...PATIENT, birthDate: '2962-01-01', deceasedDateTime: '1990-01-01' };
    const warnings = ['warning value Patient.birthDate', 'warning value Patient.birthDate'];
    expect(issuesOf(await ask('/Patient/$validate', body))).to.deep.equal(warnings);
    const stored = await service.post('/Patient', { ...PATIENT, birthDate: '2962-01-01' });
    const path = `/Patient/${String(stored.json.id)}/$validate`;
    expect(issuesOf(await service.fhir(path))).to.deep.equal(warnings.slice(1));
    const bundle = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [{ fullUrl: 'urn:uuid:5a0c6d5a-9a0a-4e2b-9f0b-1f3c5d7e9a01', resource: body }],
    };
    const place = 'warning value Bundle.entry[0].resource.birthDate';
    expect(issuesOf(await ask('/Bundle/$validate', bundle))).to.include(place);
  });

  it('names every fault, as the write that would be refused', async () => {
    const faulty = {
      ...PATIENT,
      gender: 'f',
      birthDate: '1970-02-30',
      contact: [{ relationship: [] }],
      foo: 1,
    };
    const found = issuesOf(await ask('/Patient/$validate', faulty));
    const written = await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(faulty) });
    expect(written.status).to.equal(422);
    const refused = outcomeOf(written).issue.map(
      ({ code, expression }) => `error ${code} ${expression?.[0]}`,
    );
    expect(found).to.have.members(refused).and.to.have.length.greaterThan(4);
    expect(found).to.include.members(['error code-invalid Patient.gender', 'error structure Patient.foo']);
  });

  it('takes the resource and the profile as Parameters, or the profile in the URL', async () => {
    const missing = ['error required Patient.birthDate'];
    const query = `/Patient/$validate?profile=${encodeURIComponent(PATIENT_IPS)}`;
    expect(issuesOf(await ask(query, PATIENT))).to.deep.equal(missing);
    const resource = { name: 'resource', resource: PATIENT };
    const given = parameters(resource, { name: 'profile', valueUri: PATIENT_IPS });
    expect(issuesOf(await ask('/Patient/$validate', given))).to.deep.equal(missing);
    expect(issuesOf(await ask('/Patient/$validate', parameters(resource)))).to.deep.equal(ALL_WELL);
    const whole = { ...PATIENT, birthDate: '1970' };
    expect(issuesOf(await ask(query, whole))).to.deep.equal(ALL_WELL);
  });

  it('names a profile that it does not know', async () => {
    const answer = await ask('/Patient/$validate?profile=http://example.org/x', PATIENT);
    expect(issuesOf(answer)).to.deep.equal(['error not-supported']);
    expect(outcomeOf(answer).issue[0]?.diagnostics).to.include('http://example.org/x');
  });

  it('validates documents', async () => {
    const document = ipsExample('Bundle-bundle-ips-all-sections');
    expect(issuesOf(await ask('/Bundle/$validate', document))).to.deep.equal(ALL_WELL);
    const faulty = changed(document, 'entry[0].resource.section[3].title', undefined);
    expect(issuesOf(await ask('/Bundle/$validate', faulty))).to.include(
      'error required Bundle.entry[0].resource.section[3].title',
    );
    const composition = ipsExample('Composition-composition-minimal');
    expect(issuesOf(await ask('/Composition/$validate', composition))).to.deep.equal(ALL_WELL);
  });

  it('names a resource of another type than the URL’s', async () => {
    const body = { resourceType: 'Organization', name: 'x' };
    expect(issuesOf(await ask('/Patient/$validate', body))).to.deep.equal(['error value Patient']);
    expect((await ask('/Nonsense/$validate', body)).status).to.equal(404);
    expect((await ask('/$validate', body)).status).to.equal(404);
    expect((await ask('/Bundle/1/$validate', body)).status).to.equal(404);
  });

  it('with mode create tells what a create would be refused for', async () => {
    const observation = (reference: string): object => ({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject: { reference },
    });
    const path = '/Observation/$validate';
    expect(issuesOf(await ask(path, observation('Patient/nobody')))).to.deep.equal(ALL_WELL);
    expect(issuesOf(await ask(`${path}?mode=create`, observation('Patient/nobody')))).to.deep.equal([
      'error value Observation.subject.reference',
    ]);
    expect(issuesOf(await ask(`${path}?mode=create`, observation(`Patient/${id}`)))).to.deep.equal(ALL_WELL);
    const read = { resourceType: 'CodeSystem', status: 'active', content: 'complete' };
    expect(issuesOf(await ask('/CodeSystem/$validate?mode=create', read))).to.deep.equal([
      'error not-supported CodeSystem',
    ]);
    const { total } = JSON.parse((await service.fhir('/Observation?_summary=count')).text) as {
      total: number;
    };
    expect(total, 'nothing is written').to.equal(0);
  });

  it('with mode update tells what an update would be refused for', async () => {
    const path = `/Patient/${id}/$validate?mode=update`;
    expect(issuesOf(await ask(path, { ...PATIENT, id }))).to.deep.equal(ALL_WELL);
    expect(issuesOf(await ask(path, { ...PATIENT, id: 'other' }))).to.include('error value Patient.id');
    expect(issuesOf(await ask(path, { ...PATIENT, id, gender: 'f' }))).to.deep.equal([
      'error code-invalid Patient.gender',
    ]);
    const unknown = '/Patient/00000000-0000-4000-8000-000000000000/$validate?mode=update';
    expect(
      issuesOf(await ask(unknown, { ...PATIENT, id: '00000000-0000-4000-8000-000000000000' })),
    ).to.deep.equal(['error not-supported']);
    expect((await ask('/Patient/$validate?mode=update', PATIENT)).status).to.equal(400);
    const history = JSON.parse((await service.fhir(`/Patient/${id}/_history`)).text) as { total: number };
    expect(history.total, 'nothing is written').to.equal(1);
  });

  it('with mode delete tells whether it would be deleted', async () => {
    expect(issuesOf(await ask(`/Patient/${id}/$validate?mode=delete`))).to.deep.equal(ALL_WELL);
    expect((await service.fhir(`/Patient/${id}`)).status).to.equal(200);
    expect(
      (await ask('/Patient/00000000-0000-4000-8000-000000000000/$validate?mode=delete')).status,
    ).to.equal(404);
  });

  it('with mode profile, or nothing sent, validates what is there', async () => {
    const query = `profile=${encodeURIComponent(PATIENT_IPS)}`;
    const missing = ['error required Patient.birthDate'];
    expect(issuesOf(await ask(`/Patient/${id}/$validate?mode=profile&${query}`))).to.deep.equal(missing);
    expect(issuesOf(await service.fhir(`/Patient/${id}/$validate?${query}`))).to.deep.equal(missing);
    expect((await ask(`/Patient/${id}/$validate?mode=profile`, PATIENT)).status).to.equal(400);
    const other = await service.newProject();
    expect((await ask(`/Patient/${id}/$validate`, undefined, other)).status).to.equal(404);
  });

  it('refuses what it cannot understand', async () => {
    expect((await ask('/Patient/$validate')).status).to.equal(400);
    expect((await ask('/Patient/$validate?mode=sometimes', PATIENT)).status).to.equal(400);
    expect((await service.fhir('/Patient/$validate', { method: 'POST', body: '{' })).status).to.equal(400);
    expect((await ask('/Patient/$validate', PATIENT, 'sk_test_none')).status).to.equal(401);
  });

  it('is declared for every type', async () => {
    const { rest } = JSON.parse((await service.fhir('/metadata')).text) as {
      rest: { resource: { type: string; operation?: { name: string; definition: string }[] }[] }[];
    };
    for (const { type, operation = [] } of rest[0]?.resource ?? []) {
      expect(
        operation.map(({ name }) => name),
        type,
      ).to.include('validate');
    }
  });
});
