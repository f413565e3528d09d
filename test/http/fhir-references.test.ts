/**
 * References into the service (docs/spec/decisions.md, section 5 "References"): to versions, and with absolute URLs under the
 * service's own base.
 */
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { eventually } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import type { Answer } from '#test/support/service.ts';

describe('references', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    patient = await create({ resourceType: 'Patient' });
  });
  after(() => service.stop());

  const create = async (resource: JsonObject): Promise<string> =>
    String((await service.post(`/${String(resource.resourceType)}`, resource)).json.id);
  const send = (resource: JsonObject): Promise<Answer> =>
    service.fhir(`/${String(resource.resourceType)}`, { method: 'POST', body: JSON.stringify(resource) });
  const observation = (more: JsonObject = {}): JsonObject => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'test' },
    subject: { reference: `Patient/${patient}` },
    ...more,
  });
  const provenance = (reference: string): JsonObject => ({
    resourceType: 'Provenance',
    target: [{ reference }],
    recorded: '2026-01-01T00:00:00Z',
    agent: [{ who: { display: 'somebody' } }],
  });
  const expectRefused = (answer: Answer, expression: string): void => {
    expect(answer.status, answer.text).to.equal(422);
    expect(answer.text).to.contain(`"expression":["${expression}"]`);
  };

  it('name versions that are there', async () => {
    const id = await create(observation());
    const at = `Observation/${id}/_history`;
    const change = { ...observation(), id, status: 'amended' };
    await service.fhir(`/Observation/${id}`, { method: 'PUT', body: JSON.stringify(change) });
    await service.fhir(`/Observation/${id}`, { method: 'DELETE' });
    for (const version of ['1', '2', '3']) {
      const answer = await send(provenance(`${at}/${version}`));
      expect(answer.status, answer.text).to.equal(201);
    }
    for (const version of ['4', '99', '0', '01', 'latest'])
      expectRefused(await send(provenance(`${at}/${version}`)), 'Provenance.target[0].reference');
    expectRefused(
      await send(observation({ derivedFrom: [{ reference: `${service.base}/${at}/4` }] })),
      'Observation.derivedFrom[0].reference',
    );
  });

  it('name the version that their own transaction makes, and none beyond it', async () => {
    const id = await create(observation());
    const entry = (resource: JsonObject, method: string, url: string) => ({
      resource,
      request: { method, url },
    });
    const transaction = (version: number): Promise<Answer> =>
      service.fhir('', {
        method: 'POST',
        body: JSON.stringify({
          resourceType: 'Bundle',
          type: 'transaction',
          entry: [
            entry({ ...observation(), id, status: 'amended' }, 'PUT', `Observation/${id}`),
            entry(provenance(`Observation/${id}/_history/${version}`), 'POST', 'Provenance'),
          ],
        }),
      });
    expectRefused(await transaction(3), 'Bundle.entry[1].resource.target[0].reference');
    const answer = await transaction(2);
    expect(answer.status, answer.text).to.equal(200);
  });

  it('name an allowed type, written relative or under the base of the service', async () => {
    const encounter = await create({
      resourceType: 'Encounter',
      status: 'finished',
      class: { code: 'AMB' },
      subject: { reference: `Patient/${patient}` },
    });
    for (const reference of [`Encounter/${encounter}`, `${service.base}/Encounter/${encounter}`]) {
      expect((await send(observation({ encounter: { reference } }))).status).to.equal(201);
      expectRefused(await send(observation({ performer: [{ reference }] })), 'Observation.performer[0]');
    }
    const elsewhere = `https://elsewhere.example/fhir/Encounter/${encounter}`;
    expect((await send(observation({ performer: [{ reference: elsewhere }] }))).status).to.equal(201);
  });

  itAtFullSize(
    'to what was created just now are refused for a while, not for good, where the read model lags',
    async () => {
      const blocker = await service.pool.connect();
      const statement = (medication: string): JsonObject => ({
        ...{ resourceType: 'MedicationStatement', status: 'active' },
        subject: { reference: `Patient/${patient}` },
        medicationReference: { reference: `Medication/${medication}` },
      });
      let medication = '';
      try {
        await blocker.query('begin; lock table resources.checkpoint in exclusive mode');
        // The create is answered before the resource is visible, after the service has waited as long as it may.
        medication = await create({ resourceType: 'Medication', code: { text: 'Aspirin' } });
        const early = await fetchOnce(`${service.base}/MedicationStatement`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/fhir+json' },
          body: JSON.stringify(statement(medication)),
        });
        expect(early.status, await early.text()).to.equal(503);
        expect(Number(early.headers.get('retry-after'))).to.be.greaterThan(0);
      } finally {
        await blocker.query('commit');
        blocker.release();
      }
      await eventually(async () => (await send(statement(medication))).status === 201);
      const none = await send(statement('01890000-0000-7000-8000-000000000000'));
      expect(none.status, none.text).to.equal(422);
    },
  );
});
