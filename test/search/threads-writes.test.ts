/** Problems that users of other FHIR servers have reported publicly, one test per thread: none of them occurs here. */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { Asking, type Bundle, observation, post } from '#test/support/search/asking.ts';
import { to } from '#test/support/search/table.ts';

describe('published threads about writes', () => {
  let service: InProcess;
  let asking: Asking;
  before(async () => {
    service = await startInProcess();
    asking = new Asking(service);
  });
  after(() => service.stop());

  // fhirbase-plv8 issues 112 and 122, LinuxForHealth/FHIR issues 748 and 4171, hapi-fhir issue 2656
  it('transaction reported good but rolled back', async () => {
    const patient = await asking.create({ resourceType: 'Patient' });
    const kept = await asking.observe(patient, { valueInteger: 1 });
    const note = (text: string) => observation(patient, { code: { text } });
    const good = await asking.send({ type: 'transaction', entry: [post(note('one')), post(note('two'))] });
    expect(good.status, good.text).to.equal(200);
    const { entry = [] } = JSON.parse(good.text) as Bundle;
    expect(entry.length).to.equal(2);
    for (const { response } of entry) {
      expect(response?.status).to.match(/^201/);
      // Each resource can be found immediately, both at the location named in the response and by search.
      const [, path = '', id = ''] =
        /(Observation\/([^/]+))\/_history\/1$/.exec(response?.location ?? '') ?? [];
      expect((await service.fhir(`/${path}`)).status).to.equal(200);
      expect(await asking.found('Observation', `_id=${id}`)).to.deep.equal([id]);
      expect(await asking.found('Observation', `code:text=one,two&_id=${id}`)).to.deep.equal([id]);
    }
    const before = await asking.get('/_history?_count=1');
    const bad = await asking.send({
      type: 'transaction',
      entry: [
        { request: { method: 'DELETE', url: `Observation/${kept}` } },
        post(note('three')),
        {
          resource: { ...note('four'), id: newUuid() },
          request: { method: 'PUT', url: `Observation/${newUuid()}` },
        },
      ],
    });
    expect(bad.status).to.be.within(400, 499);
    expect(bad.json.resourceType).to.equal('OperationOutcome');
    expect((await service.fhir(`/Observation/${kept}`)).status).to.equal(200);
    expect(await asking.found('Observation', 'code:text=three')).to.deep.equal([]);
    expect((await asking.get('/_history?_count=1')).entry?.[0]).to.deep.equal(before.entry?.[0]);
  });

  // medplum issues 10177, 4234 and 4878, hapi-fhir issue 3141, microsoft/fhir-server issue 1382
  it('conditionals resolved outside the transaction', async () => {
    const identifier = [{ system: 'urn:once', value: newUuid() }];
    const criteria = `identifier=urn:once|${identifier[0]?.value}`;
    const organization = { resourceType: 'Organization', identifier, name: 'Once' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => {
        const fullUrl = `urn:uuid:${newUuid()}`;
        const patient = { resourceType: 'Patient', managingOrganization: to(fullUrl) };
        const first = { fullUrl, ...post(organization, { ifNoneExist: criteria }) };
        return asking.send({ type: 'transaction', entry: [first, post(patient)] });
      }),
    );
    for (const answer of answers) expect(answer.status, answer.text).to.equal(200);
    const [only, ...more] = await asking.found('Organization', criteria);
    expect(more).to.deep.equal([]);
    expect(await asking.found('Patient', `organization=Organization/${only}`)).to.have.length(8);
    // Conditional updates of one resource: each version is what one of the updates sent, and no update is lost.
    const put = (n: number) => ({
      resource: { ...organization, name: `Update ${n}` },
      request: { method: 'PUT', url: `Organization?${criteria}` },
    });
    const updates = await Promise.all(
      Array.from({ length: 6 }, (_, n) => asking.send({ type: 'transaction', entry: [put(n)] })),
    );
    for (const answer of updates) expect(answer.status, answer.text).to.equal(200);
    const { entry = [] } = await asking.get(`/Organization/${only}/_history`);
    const names = entry.map(({ resource }) => (resource as { name?: string } | undefined)?.name);
    const said = Array.from({ length: 6 }, (_, n) => `Update ${n}`);
    expect(names.sort()).to.deep.equal(['Once', ...said]);
  });

  // hapi-fhir issue 2933, medplum pull request 6102
  it('the same condition twice in one transaction', async () => {
    const identifier = [{ system: 'urn:twice', value: newUuid() }];
    const ifNoneExist = `identifier=urn:twice|${identifier[0]?.value}`;
    const entry = [1, 2].map(() => post({ resourceType: 'Organization', identifier }, { ifNoneExist }));
    const answer = await asking.send({ type: 'transaction', entry });
    const made = await asking.found('Organization', ifNoneExist);
    expect(made.length, answer.text).to.equal(answer.status === 200 ? 1 : 0);
    if (answer.status !== 200) expect(answer.json.resourceType).to.equal('OperationOutcome');
  });
});
