/** Problems that users of other FHIR servers have reported publicly, one test per thread: none of them occurs here. */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { Asking, idsIn, nextOf, observation } from '#test/support/search/asking.ts';
import { storeResources } from '#test/support/search/store.ts';
import { concept, to } from '#test/support/search/table.ts';

describe('published threads about what nobody may see', () => {
  let service: InProcess;
  let asking: Asking;
  /** A key of another project. */
  let other: string;
  before(async () => {
    service = await startInProcess();
    asking = new Asking(service);
    other = await service.newProject();
  });
  after(() => service.stop());

  // microsoft/fhir-server issue 1955
  it('`_include` of a deleted or invisible resource', async () => {
    const gone = await asking.create({ resourceType: 'Practitioner', name: [{ family: 'Gone' }] });
    const there = await asking.create({ resourceType: 'Practitioner', name: [{ family: 'There' }] });
    const patient = await asking.create({
      resourceType: 'Patient',
      generalPractitioner: [to(`Practitioner/${gone}`), to(`Practitioner/${there}`)],
    });
    await service.fhir(`/Practitioner/${gone}`, { method: 'DELETE' });
    const page = await asking.search('Patient', `_id=${patient}&_include=Patient:general-practitioner`);
    expect(idsIn(page)).to.deep.equal([patient]);
    expect(idsIn(page, 'include')).to.deep.equal([there]);
    // References to another project's resources: writes can't create them, but an event could contain them.
    const [stranger, own] = [newUuid(), newUuid()];
    await storeResources(service, other, [
      { type: 'Practitioner', id: stranger, body: { name: [{ family: 'Secret' }] } },
    ]);
    const named = [to(`Practitioner/${stranger}`)];
    await storeResources(service, service.key, [
      { type: 'Patient', id: own, record: own, body: { generalPractitioner: named } },
      { type: 'Observation', id: newUuid(), record: own, body: observation(own, { performer: named }) },
    ]);
    for (const query of [`_id=${own}&_include=Patient:general-practitioner`, `_id=${own}&_include=*`]) {
      const { entry = [] } = await asking.search('Patient', query);
      expect(JSON.stringify(entry), query).to.not.contain('Secret');
      expect(entry.map(({ resource }) => resource?.id)).to.deep.equal([own]);
    }
    // In the other direction, a resource that refers to it isn't returned either.
    const reversed = await asking.search(
      'Practitioner',
      `_id=${stranger}&_revinclude=Observation:performer`,
      other,
    );
    expect(idsIn(reversed)).to.deep.equal([stranger]);
    expect(idsIn(reversed, 'include')).to.deep.equal([]);
    await service.fhir(`/Patient/${patient}`, { method: 'DELETE' });
    const back = await asking.search('Practitioner', `_id=${there}&_revinclude=Patient:general-practitioner`);
    expect(idsIn(back, 'include')).to.deep.equal([]);
  });

  // medplum pull request 9973, hapi-fhir issues 6065 and 7888
  it('chained search across projects', async () => {
    const [secret, mine, theirs, probe] = [newUuid(), newUuid(), newUuid(), newUuid()];
    const named = [to(`Practitioner/${secret}`)];
    await storeResources(service, other, [
      { type: 'Practitioner', id: secret, body: { name: [{ family: 'Guessable' }], gender: 'female' } },
      { type: 'Patient', id: theirs, record: theirs, body: { name: [{ family: 'Theirs' }] } },
    ]);
    await storeResources(service, service.key, [
      { type: 'Patient', id: mine, record: mine, body: { generalPractitioner: named } },
      {
        type: 'Observation',
        id: probe,
        record: mine,
        body: observation(mine, { code: concept('urn:x', 'probe'), performer: named }),
      },
    ]);
    for (const [type, query] of [
      ['Patient', 'general-practitioner:Practitioner.family=guess'],
      ['Patient', 'general-practitioner:Practitioner.gender:not=male'],
      ['Patient', `general-practitioner:Practitioner._id=${secret}`],
      ['Observation', 'performer:Practitioner.name=guessable'],
      ['Observation', 'patient.general-practitioner:Practitioner.family=guess'],
    ] as const) {
      expect(await asking.found(type, query), query).to.deep.equal([]);
    }
    // The practitioner's owner doesn't learn anything about the other project either.
    for (const query of [
      '_has:Observation:performer:code=probe',
      `_has:Patient:general-practitioner:_id=${mine}`,
    ]) {
      expect(await asking.found('Practitioner', query, other), query).to.deep.equal([]);
    }
    // The reference itself belongs to the first project.
    expect(await asking.found('Observation', `performer=Practitioner/${secret}`)).to.deep.equal([probe]);
    // A page link created for one project shows nothing to another project.
    await asking.create({ resourceType: 'Patient', name: [{ family: 'Paged' }] });
    const page = await asking.search('Patient', '_count=1');
    const seen = await asking.get(nextOf(page) ?? '', other);
    expect(idsIn(seen).filter((id) => id !== theirs)).to.deep.equal([]);
  });
});
