import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { restOf } from '#test/support/rest.ts';
import type { Answer } from '#test/support/service.ts';

/** docs/spec/decisions.md, section 5: parameters of writes */
describe('parameters of writes', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());
  const rest = restOf(() => service);
  beforeEach(async () => {
    patient = String((await rest.made('/patients', { family: 'Berg' })).id);
  });
  const remove = (path: string): Promise<Answer> => service.fhir(path, { method: 'DELETE' });
  const refused = (answer: Answer, says: string | RegExp): void => {
    expect(answer.status, answer.text).to.equal(400);
    expect(JSON.stringify(answer.json)).to.match(typeof says === 'string' ? new RegExp(says) : says);
  };
  const isThere = async (): Promise<void> => {
    expect((await rest.get(`/patients/${patient}`)).status).to.equal(200);
  };

  for (const [query, says] of [
    ['_purg=true', /unknown parameter _purg of a DELETE; did you mean `_purge`\?/],
    ['_PURGE=true', /did you mean `_purge`\?/],
    ['purge=true', /did you mean `_purge`\?/],
    ['identifier=4711', /unknown parameter identifier of a DELETE; its parameters are _format/],
    ['_purge=false&_purge=true', /_purge must be true or false, once/],
  ] as const)
    it(`of a DELETE that are wrong delete nothing: ${query}`, async () => {
      refused(await remove(`/Patient/${patient}?${query}`), says);
      await isThere();
    });

  it('of a DELETE that are general ones are taken', async () => {
    const query = '_format=json&_pretty=true&_summary=true&_elements=id&_purge=false';
    expect((await remove(`/Patient/${patient}?${query}`)).status).to.equal(204);
  });

  it('that are criteria keep their own rules', async () => {
    refused(await remove('/Organization?nam=Clinic'), 'no search parameter nam');
    refused(await remove('/Patient?family=Berg&_purge=true'), 'single Patient only');
    expect((await remove('/Organization?name=Nowhere&_purge=false')).status).to.equal(204);
    const update = { method: 'PUT', body: JSON.stringify({ resourceType: 'Organization', name: 'Clinic' }) };
    refused(await service.fhir('/Organization?name=Nowhere&_purge=true', update), '_purge');
  });

  it('of other writes are refused with handling=strict only', async () => {
    const body = JSON.stringify({ resourceType: 'Patient', id: patient });
    const strict = { Prefer: 'handling=strict' };
    const put = { method: 'PUT', body };
    refused(
      await service.fhir(`/Patient/${patient}?_prety=true`, { ...put, headers: strict }),
      /unknown parameter _prety of a PUT; did you mean `_pretty`\?/,
    );
    expect((await service.fhir(`/Patient/${patient}?_prety=true`, put)).status).to.equal(200);
    const create = { method: 'POST', body: JSON.stringify({ resourceType: 'Organization', name: 'Clinic' }) };
    refused(await service.fhir('/Organization?x=1', { ...create, headers: strict }), 'unknown parameter x');
    expect(
      (await service.fhir('/Organization?_format=json', { ...create, headers: strict })).status,
    ).to.equal(201);
  });

  it('of DELETEs of REST v1 are refused', async () => {
    const condition = String((await rest.made(`/patients/${patient}/conditions`, { code: 'E11' })).id);
    const answer = await rest.v1('DELETE', `/conditions/${condition}?_purge=true`);
    expect(answer.status, answer.text).to.equal(422);
    expect(answer.text).to.contain('unknown query parameter');
    expect((await rest.get(`/conditions/${condition}`)).status).to.equal(200);
  });
});
