/** Requests with very many faults: the responses are short, list the first hundred faults, and say how many more there are. */
import { expect } from 'chai';
import { z } from 'zod';
import { ROUTES } from '#src/http/routes.ts';
import { MAX_FAULTS } from '#src/shared/faults.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

/** More arguments than a function call can take. */
const MANY = 150_000;

interface ErrorBody {
  readonly message: string;
  readonly errors: readonly { readonly field: string; readonly message: string }[];
}

describe('a request with very many faults', () => {
  let service: InProcess;
  let user: AdminUser;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    user = await signIn(service, 'faults@example.org');
    const created = await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Many' }] });
    patient = String(created.json.id);
  });
  after(() => service.stop());

  const v1 = (path: string, body: string, type = 'application/json'): Promise<Answer> =>
    service.fhir(`${service.url}/v1${path}`, { method: 'POST', body, headers: { 'Content-Type': type } });
  const errorIn = ({ text }: Answer): ErrorBody => (JSON.parse(text) as { error: ErrorBody }).error;
  const short = (answer: Answer): void => {
    expect(answer.status, String(answer)).to.equal(422);
    expect(answer.text.length).to.be.below(60_000);
  };

  it('of unknown members is refused, naming a hundred of them and the number of the others', async () => {
    const members = Array.from({ length: MANY }, (_, n) => `"k${n}":1`);
    const answer = await v1('/patients', `{"family":"A",${members}}`);
    short(answer);
    const { errors, message } = errorIn(answer);
    expect(errors).to.have.length(MAX_FAULTS);
    expect(message).to.contain(`${MANY - MAX_FAULTS} more faults are not listed`);
  });

  it('of more members than a body may have values is refused for that', async () => {
    const answer = await v1(
      '/patients',
      `{"family":"A",${Array.from({ length: 4 * MANY }, (_, n) => `"k${n}":1`)}}`,
    );
    expect(answer.status, String(answer)).to.equal(413);
    expect(errorIn(answer).message).to.contain('more than 200000 JSON values');
  });

  it('of texts with control characters is refused in the same way', async () => {
    const given = Array.from({ length: MANY }, () => '\u0001');
    const answer = await v1('/patients', JSON.stringify({ family: 'A', given }));
    short(answer);
    expect(errorIn(answer).message).to.match(/\d+ more faults are not listed/);
  });

  it('in a list that is too long is told so, without a look at its items', async () => {
    const { id } = (await user.done('POST', '/organizations', { name: 'Faults' })) as { id: string };
    const project = (await user.done('POST', `/organizations/${id}/projects`, { name: 'Faults' })) as {
      id: string;
    };
    const answer = await user.ask('POST', `/projects/${project.id}/keys`, {
      name: 'a',
      environment: 'sandbox',
      scopes: Array.from({ length: MANY }, () => 'admin'),
    });
    short(answer);
    expect(errorIn(answer).errors).to.deep.equal([
      { field: 'scopes', code: 'too-long', message: 'scopes must have at most 2 items' },
    ]);
  });

  it('in the heading of a table is refused', async () => {
    const heading = Array.from({ length: MANY }, (_, n) => `c${n}`).join();
    const answer = await v1(`/patients/${patient}/labs/import`, `${heading}\n`, 'text/csv');
    short(answer);
    expect(errorIn(answer).errors[0]?.field).to.equal('columns');
  });

  it('of one resource, or of the entries of a Bundle, gets an OperationOutcome with a note on the others', async () => {
    const names = Array.from({ length: 3_000 }, () => ({ family: 1 }));
    const resource = { resourceType: 'Patient', name: names };
    const one = await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(resource) });
    const entry = Array.from({ length: 30 }, () => ({
      resource: { resourceType: 'Patient', name: names.slice(0, 100) },
      request: { method: 'POST', url: 'Patient' },
    }));
    const bundle = { resourceType: 'Bundle', type: 'transaction', entry };
    const many = await service.fhir('/', { method: 'POST', body: JSON.stringify(bundle) });
    for (const answer of [one, many]) {
      short(answer);
      const issues = answer.json.issue as unknown as { diagnostics: string; severity: string }[];
      expect(issues).to.have.length(MAX_FAULTS + 1);
      expect(issues.at(-1)).to.include({
        severity: 'information',
        diagnostics: '2900 more faults are not listed',
      });
    }
  });

  it('of references to nothing is refused, however many they are', async () => {
    const focus = Array.from({ length: 30_000 }, () => ({ reference: 'Patient/x' }));
    const body = JSON.stringify({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'a' },
      subject: { reference: `Patient/${patient}` },
      focus,
    });
    short(await service.fhir('/Observation', { method: 'POST', body }));
  });

  it('in a ValueSet that is sent along is refused: larger ones are too costly', async () => {
    const concept = Array.from({ length: MANY }, () => ({}));
    const body = JSON.stringify({ resourceType: 'ValueSet', compose: { include: [{ concept }] } });
    const answer = await service.fhir('/ValueSet/$expand', { method: 'POST', body });
    expect(answer.status, String(answer)).to.equal(413);
    expect(answer.text).to.contain('too-costly');
  });
});

describe('the schemas of requests', () => {
  it('give every list a maximum', () => {
    const endless: string[] = [];
    const look = (schema: unknown, place: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      if ('type' in schema && schema.type === 'array' && !('maxItems' in schema)) endless.push(place);
      for (const [name, member] of Object.entries(schema)) look(member, `${place}.${name}`);
    };
    for (const { body, query, operationId } of ROUTES) {
      for (const schema of [body, query])
        if (schema !== undefined)
          look(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), operationId);
    }
    expect(endless).to.deep.equal([]);
  });
});
