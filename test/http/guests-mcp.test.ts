/** An assistant that isn't registered anywhere: the official MCP client gets from the server's URL to an answer. */
import {
  auth,
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { formOf, signInTo, startWorkshop, stopWorkshop } from '#test/support/authorization.ts';
import { type GuestHost, startGuestHost } from '#test/support/guest-host.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { callTool } from '#test/support/mcp.ts';
import { PERSON } from '#test/support/oauth-journey.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { wordsOf } from '#test/support/patient-pages.ts';

type Discovered = Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
type Tokens = NonNullable<Awaited<ReturnType<OAuthClientProvider['tokens']>>>;

describe('an assistant that is a guest', () => {
  let service: InProcess;
  let host: GuestHost;

  before(async () => {
    ({ service } = await startWorkshop());
    host = await startGuestHost();
  });

  after(async () => {
    await host?.stop();
    await stopWorkshop(service);
  });

  it('gets from the URL of the server to an answer of a tool, by a person’s consent', async () => {
    const clientId = host.publish('/assistant.json', {
      redirect_uris: ['http://localhost/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const visitor = new PageVisitor(service.url);
    let [verifier, asked] = ['', ''];
    let tokens: Tokens | undefined;
    let discovered: Discovered | undefined;
    const provider: OAuthClientProvider = {
      redirectUrl: host.callback,
      clientMetadata: {
        redirect_uris: [host.callback],
        grant_types: ['authorization_code', 'refresh_token'],
      },
      clientInformation: () => ({ client_id: clientId }),
      state: () => 'state of the assistant',
      tokens: () => tokens,
      saveTokens: (saved) => {
        tokens = saved;
      },
      redirectToAuthorization: (url) => {
        asked = url.href;
      },
      saveCodeVerifier: (saved) => {
        verifier = saved;
      },
      codeVerifier: () => verifier,
      saveDiscoveryState: (saved) => {
        discovered = saved;
      },
      discoveryState: () => discovered,
    };
    const serverUrl = new URL(`${service.url}/mcp`);
    const newClient = () => new Client({ name: 'guest', version: '1.0.0' });
    const refused = await newClient()
      .connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }))
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(UnauthorizedError);
    const wanted = new URL(asked).searchParams;
    expect(wanted.get('resource')).to.equal(serverUrl.href);
    expect(wanted.get('scope')).to.equal('patient/*.rs offline_access');

    const page = await signInTo(visitor, asked, PERSON);
    expect(page.status, page.text.slice(0, 500)).to.equal(200);
    const answered = await visitor.submit([...formOf(page), ['decision', 'allow']]);
    const { searchParams } = new URL(answered.path.at(-1) ?? '');
    const iss = searchParams.get('iss') ?? '';
    const done = await auth(provider, { serverUrl, authorizationCode: searchParams.get('code') ?? '', iss });
    expect(done).to.equal('AUTHORIZED');

    const client = newClient();
    await client.connect(new StreamableHTTPClientTransport(serverUrl, { authProvider: provider }));
    const may = await callTool(client, 'what_may_i_do');
    expect(may.isError, may.text).to.equal(false);
    const found = await callTool(client, 'search_record', { type: 'Observation' });
    expect(found.isError, found.text).to.equal(false);
    expect(found.links.length).to.be.greaterThan(0);
    await client.close();

    const elsewhere = await fetch(`${service.base}/Observation`, {
      headers: { Authorization: `Bearer ${tokens?.access_token}` },
    });
    expect(elsewhere.status).to.be.within(401, 403);
    const me = await visitor.open('/connections');
    const [record = ''] = /\/connections\/records\/[0-9a-f-]{36}/.exec(me.text) ?? [];
    const log = wordsOf(await visitor.open(`${record}/log`));
    expect(log).to.include(`${new URL(host.url).host} (Helper)`);
  });
});
