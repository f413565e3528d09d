/** Access requests, applications and receipts on the pages for patients (docs/connections.md). */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import {
  controlsOf,
  formOf,
  MOTHER,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import { askAccess, letPass, pollAccess, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { linkOf, newPatient } from '#test/support/me.ts';
import { Journey, type JourneyClient, PERSON, type TokenAnswer } from '#test/support/oauth-journey.ts';
import type { PageVisitor } from '#test/support/page-visitor.ts';
import { linksOf, patientVisitor, wordsOf } from '#test/support/patient-pages.ts';
import { RecordEvents } from '#test/support/record-events.ts';

describe('requests for access on the pages of patients', () => {
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;
  let client: JourneyClient;
  let asked: TokenAnswer;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
  });
  beforeEach(async () => {
    // Earlier tests leave pending requests, which expire here.
    await letPass(service, 700);
    client = await registerCiba(workshop, { name: 'Sugar & diary' });
    asked = await askAccess(journey, client, { login_hint: MOTHER, binding_message: '<b>Desk 7</b>' });
    expect(asked.status, asked.text).to.equal(200);
  });
  after(() => stopWorkshop(service));

  /** Opens the newest request; returns the page and the request's path. */
  const opened = async (): Promise<readonly [PageVisitor, string]> => {
    const visitor = await patientVisitor(service, MOTHER);
    const path = linksOf(visitor.page, '/connections/requests/')[0] ?? '';
    await visitor.open(path);
    return [visitor, path];
  };
  const poll = async (): Promise<TokenAnswer> => {
    await letPass(service, 6);
    return pollAccess(journey, client, asked);
  };

  it('show what the application asks for and says, as text', async () => {
    const [visitor] = await opened();
    expect(visitor.page.text).to.include('&lt;b&gt;Desk 7&lt;/b&gt;').and.not.include('<b>Desk');
    expect(wordsOf(visitor.page))
      .to.include('Sugar & diary asks for access to a health record')
      .and.include('No confirmed domain')
      .and.include('What for The application gives no purpose.')
      .and.include('Read diagnoses and health problems');
    expect(controlsOf(visitor.page, 'record')).to.have.length(2);
  });

  it('are for the person who is asked alone', async () => {
    const [, path] = await opened();
    const other = await patientVisitor(service, PERSON);
    expect(linksOf(other.page, '/connections/requests/')).to.deep.equal([]);
    expect((await other.open(path)).status).to.equal(404);
    expect((await other.open('/connections/requests/areq_unknown')).text).to.equal(
      (await other.open(path)).text,
    );
  });

  it('are allowed with fewer items, for a record and a duration, once', async () => {
    const [visitor, path] = await opened();
    const fields = formOf(visitor.page).filter(([name]) => name !== 'days' && name !== 'item');
    const faulty = await visitor.submit([
      ['record', 'none'],
      ['decision', 'allow'],
    ]);
    expect(faulty.status).to.equal(422);
    expect(wordsOf(faulty))
      .to.include('Choose a health record.')
      .and.include('Keep at least one box checked')
      .and.include('Choose how long the access lasts.');
    const items = ['read:results', 'offline'].map((item): [string, string] => ['item', item]);
    const done = await visitor.submit([...fields, ...items, ['days', '90'], ['decision', 'allow']]);
    expect(new URL(done.url).searchParams.get('done')).to.equal('approved');
    expect(wordsOf(done)).to.include('Has not read anything yet').and.include('May use: results');
    const tokens = await poll();
    expect(tokens.scope).to.equal('offline_access openid patient/Observation.rs');
    const again = await visitor.open(path);
    expect(wordsOf(again)).to.include('You have already given Sugar & diary access.');
    expect(again.text).not.to.include('<form');
  });

  it('leave a receipt with the words that were shown, in their language, and show how access ended', async () => {
    const visitor = await patientVisitor(service, MOTHER);
    const path = linksOf(visitor.page, '/connections/requests/')[0] ?? '';
    await visitor.open(`${path}?lang=fr`);
    const fields = formOf(visitor.page);
    const done = await visitor.submit([...fields, ['decision', 'allow']]);
    expect(done.url).to.include('lang=fr');
    const grant = (linksOf(done, '/applications/grant_')[0] ?? '').split('?')[0] ?? '';
    const receipt = await visitor.open(`${grant}/receipt`);
    expect(receipt.text)
      .to.include('<ul class="bullets" lang="fr" dir="ltr">')
      .and.include('<html lang="en"');
    expect(wordsOf(receipt))
      .to.include('Receipt of a consent')
      .and.include('Lire')
      .and.include('Valid until');
    await visitor.open(`${grant}/end`);
    await visitor.submit({ note: 'no longer needed' });
    const ended = wordsOf(visitor.page);
    expect(ended).to.include('Access that has ended').and.include('by you or another person');
    expect(wordsOf(await visitor.open(grant))).to.include('What it was allowed to do');
    expect(new URL((await visitor.open(`${grant}/end`)).url).pathname).to.equal(grant);
  });

  it('leave the words that were shown, also if the person has a deleted record of somebody else', async () => {
    const email = `p-${randomBytes(4).toString('hex')}@example.org`;
    const [own, child] = [await newPatient(service), await newPatient(service)];
    const events = await RecordEvents.open(service.databaseUrl);
    try {
      await events.append(own, linkOf(service, email));
      await events.append(child, linkOf(service, email, 'dependent'));
    } finally {
      await events.close();
    }
    const { status, text } = await service.fhir(`/Patient/${child}`, { method: 'DELETE' });
    expect(status, text).to.equal(204);
    await askAccess(journey, client, { login_hint: email });
    const visitor = await patientVisitor(service, email);
    await visitor.open(linksOf(visitor.page, '/connections/requests/')[0] ?? '');
    const shown = wordsOf(visitor.page);
    await visitor.submit([...formOf(visitor.page), ['decision', 'allow']]);
    const { rows } = await service.pool.query<{ sentences: string[] }>(
      'select sentences from operations.access_request where record = $1',
      [own],
    );
    const reads = rows[0]?.sentences.filter((sentence) => sentence.startsWith('Read')) ?? [];
    expect(reads).to.not.be.empty;
    for (const sentence of reads) expect(shown).to.include(sentence);
  });

  it('are denied, and the application muted until the person wants to hear it again', async () => {
    const [visitor] = await opened();
    const done = await visitor.submit({ decision: 'deny', mute: 'yes' });
    expect(wordsOf(done)).to.include('you won’t see further requests from this application');
    expect((await poll()).error).to.equal('access_denied');
    await askAccess(journey, client, { login_hint: MOTHER });
    const home = await visitor.open('/connections');
    expect(wordsOf(home)).not.to.include('Sugar & diary asks for access');
    const account = await visitor.open('/connections/account');
    expect(wordsOf(account)).to.include('Sugar & diary');
    const id = /name="unmute" value="([^"]+)"/.exec(account.text)?.[1] ?? '';
    // The first form on the page is for signing out.
    const token = /name="form_token" value="([^"]+)"/.exec(account.text)?.[1] ?? '';
    const answer = await fetch(`${service.url}/connections/account`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        Cookie: `annal_session=${visitor.cookie('annal_session') ?? ''}`,
        'Sec-Fetch-Site': 'same-origin',
      },
      body: new URLSearchParams({ form_token: token, unmute: id }),
    });
    expect([answer.status, answer.headers.get('location')]).to.deep.equal([
      303,
      `${service.url}/connections/account?done=unmuted`,
    ]);
    expect(wordsOf(await visitor.open('/connections/account'))).to.include(
      'You have not muted any application.',
    );
  });
});
