/**
 * Approvals of access requests whose instance is killed right before or after writing the grant: each approval results in one
 * grant.
 */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { askAccess, letPass, pollAccess, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { linkOf, me, newPatient } from '#test/support/me.ts';
import { Journey } from '#test/support/oauth-journey.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { newDataDir, startService } from '#test/support/service.ts';

/** Number of kills before the append, and after it. */
const ROUNDS = scaled(5, 1);

describeAtFullSize('an approval whose instance is killed', () => {
  let service: InProcess;
  let workshop: Workshop;
  let events: RecordEvents;
  let dataDir: string;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    events = await RecordEvents.open(service.databaseUrl);
    dataDir = await newDataDir();
  });
  after(async () => {
    await events?.close();
    await stopWorkshop(service);
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  async function killed(when: 'DIES_BEFORE' | 'DIES_AFTER', round: number): Promise<void> {
    const journey = new Journey(service.url);
    const app = await registerCiba(workshop);
    const email = `${when.toLowerCase()}-${round}@example.org`;
    const record = await newPatient(service);
    await events.append(record, linkOf(service, email));
    const asked = await askAccess(journey, app, { login_hint: email });
    const { json } = await me(service, email, '/access-requests?environment=sandbox');
    const [request] = json.data;
    const path = `/access-requests/${request?.id}/approve`;
    const body = { patient_id: record, duration_days: 30 };
    const dying = await startService({
      databaseUrl: service.databaseUrl,
      dataDir,
      key: service.key,
      program: 'test/faults/dying-service.ts',
      env: { BASE_URL: service.url, [when]: `record-${record} 1` },
    });
    const token = await new DevIssuer(service.pool, devIssuerUrl(service.url)).idToken(findPerson(email));
    const answer = await fetch(`${dying.url}/me${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    }).catch(() => undefined);
    await dying.stop();
    expect(answer, 'the instance should have died').to.equal(undefined);
    // The approval has been claimed, but the application hasn't been told.
    expect((await pollAccess(journey, app, asked)).error).to.equal('authorization_pending');
    if (round % 2 === 0) {
      // The person tries again on another instance: the request has been approved and is now carried out.
      const again = await me(service, email, path, 'POST', body);
      expect(again.status).to.equal(409);
    }
    await letPass(service, 11);
    const [tokens, other] = await Promise.all([
      pollAccess(journey, app, asked),
      pollAccess(journey, app, asked),
    ]);
    const won = [tokens, other].filter(({ status }) => status === 200);
    expect(won.length, `${tokens.text} ${other.text}`).to.equal(1);
    expect(await journey.opens(won[0] ?? tokens)).to.equal(200);
    const { rows } = await service.pool.query<{ grant_id: string }>(
      'select grant_id from consents.grants where record = $1',
      [record],
    );
    expect(rows.map(({ grant_id }) => grant_id)).to.deep.equal([won[0]?.grant_id]);
    const { rows: left } = await service.pool.query(
      'select grant_id, outcome from operations.access_request where id = $1',
      [request?.id],
    );
    expect(left).to.deep.equal([{ grant_id: won[0]?.grant_id, outcome: 'approved' }]);
  }

  for (const when of ['DIES_BEFORE', 'DIES_AFTER'] as const) {
    it(`${when === 'DIES_BEFORE' ? 'before' : 'after'} the append gives exactly one grant, and its tokens`, async function () {
      this.timeout(60_000 + ROUNDS * 90_000);
      for (let round = 0; round < ROUNDS; round += 1) await killed(when, round);
    });
  }
});
