/** Directory entries that a crash left incomplete count as present for lookups. */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { newDataDir, type Service, startService } from '#test/support/service.ts';
import { holdLead } from './held-lead.ts';

const IDENTIFIER = [{ system: 'urn:annal:test', value: 'the-clinic' }];
const CLINIC = { resourceType: 'Organization', name: 'Clinic', identifier: IDENTIFIER };
const CRITERIA = 'identifier=urn:annal:test|the-clinic';

/** A new patient and their clinic, which is created only if it doesn't exist. */
const VISIT = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [
    { resource: CLINIC, request: { method: 'POST', url: 'Organization', ifNoneExist: CRITERIA } },
    { resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } },
  ],
};

describeAtFullSize(
  'a service killed between the append of a record and that of its directory entries',
  () => {
    let database: TestDatabase;
    let release: () => Promise<void>;
    let service: Service;
    let dataDir: string;

    before(async () => {
      database = await createMigratedDatabase();
      dataDir = await newDataDir();
      const dying = await startService({
        databaseUrl: database.url,
        dataDir,
        program: 'test/faults/dying-service.ts',
        env: { DIES_AFTER: 'record- 1' },
      });
      release = await holdLead(database.url, 'directory-entries');
      const answer = await dying
        .fhir('', { method: 'POST', body: JSON.stringify(VISIT) })
        .catch(() => undefined);
      expect(answer, 'the service should have died').to.equal(undefined);
      await dying.stop();
      service = await startService({ databaseUrl: database.url, dataDir });
    });
    after(async () => {
      await release();
      await service.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    it('is found by a conditional create, which makes no second entry', async () => {
      const asked = service.fhir('/Organization', {
        method: 'POST',
        headers: { 'If-None-Exist': CRITERIA },
        body: JSON.stringify(CLINIC),
      });
      await release();
      const answer = await asked;
      expect(answer.status, answer.text).to.equal(200);
      expect((await service.fhir(`/Organization?${CRITERIA}`)).json.total).to.equal(1);
    });
  },
);
