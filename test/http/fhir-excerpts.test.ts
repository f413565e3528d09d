/** Resources that clients send back: excerpts are refused, and nulls without meaning aren't stored. */
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

describe('resources that are sent back', () => {
  let service: InProcess;
  let id: string;
  before(async () => {
    service = await startInProcess();
    const identifier = [{ system: 'urn:excerpt', value: '1' }];
    const patient = { resourceType: 'Patient', identifier, name: [{ family: 'Whole' }], gender: 'female' };
    id = String((await service.post('/Patient', patient)).json.id);
  });
  after(() => service.stop());

  const put = (path: string, body: object): Promise<Answer> =>
    service.fhir(path, { method: 'PUT', body: JSON.stringify(body) });
  const issueOf = ({ json }: Answer): JsonObject => {
    const [issue] = Array.isArray(json.issue) ? json.issue : [];
    if (!isObject(issue)) throw new Error('no issue');
    return issue;
  };

  for (const query of ['_elements=name', '_summary=true', '_summary=text', '_summary=data']) {
    it(`a PUT of what ?${query} answers is refused, alone, on condition and in Bundles`, async () => {
      const excerpt = (await service.fhir(`/Patient/${id}?${query}`)).json;
      for (const path of [`/Patient/${id}`, '/Patient?identifier=urn:excerpt|1']) {
        const refused = await put(path, excerpt);
        expect(refused.status, String(refused)).to.equal(422);
        expect(issueOf(refused)).to.deep.include({
          code: 'business-rule',
          expression: ['Patient.meta.tag[0]'],
        });
      }
      for (const type of ['batch', 'transaction']) {
        const entry = [{ request: { method: 'PUT', url: `Patient/${id}` }, resource: excerpt }];
        const bundle = { resourceType: 'Bundle', type, entry };
        const answer = await service.fhir('', { method: 'POST', body: JSON.stringify(bundle) });
        expect(answer.text, type).to.contain('SUBSETTED');
      }
      expect(await service.fhir(`/Patient/${id}`)).to.include({ version: 1 });
    });
  }

  it('a PUT of the whole is taken', async () => {
    expect((await put(`/Patient/${id}`, (await service.fhir(`/Patient/${id}`)).json)).status).to.equal(200);
  });

  it('nulls at the end of ids and extensions are not stored', async () => {
    const extension = [{ url: 'http://example.org/e', valueString: 'x' }];
    const name = [
      { given: ['a'], _given: [null, null] },
      { given: ['a', 'b'], _given: [{ extension }, null, null] },
    ];
    const created = await service.post('/Patient', { resourceType: 'Patient', name });
    const stored = await service.fhir(`/Patient/${String(created.json.id)}`);
    expect(stored.text).to.equal(created.text);
    expect(stored.json.name).to.deep.equal([
      { given: ['a'] },
      { given: ['a', 'b'], _given: [{ extension }] },
    ]);
  });
});
