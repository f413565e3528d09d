/** The service while its EventStoreDB is killed, stopped or frozen. `docs/eventstoredb.md` describes what this needs. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { CONTROLLED, control, FAULTS } from '#test/support/event-store-control.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

const WRITERS = 4;
const FOLLOWING = 'annal_subscription_active{subscriber="event log"}';

(CONTROLLED ? describe : describe.skip)('the service without its event store', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const metrics = async (): Promise<string> => (await fetch(`${service.url}/metrics`)).text();
  const statusOf = async (path: string): Promise<number> => (await fetch(service.url + path)).status;

  for (const { says, down, up } of FAULTS) {
    it(`${says} under load: writes answer 503 and have their effect once, reads go on, all resumes`, async () => {
      const before = service.log.length;
      const created = await service.post('/Patient', { resourceType: 'Patient' });
      const { id } = created.json as { id: string };
      const code = { text: randomUUID() };
      const body = JSON.stringify({
        resourceType: 'Observation',
        status: 'final',
        code,
        subject: { reference: `Patient/${id}` },
      });
      const refusals: (string | null)[] = [];
      let acknowledged = 0;
      let going = true;
      /** Creates Observations, sending each request again until it is acknowledged. */
      const write = async (): Promise<void> => {
        while (going) {
          const headers = { 'Idempotency-Key': randomUUID() };
          for (;;) {
            const answer = await service.fhir('/Observation', { method: 'POST', headers, body });
            if (answer.status === 201) break;
            expect(answer.status, answer.text).to.equal(503);
            refusals.push(answer.headers.get('retry-after'));
          }
          acknowledged += 1;
        }
      };
      const writing = Promise.all(Array.from({ length: WRITERS }, write));
      const grows = async (): Promise<void> => {
        const done = acknowledged;
        await eventually(() => acknowledged > done + WRITERS);
      };
      await grows();
      await control(down);
      expect((await service.fhir(`/Patient/${id}`)).status).to.equal(200);
      await eventually(async () => (await statusOf('/health/ready')) === 503);
      await eventually(() => refusals.length >= WRITERS);
      const began = performance.now();
      await metrics();
      expect(performance.now() - began).to.be.lessThan(3_000);
      await eventually(async () => (await metrics()).includes(`${FOLLOWING} 0`));
      await control(up);
      await eventually(async () => (await statusOf('/health/ready')) === 200);
      await eventually(async () => (await metrics()).includes(`${FOLLOWING} 1`));
      await grows();
      going = false;
      await writing;
      const told = service.log
        .slice(before)
        .filter((line) => / the event log (failed|has failed|resumed)/.test(line));
      expect(told.length).to.be.within(2, 8);
      expect(told.join()).to.not.contain('stack');
      expect(told.at(-1)).to.contain('resumed after');
      expect(refusals).to.not.include(null);
      const found = await service.fhir(`/Observation?subject=Patient/${id}&_summary=count`);
      expect((found.json as { total: number }).total).to.equal(acknowledged);
    });
  }
});
