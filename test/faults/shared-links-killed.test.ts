/** Shared links whose instance is killed: a repeated request creates only one link, and a sixth attempt is never allowed. */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { SharedLinks } from '#src/operations/shared-links.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { linkOf, me, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { newDataDir, startService } from '#test/support/service.ts';
import { openLink, payloadOf, share, sharedLinkSchema } from '#test/support/shared-links.ts';

const EMAIL = 'mira@example.org';
/** Kills of each kind. */
const ROUNDS = scaled(5, 1);

describeAtFullSize('a shared link whose instance is killed', () => {
  let service: InProcess;
  let events: RecordEvents;
  let dataDir: string;

  before(async () => {
    service = await startInProcess();
    events = await RecordEvents.open(service.databaseUrl);
    dataDir = await newDataDir();
  });
  after(async () => {
    await events?.close();
    await service?.stop();
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
  });

  async function newRecord(): Promise<string> {
    const record = await newPatient(service);
    await events.append(record, linkOf(service, EMAIL));
    await eventually(
      async () =>
        (await service.pool.query('select from consents.links where record = $1', [record])).rowCount === 1,
    );
    return record;
  }
  const instance = (env: Readonly<Record<string, string>>, program?: string) =>
    startService({
      databaseUrl: service.databaseUrl,
      dataDir,
      key: service.key,
      ...(program === undefined ? {} : { program }),
      env: { BASE_URL: service.url, ...env },
    });
  const tokenOf = () => new DevIssuer(service.pool, devIssuerUrl(service.url)).idToken(findPerson(EMAIL));

  async function create(url: string, record: string, token: string): Promise<string | undefined> {
    const response = await fetch(`${url}/me/patients/${record}/shl`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': `share-${record}`,
      },
      body: JSON.stringify({ content: 'everything', passcode: '402617' }),
    });
    return response.status === 201 ? response.text() : undefined;
  }

  for (const when of ['DIES_BEFORE', 'DIES_AFTER'] as const) {
    it(`${when === 'DIES_BEFORE' ? 'before' : 'after'} the append is one link for the request and its repetition`, async function () {
      this.timeout(60_000 + ROUNDS * 90_000);
      for (let round = 0; round < ROUNDS; round += 1) {
        const record = await newRecord();
        const token = await tokenOf();
        const dying = await instance({ [when]: `record-${record} 1` }, 'test/faults/dying-service.ts');
        const answer = await create(dying.url, record, token).catch(() => 'died');
        await dying.stop();
        expect(answer).to.equal('died');
        const made = sharedLinkSchema.parse(JSON.parse(String(await create(service.url, record, token))));
        const { url } = payloadOf(made);
        expect((await openLink(url, { recipient: 'Dr Lind', passcode: '402617' })).status).to.equal(200);
        expect((await me(service, EMAIL, `/patients/${record}/shl`)).json.total).to.equal(1);
      }
    });
  }

  it('before the append leaves nothing that opens, and no key for longer than an hour', async () => {
    const record = await newRecord();
    const dying = await instance({ DIES_BEFORE: `record-${record} 1` }, 'test/faults/dying-service.ts');
    await create(dying.url, record, await tokenOf()).catch(() => undefined);
    await dying.stop();
    const rows = async (): Promise<string[]> =>
      (
        await service.pool.query<{ id: string }>('select id from operations.shared_link where record = $1', [
          record,
        ])
      ).rows.map(({ id }) => id);
    const [id] = await rows();
    expect((await openLink(`${service.url}/shl/${id}`)).status).to.equal(404);
    expect((await me(service, EMAIL, `/patients/${record}/shl`)).json.total).to.equal(0);
    const links = new SharedLinks(service.pool);
    await links.sweep();
    expect(await rows()).to.deep.equal([id]);
    await service.pool.query(
      "update operations.shared_link set created_at = created_at - interval '61 minutes' where id = $1",
      [id],
    );
    await links.sweep();
    expect(await rows()).to.deep.equal([]);
  });

  it('during attempts with a passcode never lets a sixth be compared', async function () {
    this.timeout(60_000 + ROUNDS * 90_000);
    for (let round = 0; round < ROUNDS; round += 1) {
      const record = await newRecord();
      const link = await share(service, EMAIL, record, { content: 'summary', passcode: '402617' });
      const { pathname } = new URL(payloadOf(link).url);
      const tried = async (url: string): Promise<number> =>
        (await openLink(url + pathname, { recipient: 'Eve', passcode: 'wrong' })).status;
      const dying = await instance({});
      const trying = Array.from({ length: 4 }, () => tried(dying.url).catch(() => 0));
      await eventually(async () => {
        const { rows } = await service.pool.query<{ attempts: number }>(
          'select attempts from operations.shared_link where id = $1',
          [link.id],
        );
        return (rows[0]?.attempts ?? 0) >= 2;
      });
      await dying.kill();
      const first = await Promise.all(trying);
      const { rows } = await service.pool.query<{ attempts: number }>(
        'select attempts from operations.shared_link where id = $1',
        [link.id],
      );
      const begun = rows[0]?.attempts ?? 0;
      expect(first.filter((status) => status === 401).length).to.be.at.most(begun);
      const later: number[] = [];
      for (let n = 0; n < 7; n += 1) later.push(await tried(service.url));
      expect(later.filter((status) => status === 401).length).to.equal(5 - begun);
      // A minute later, no comparison can still be running, so the link is closed.
      await service.pool.query(
        "update operations.shared_link set attempted_at = now() - interval '61 seconds' where id = $1",
        [link.id],
      );
      expect(
        (await openLink(service.url + pathname, { recipient: 'Dr Lind', passcode: '402617' })).status,
      ).to.equal(404);
    }
  });
});
