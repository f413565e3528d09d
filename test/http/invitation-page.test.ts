/** The page at an invitation's `url`: signing in, the birth date, what it shows, and what it keeps secret. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

interface Invited {
  readonly code: string;
  readonly url: string;
  readonly patient: string;
}

describe('the page of an invitation', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });

  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  const call = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).to.equal(201);
    return (await answer.json()) as Record<string, unknown>;
  };

  const invite = async (asked: object = {}, patient?: string): Promise<Invited> => {
    const id =
      patient ??
      String((await call('/v1/patients', { given: 'Marie', family: 'Curie', birth_date: '1867-11-07' })).id);
    const { code, url } = await call(`/v1/patients/${id}/invitations`, asked);
    return { code: String(code), url: String(url), patient: id };
  };

  /** Opens an invitation and signs in from its page. */
  const opened = async ({ url }: Invited, email: string, visitor = new PageVisitor(service.url)) => {
    const intro = await visitor.open(url);
    expect(intro.text).to.include('<h1>Invitation to a health record</h1>').and.not.include('Marie');
    const link = /<a class="button" href="([^"]+)">/.exec(intro.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    await visitor.open(link);
    await visitor.submit({ email });
    return visitor;
  };

  const linksOf = async (patient: string): Promise<readonly { relationship: string; via: string }[]> => {
    const answer = await fetch(`${service.url}/v1/patients/${patient}/links`, {
      headers: { Authorization: `Bearer ${service.key}` },
    });
    return ((await answer.json()) as { data: { relationship: string; via: string }[] }).data;
  };

  it('links the person who signs in and knows the birth date', async () => {
    const invitation = await invite();
    const visitor = await opened(invitation, 'marie@example.org');
    expect(visitor.page.text)
      .to.include('Connect the health record of <bdi>Marie</bdi>')
      .and.not.include('Curie');
    expect(visitor.page.text).to.include('marie@example.org').and.not.include('1867');
    const page = await visitor.submit({ birth_date: '1867-11-07' });
    expect(page.status).to.equal(200);
    expect(page.text).to.include('The record is connected');
    expect(
      (await linksOf(invitation.patient)).map(({ relationship, via }) => [relationship, via]),
    ).to.deep.equal([['self', 'invitation']]);
    const again = await visitor.open(invitation.url);
    expect([again.status, again.text.includes('This invitation can’t be used')]).to.deep.equal([404, true]);
  });

  it('shows and keeps the code nowhere: no path, page, log, log of requests or row has it', async () => {
    const invitation = await invite();
    const visitor = await opened(invitation, 'eve@example.org');
    const seen = [...visitor.page.path, visitor.page.text, visitor.page.url];
    await visitor.submit({ birth_date: '1900-01-01' });
    seen.push(...visitor.page.path, visitor.page.text);
    expect(seen.join('\n')).not.to.include(invitation.code);
    expect(service.log.join('\n')).not.to.include(invitation.code);
    for (const table of ['sign_in', 'session', 'person', 'invitation', 'request_log']) {
      const { rows } = await service.pool.query(`SELECT t::text AS row FROM operations.${table} t`);
      expect(rows.map(({ row }) => String(row)).join('\n'), table).not.to.include(invitation.code);
    }
    const first = await new PageVisitor(service.url).step(invitation.url);
    expect(first.status).to.equal(303);
    expect(first.headers.get('location')).not.to.include(invitation.code);
    expect(first.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(first.headers.get('set-cookie')).to.match(
      /; Path=\/invitations; HttpOnly; SameSite=Lax; Max-Age=3600$/,
    );
  });

  it('asks again for a birth date that is none, or wrong, and closes after five wrong ones', async () => {
    const invitation = await invite();
    const visitor = await opened(invitation, 'ada@example.org');
    for (const birth_date of ['', '1867-02-30', '1867', '<script>', 'x'.repeat(500)]) {
      const page = await visitor.submit({ birth_date });
      expect(page.status, birth_date).to.equal(422);
      expect(page.text)
        .to.include('role="alert"')
        .and.to.include('with day, month and year')
        .and.not.include('<script>');
    }
    for (let wrong = 0; wrong < 5; wrong += 1) {
      const page = await visitor.submit({ birth_date: '1867-11-08' });
      expect([page.status, page.text.includes('This is not the birth date')]).to.deep.equal([422, true]);
    }
    const page = await visitor.submit({ birth_date: '1867-11-07' });
    expect([page.status, page.text.includes('This invitation can’t be used')]).to.deep.equal([404, true]);
    expect(await linksOf(invitation.patient)).to.deep.equal([]);
  });

  it('gives the same page for every invitation that cannot be redeemed', async () => {
    const used = await invite();
    const visitor = await opened(used, 'ben@example.org');
    await visitor.submit({ birth_date: '1867-11-07' });
    const expired = await invite();
    await service.pool.query('UPDATE operations.invitation SET expires_at = now() WHERE redeemed_at IS NULL');
    const unknown = 'A'.repeat(22);
    const pages = await Promise.all(
      [used.url, expired.url, used.url.replace(used.code, unknown)].map(async (url) => {
        const other = new PageVisitor(service.url);
        other.plant('annal_session', visitor.cookie('annal_session') ?? '');
        const { status, text } = await other.open(url);
        return [status, text.replace(/[0-9a-f]{16}/g, '')];
      }),
    );
    expect(pages[0]).to.deep.equal(pages[1]).and.to.deep.equal(pages[2]);
    expect(pages[0]?.[0]).to.equal(404);
    for (const path of [
      '/invitations',
      '/invitations?code=',
      '/invitations?code=short',
      `/invitations/${'0'.repeat(16)}`,
      '/invitations/%0d%0aX',
    ])
      expect((await new PageVisitor(service.url).open(path)).status, path).to.equal(404);
    // A mistyped code can be corrected.
    const { text } = await new PageVisitor(service.url).open('/invitations?code=short%22');
    expect(text).to.include('A code has 22 characters').and.include('name="code" value="short&quot;"');
  });

  it('is for the verified address that it names', async () => {
    const invitation = await invite({ email: 'Pierre@example.org' });
    const wrong = await opened(invitation, 'other@example.org');
    const shape = ({ page }: PageVisitor) => ({
      status: page.status,
      text: page.text.replace(/[0-9a-f]{16}/g, ''),
      headers: [...page.headers.keys()].sort(),
    });
    // Refused before any name is shown, in the same way as an unknown invitation.
    expect(wrong.page.status).to.equal(404);
    expect(wrong.page.text).not.to.match(/Marie|Quickstart/);
    await wrong.open(invitation.url);
    const seen = shape(wrong);
    expect(seen.text).to.include('Use another account');
    await wrong.open(invitation.url.replace(invitation.code, 'A'.repeat(22)));
    expect(shape(wrong)).to.deep.equal(seen);
    await wrong.open(invitation.url);
    const link =
      /<a [^>]*href="([^"]+)">Use another account/.exec(wrong.page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    await wrong.open(link);
    await wrong.submit({ email: 'pierre@example.org' });
    expect((await wrong.submit({ birth_date: '1867-11-07' })).status).to.equal(200);
  });

  it('says that the record has an owner, and that there were too many tries', async () => {
    const first = await invite();
    await (await opened(first, 'one@example.org')).submit({ birth_date: '1867-11-07' });
    const second = await invite({}, first.patient);
    const visitor = await opened(second, 'two@example.org');
    const page = await visitor.submit({ birth_date: '1867-11-07' });
    expect([page.status, page.text.includes('This record already has an owner')]).to.deep.equal([409, true]);
    for (let more = 0; more < 9; more += 1) {
      await visitor.open(second.url);
      await visitor.submit({ birth_date: '1867-11-07' });
    }
    await visitor.open(second.url);
    const last = await visitor.submit({ birth_date: '1867-11-07' });
    expect([last.status, last.headers.get('retry-after')]).to.deep.equal([429, '3600']);
  });

  it('keeps invitations in two tabs apart', async () => {
    const [one, two] = [await invite(), await invite()];
    const visitor = await opened(one, 'tabs@example.org');
    const formOfOne = visitor.page;
    await visitor.open(two.url);
    await visitor.open(formOfOne.url);
    expect((await visitor.submit({ birth_date: '1867-11-07' })).status).to.equal(200);
    expect(await linksOf(one.patient)).to.have.length(1);
    expect(await linksOf(two.patient)).to.have.length(0);
  });

  it('takes no form of another site, without the form token, or after signing out', async () => {
    const invitation = await invite();
    const visitor = await opened(invitation, 'ida@example.org');
    const form = visitor.page;
    const own = { birth_date: '1867-11-07' };
    const headers: readonly Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { Origin: 'https://evil.example.org' },
      { Origin: 'null' },
      {},
    ];
    for (const given of headers) {
      await visitor.open(form.url);
      expect((await visitor.submit(own, given)).status, JSON.stringify(given)).to.equal(403);
    }
    await visitor.open(form.url);
    expect((await visitor.submit({ ...own, form_token: 'x'.repeat(43) })).status).to.equal(403);
    await visitor.open(form.url);
    const secret = visitor.cookie('annal_session') ?? '';
    await visitor.open('/signin/out');
    await visitor.submit();
    visitor.plant('annal_session', secret);
    await visitor.open(form.url);
    expect(visitor.page.text).to.include('<h1>Invitation to a health record</h1>');
    expect(await linksOf(invitation.patient)).to.deep.equal([]);
    const honest = await opened(invitation, 'ida@example.org');
    expect((await honest.submit(own, { Origin: service.url })).status).to.equal(200);
  });
});
