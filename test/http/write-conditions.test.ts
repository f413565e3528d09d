import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { restOf } from '#test/support/rest.ts';
import type { Answer } from '#test/support/service.ts';

/** RFC 9110, sections 13.1.1 and 13.1.2; docs/spec/decisions.md, section 3 */
describe('conditions of writes', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());
  const rest = restOf(() => service);

  const refused = (answer: Answer, header: string): void => {
    expect(answer.status, answer.text).to.equal(400);
    expect(answer.text).to.contain(`${header} is supported`);
  };

  it('that REST v1 can’t keep are refused, and nothing is written', async () => {
    const patient = String((await rest.made('/patients', { family: 'Berg' })).id);
    const condition = String((await rest.made(`/patients/${patient}/conditions`, { code: 'E11' })).id);
    for (const value of ['*', 'W/"1"']) {
      const headers = { 'If-None-Match': value };
      refused(await rest.v1('PUT', `/patients/${patient}`, { family: 'Lind' }, headers), 'If-None-Match');
      refused(await rest.v1('DELETE', `/conditions/${condition}`, undefined, headers), 'If-None-Match');
      const made = await rest.v1('POST', `/patients/${patient}/conditions`, { code: 'I10' }, headers);
      refused(made, 'If-None-Match');
    }
    const headers = { 'If-Match': 'W/"9"' };
    refused(await rest.v1('POST', `/patients/${patient}/conditions`, { code: 'I10' }, headers), 'If-Match');
    expect((await rest.get(`/patients/${patient}`)).json).to.include({ family: 'Berg', version: 1 });
    expect((await rest.get(`/patients/${patient}/conditions`)).json.total).to.equal(1);
  });

  it('of REST v1 are read by reads still', async () => {
    const patient = String((await rest.made('/patients', { family: 'Berg' })).id);
    const headers = { 'If-None-Match': '*' };
    expect((await rest.v1('GET', `/patients/${patient}`, undefined, headers)).status).to.equal(200);
    const context = await rest.v1('POST', '/context', { patient, format: 'text' }, headers);
    expect(context.status, context.text).to.equal(200);
  });

  it('that FHIR can’t keep are refused, also of creates, Bundles and purges', async () => {
    const patient = String((await rest.made('/patients', { family: 'Berg' })).id);
    const resource = JSON.stringify({ resourceType: 'Organization', name: 'Clinic' });
    const bundle = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry: [] });
    for (const [header, value] of [
      ['If-None-Match', '*'],
      ['If-Match', 'W/"9"'],
    ] as const) {
      const headers = { [header]: value };
      const post = (path: string, body: string) => service.fhir(path, { method: 'POST', body, headers });
      refused(await post('/Organization', resource), header);
      refused(await post('/', bundle), header);
      const purge = { method: 'DELETE', headers };
      refused(await service.fhir(`/Patient/${patient}?_purge=true`, purge), header);
    }
    expect((await service.fhir('/Organization?_summary=count')).json.total).to.equal(0);
    expect((await rest.get(`/patients/${patient}`)).status).to.equal(200);
  });
});
