/**
 * Two instances, one of which is cut off from the event store. It keeps serving reads, but no read lacks what the other
 * instance has acknowledged. Runs on a PostgreSQL log in its own database, and on EventStoreDB if EVENTSTORE_START starts a
 * server.
 */
import { expect } from 'chai';
import { Relay } from '#test/contract/relay.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { STARTABLE, startEventStoreDb } from '#test/support/event-store-servers.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { eventually } from '#test/support/process.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';

/** A log that an instance can be cut off from. */
interface Log {
  readonly url: string;
  stop(): Promise<void>;
}

const LOGS: Readonly<Record<string, (() => Promise<Log>) | undefined>> = {
  PostgreSQL: async () => {
    const { url, drop } = await createMigratedDatabase();
    return { url, stop: drop };
  },
  EventStoreDB: STARTABLE ? startEventStoreDb : undefined,
};

for (const [name, open] of Object.entries(LOGS)) {
  (open === undefined ? describe.skip : describeAtFullSize)(
    `an instance that is cut off from ${name}`,
    () => {
      let log: Log;
      let relay: Relay;
      let database: TestDatabase;
      /** This instance leads every projection when it is cut off. */
      let cutOff: Service;
      let other: Service;
      let user: AdminUser;
      let patient: string;
      let key: string;
      let keyId: string;
      /** When the instance was cut off, on the clock of `performance.now`. */
      let since: number;
      /** Writes sent to the instance right after it was cut off. */
      let writes: Promise<readonly { status: number; text: string; after: number }[]>;

      before(async () => {
        if (open === undefined) return;
        log = await open();
        relay = await Relay.open(log.url);
        database = await createMigratedDatabase();
        const env = { DEV_ISSUER: 'allow' };
        cutOff = await startService({
          databaseUrl: database.url,
          env: { ...env, EVENTSTORE_URL: relay.url },
        });
        other = await startService({
          databaseUrl: database.url,
          env: { ...env, EVENTSTORE_URL: log.url },
          key: cutOff.key,
        });
        patient = await created('Patient');
        user = await signIn({ url: other.url, pool: database.pool }, 'revoker@example.org');
        const { id: organization } = await user.done('POST', '/organizations', { name: 'Doors' });
        const project = await user.done('POST', `/organizations/${organization}/projects`, { name: 'Front' });
        ({ key, id: keyId } = await user.done('POST', `/projects/${project.id}/keys`, {
          name: 'k',
          environment: 'sandbox',
        }));
        expect((await ask(cutOff, '/Patient', { key })).status).to.equal(200);
        relay.freeze();
        since = performance.now();
        // All writes go to one record, so that each write waits for the previous one.
        const body = {
          resourceType: 'Observation',
          status: 'final',
          code: { text: 'x' },
          subject: { reference: patient.slice(1) },
        };
        writes = Promise.all(
          Array.from({ length: 3 }, async () => {
            const answer = await ask(cutOff, '/Observation', { body });
            return { ...answer, after: performance.now() - since };
          }),
        );
      });
      after(async () => {
        relay?.thaw();
        await Promise.all([cutOff?.stop(), other?.stop()]);
        await relay?.close();
        await log?.stop();
        await database?.drop();
      });

      const ask = async (
        service: Service,
        path: string,
        { key: as = service.key, body }: { key?: string; body?: object } = {},
      ) => {
        const answer = await fetchOnce(`${service.url}/fhir/R4${path}`, {
          headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/fhir+json' },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        });
        return { status: answer.status, text: await answer.text() };
      };
      const created = async (type: string): Promise<string> => {
        const { status, text } = await ask(other, `/${type}`, { body: { resourceType: type } });
        expect(status, text).to.equal(201);
        return `/${type}/${JSON.parse(text).id}`;
      };

      it('lets the other lead: a key that is revoked there is dead here', async () => {
        // Until the other instance has taken over the lead, the revocation may return 503.
        await eventually(async () => (await user.ask('DELETE', `/keys/${keyId}`)).status === 204);
        expect((await ask(cutOff, '/Patient', { key })).status).to.equal(401);
      });

      it('shows what the other has acknowledged, by read and by search', async () => {
        const next = await created('Patient');
        expect((await ask(cutOff, next)).status).to.equal(200);
        const found = await ask(cutOff, '/Patient?_summary=count');
        expect([found.status, JSON.parse(found.text).total], found.text).to.deep.equal([200, 2]);
      });

      it('refuses writes within ten seconds, and names the event store', async () => {
        for (const { status, text, after } of await writes) {
          expect([status, text.includes('the event store')], text).to.deep.equal([503, true]);
          expect(after).to.be.below(10_000);
        }
      });

      it('refuses them at once as soon as it knows', async () => {
        const began = performance.now();
        expect((await ask(cutOff, '/Patient', { body: { resourceType: 'Patient' } })).status).to.equal(503);
        expect(performance.now() - began).to.be.below(2_000);
      });

      it('refuses reads that lack a write which was answered before it is shown', async () => {
        const holder = await database.pool.connect();
        let late = '';
        try {
          // The lock keeps any instance from advancing the read model.
          await holder.query('begin');
          await holder.query('select 1 from resources.checkpoint for update');
          late = await created('Patient');
          const refused = await ask(cutOff, late);
          expect([refused.status, refused.text.includes('the event store')], refused.text).to.deep.equal([
            503,
            true,
          ]);
          expect((await ask(other, late)).status).to.equal(503);
        } finally {
          await holder.query('rollback');
          holder.release();
        }
        await eventually(async () => (await ask(cutOff, late)).status === 200);
      });

      it('still serves reads long after it was cut off, and says why it takes no writes', async () => {
        expect(performance.now() - since).to.be.above(10_000);
        expect((await ask(cutOff, patient)).status).to.equal(200);
        const ready = await fetchOnce(`${cutOff.url}/health/ready`);
        expect([ready.status, await ready.text()].join(' ')).to.match(/^503 .*event_store/s);
      });

      it('takes writes again once it is back', async () => {
        relay.thaw();
        await eventually(
          async () => (await ask(cutOff, '/Patient', { body: { resourceType: 'Patient' } })).status === 201,
        );
      });
    },
  );
}
