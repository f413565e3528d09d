/** Rules for guests: their URLs, how long documents are cached, how hosts are contacted, and when guests are removed. */
import { expect } from 'chai';
import type { NewGuest } from '#commands/application/guests.ts';
import { blockHost, openGuestCommands } from '#commands/application/guests.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { PROJECT } from '#commands/project/state.ts';
import { openEventStore } from '#src/events/open.ts';
import { projectStream } from '#src/events/streams.ts';
import { readAuthorizationRequest } from '#src/oauth/authorization/request.ts';
import { faultOfClientUrl } from '#src/oauth/guests/client-url.ts';
import { freshSeconds } from '#src/oauth/guests/documents.ts';
import { readClientDocument } from '#src/oauth/guests/metadata-document.ts';
import { GUESTS } from '#src/shared/access/guests.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { openGuests } from '#src/sharing/guests.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { addGrant } from '#test/support/oauth-tokens.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

describe('the URL of a metadata document', () => {
  const URL = 'https://app.example.org/client.json';

  it('is taken by the rule of the installation', () => {
    const fault = (rule: 'off' | 'allow' | readonly string[], url = URL) =>
      faultOfClientUrl(url, { rule, takesLocal: false });
    expect(fault('off')).to.match(/doesn't accept clients/);
    expect(fault('allow')).to.equal(undefined);
    expect(fault(['app.example.org'])).to.equal(undefined);
    expect(fault(['example.org'])).to.match(/clients this service doesn.t accept/);
    expect(fault('allow', 'https://app.example.org./client.json')).to.match(/host name/);
    expect(fault('allow', 'https://app.example.org:8443/a?b=c')).to.equal(undefined);
    expect(fault('allow', 'https://app.example.org:443/a')).to.match(/as browsers write it/);
  });

  it('is on this machine only in development', () => {
    const local = (takesLocal: boolean) =>
      faultOfClientUrl('http://localhost:3000/a', { rule: 'allow', takesLocal });
    expect(local(true)).to.equal(undefined);
    expect(local(false)).to.equal('must begin with https://');
  });
});

describe('a metadata document', () => {
  const ID = 'https://app.example.org:8443/client.json';
  const read = (members: object) =>
    readClientDocument({ client_id: ID, redirect_uris: ['http://localhost/back'], ...members }, ID);

  it('may redirect to its own host and port', () => {
    expect(read({ redirect_uris: ['https://app.example.org:8443/back'] }).redirectUris).to.have.length(1);
    for (const uri of [
      'https://app.example.org/back',
      'https://other.app.example.org:8443/',
      'http://app.example.org:8443/',
    ])
      expect(() => read({ redirect_uris: [uri] }), uri).to.throw('every redirect_uri');
  });

  it('has a name that begins with its host, without characters that deceive', () => {
    expect(read({}).name).to.equal('app.example.org:8443');
    expect(read({ client_name: '\u202e\u0000 \u3000' }).name).to.equal('app.example.org:8443');
    expect(read({ client_name: ' A\u200b \n B ' }).name).to.equal('app.example.org:8443 (A B)');
    expect(read({ client_name: 'x'.repeat(500) }).name).to.have.length('app.example.org:8443 ()'.length + 60);
  });

  it('names a privacy page only by https', () => {
    expect(read({ policy_uri: 'https://else.example/privacy' }).privacyUrl).to.equal(
      'https://else.example/privacy',
    );
    for (const policy_uri of ['http://else.example/', 'javascript:alert(1)', 'https://a@b.example/'])
      expect(read({ policy_uri }).privacyUrl, policy_uri).to.equal(undefined);
  });

  it('is kept as its headers say, from a minute to a day', () => {
    const NOW = Date.parse('2026-11-29T12:00:00Z');
    const kept = (headers: Parameters<typeof freshSeconds>[0]) => freshSeconds(headers, NOW);
    expect(kept({})).to.equal(60);
    expect(kept({ 'cache-control': 'public, max-age=600' })).to.equal(600);
    expect(kept({ 'cache-control': 'max-age=99999999' })).to.equal(86_400);
    expect(kept({ 'cache-control': 'no-store, max-age=600' })).to.equal(60);
    expect(kept({ 'cache-control': 'max-age=600, no-cache' })).to.equal(60);
    expect(kept({ 'cache-control': 'x-max-age=600' })).to.equal(60);
    expect(kept({ expires: 'Sun, 29 Nov 2026 13:00:00 GMT' })).to.equal(3_600);
    expect(kept({ expires: 'yesterday' })).to.equal(60);
  });
});

describe('a request of a guest', () => {
  it('needs no confirmed domain in production, but scope', () => {
    const client = {
      environment: 'production' as const,
      organization: { domain: undefined },
      redirectUris: ['https://app.example.org/back'],
      scopes: ['patient/*.rs'],
      grantTypes: ['authorization_code'],
    };
    const parameters = (scope: string) =>
      Object.entries({
        ...{ response_type: 'code', client_id: 'x', redirect_uri: 'https://app.example.org/back', scope },
        ...{ state: 'state', code_challenge: 'x'.repeat(43) },
      });
    const read = (scope: string, guest?: { host: string }) =>
      readAuthorizationRequest(
        parameters(scope),
        { ...client, ...(guest && { guest }) },
        'https://x.example',
      );
    expect(read('patient/*.rs', { host: 'app.example.org' }).scopes).to.have.length(1);
    expect(() => read('patient/*.rs')).to.throw('no confirmed domain');
    expect(() => read('', { host: 'app.example.org' })).to.throw('scope is missing');
  });
});

describe('guests of an installation', () => {
  let service: InProcess;
  let store: Awaited<ReturnType<typeof openEventStore>>;

  before(async () => {
    service = await startInProcess({}, { CLIENT_METADATA: 'off' });
    store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: process.env.EVENTSTORE_URL });
  });

  after(async () => {
    await store?.close();
    await service?.stop();
    await removeTemporaryFolders();
  });

  const shown = async (
    query: string,
    values: readonly unknown[],
    times = 5_000,
  ): Promise<readonly object[]> => {
    for (let n = 0; ; n += 1) {
      const { rows } = await service.pool.query(query, [...values]);
      if (rows.length > 0 || n === times) return rows;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  const CLIENT = 'https://app.example.org/client.json';
  const guest: NewGuest = {
    client_id: CLIENT,
    name: 'app.example.org (App)',
    environment: 'sandbox',
    redirect_uris: ['http://localhost/back'],
    scopes: ['patient/*.rs'],
    grant_types: ['authorization_code'],
    privacy_url: undefined,
    sector: 'app.example.org',
  };
  const by = () => ({
    credential: { kind: 'system' as const },
    requestId: 'req_test',
    ids: new IdSource(newUuid(), Date.now()),
    now: nowMicros,
  });
  const open = (address: string) =>
    openGuests({
      pool: service.pool,
      commands: openGuestCommands(new Kernel(store)),
      policy: { rule: 'allow', takesLocal: true },
      environment: 'sandbox',
      freshness: { require: () => undefined, settle: async () => true },
      resolve: async () => [{ address, family: 4 }],
    });

  it('are not announced if they are off, and their requests end on a page', async () => {
    const metadata = await service.fhir(`${service.url}/.well-known/oauth-authorization-server`, {
      key: null,
    });
    expect(metadata.json).not.to.have.property('client_id_metadata_document_supported');
    const page = await fetch(`${service.url}/oauth/authorize?client_id=${encodeURIComponent(CLIENT)}`);
    expect(page.status).to.equal(400);
    expect(await page.text()).to.include('accept clients with metadata documents');
  });

  it('are never looked for at addresses that are not public, whatever their names resolve to', async () => {
    for (const address of ['10.0.0.7', '127.0.0.1', '169.254.169.254']) {
      const failed = await open(address)
        .admit('https://rebind.example/client.json')
        .catch((error: unknown) => error);
      expect(String(failed)).to.include('an address that is not public');
    }
  });

  it('GUEST-10: share one quota of new documents over all hosts of a domain', async () => {
    const guests = open('10.0.0.7');
    const fetch = async (host: string, path = newUuid()) =>
      String(await guests.admit(`https://${host}/${path}.json`).catch((error: unknown) => error));
    const counted = async () => {
      const { rows } = await service.pool.query<{ host: string; documents: number }>(
        'delete from operations.guest_host returning host, documents',
      );
      return Object.fromEntries(rows.map(({ host, documents }) => [host, documents]));
    };
    await counted();
    const hosts = [
      ...['example.org', 'a.example.org', 'b.example.org', 'x_1.b.example.org', 'one.example.co.uk'],
      ...['two.example.co.uk', 'mira.github.io', 'app.mira.github.io', 'jonas.github.io', 'github.io'],
      ...['203.0.113.7', '203.0.113.8', 'localhost', 'co.uk', 'app.corp.internal', 'api.corp.internal'],
    ];
    for (const host of hosts) await fetch(host);
    expect(await counted()).to.deep.equal({
      ...{ 'example.org': 4, 'example.co.uk': 2, 'mira.github.io': 2, 'jonas.github.io': 1, 'github.io': 1 },
      ...{ '203.0.113.7': 1, '203.0.113.8': 1, localhost: 1, 'co.uk': 1, 'corp.internal': 2 },
    });
    await fetch('first.example.net');
    await service.pool.query('update operations.guest_host set documents = 1000');
    expect(await fetch('second.example.net')).to.include('too many metadata documents from this domain');
    expect(await fetch('second.example.com')).to.include('an address that is not public');
    await counted();
  });

  it('are registered again when they were deleted or changed, and stay as they are otherwise', async () => {
    const commands = openGuestCommands(new Kernel(store));
    expect(await commands.admit(by(), guest)).not.to.equal(undefined);
    expect(await commands.admit(by(), guest)).to.equal(undefined);
    expect(await commands.admit(by(), { ...guest, name: 'app.example.org (New)' })).not.to.equal(undefined);
    const find =
      'select id, name from projects.application where client_id = $1 and deleted_at is null and name = $2';
    const rows = await shown(find, [CLIENT, 'app.example.org (New)']);
    expect(rows).to.have.length(1);
    const [{ id = '' } = {}] = rows as { id: string }[];
    await commands.forget(by(), id);
    await shown('select from projects.application where id = $1 and deleted_at is not null', [id]);
    await commands.admit(by(), guest);
    expect(await shown(find, [CLIENT, guest.name])).to.deep.equal([{ id, name: guest.name }]);
  });

  it('GUEST-12: are refused at every host below a blocked one, and at no other', async () => {
    const projects = new Streams(new Kernel(store), PROJECT);
    for (const host of ['example.edu', 'app.example.net'])
      await projects.transact(projectStream(GUESTS.project), by(), blockHost(host));
    await shown('select from projects.blocked_host where host = $1', ['app.example.net']);
    const refused: string[] = [];
    const hosts = ['example.edu', 'a.example.edu', 'a.b.example.edu', 'notexample.edu', 'example.edu.org'];
    for (const host of [...hosts, 'example.net', 'app.example.net', 'eu.app.example.net', 'b.example.net'])
      await open('203.0.113.7')
        .check(`https://${host}/client.json`)
        .catch(() => refused.push(host));
    expect(refused).to.deep.equal([...hosts.slice(0, 3), 'app.example.net', 'eu.app.example.net']);
  });

  it('are gone after 90 days without use, unless they have a grant', async () => {
    const guests = open('203.0.113.7');
    const commands = openGuestCommands(new Kernel(store));
    const used = async (name: string, days: number): Promise<string> => {
      const client_id = `https://app.example.org/${name}.json`;
      await commands.admit(by(), { ...guest, client_id });
      await service.pool.query(
        `insert into operations.guest_document (client_id, used_at, fresh_until)
         values ($1, now() - $2 * interval '1 day', now())`,
        [client_id, days],
      );
      const [row] = await shown('select id from projects.application where client_id = $1', [client_id]);
      return (row as { id: string }).id;
    };
    const [old, young, granted] = [await used('old', 91), await used('young', 89), await used('granted', 91)];
    await addGrant(
      service.pool,
      {
        ...{ applicationId: granted, clientId: '', project: 'proj_guests', owner: 'proj_owner' },
        ...{ grantId: 'grant_kept', record: newUuid(), patient: newUuid(), subject: 'sub' },
      },
      { seconds: 3_600 },
    );
    await guests.sweep();
    // Another instance found the same guest.
    expect(await commands.forget(by(), old)).to.equal(undefined);
    await shown('select from projects.application where id = $1 and deleted_at is not null', [old]);
    const { rows } = await service.pool.query(
      'select id from projects.application where id = any($1) and deleted_at is null order by id',
      [[old, young, granted]],
    );
    expect(rows.map(({ id }) => id)).to.have.members([young, granted]);
    // A deleted guest can come back only after its grants have ended.
    await commands.forget(by(), granted);
    await shown('select from projects.application where id = $1 and deleted_at is not null', [granted]);
    const early = await guests.admit('https://app.example.org/granted.json').catch((error: unknown) => error);
    expect(String(early)).to.include('are being ended');
    const left = await service.pool.query(
      "select client_id from operations.guest_document where client_id like '%/old.json'",
    );
    expect(left.rows).to.deep.equal([]);
  });
});
