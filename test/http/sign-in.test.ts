/** Signing in on the pages at the development issuer, sessions, signing out, and what the pages tell browsers. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

describe('the sign-in', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });

  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  const signedIn = async (email = 'ada@example.org', visitor = new PageVisitor(service.url)) => {
    await visitor.open('/signin');
    const page = await visitor.submit({ email });
    expect(page.url).to.equal(`${service.url}/signin/out`);
    return visitor;
  };

  it('signs a person in and back to the page', async () => {
    const visitor = new PageVisitor(service.url);
    const choice = await visitor.open('/signin?return_to=/signin/out%3Flang%3Dde&login_hint=eva@example.org');
    expect(choice.url).to.match(/\/dev\/authorize\?/);
    const asked = new URL(choice.url).searchParams;
    expect(asked.get('code_challenge_method')).to.equal('S256');
    expect(asked.get('redirect_uri')).to.match(/\/signin\/callback\/[0-9a-f]{16}$/);
    expect(asked.get('nonce')).to.match(/^[\w-]{43}$/);
    expect(asked.get('client_id')).to.equal('annal');
    expect(asked.get('login_hint')).to.equal('eva@example.org');
    const page = await visitor.submit({ email: 'eva@example.org' });
    expect(page.url).to.equal(`${service.url}/signin/out?lang=de`);
    expect(page.text).to.include('eva@example.org');
  });

  it('signs a person out, in the browser and on the server', async () => {
    const visitor = await signedIn();
    const secret = visitor.cookie('annal_session') ?? '';
    const page = await visitor.submit();
    expect(page.path.at(-1)).to.match(/\/signin\/out\?lang=en$/);
    expect(page.text).to.include('You are signed out');
    expect(visitor.cookie('annal_session')).to.equal(undefined);
    visitor.plant('annal_session', secret);
    expect((await visitor.open('/signin/out')).text).to.include('You are signed out');
  });
});
