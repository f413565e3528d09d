/** The consent page over HTTP: what it shows, and what an application receives after a decision. */
import { randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { expect } from 'chai';
import { devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { makeSubject } from '#src/dev-issuer/people.ts';
import { newUuid } from '#src/shared/ids.ts';
import {
  answerOf,
  authorizePath,
  controlsOf,
  formOf,
  MOTHER,
  openWorkshop,
  signInTo,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { linkOf, newPatient } from '#test/support/me.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { eventually } from '#test/support/process.ts';
import { RecordEvents } from '#test/support/record-events.ts';

/** A grant as stored in the read model. */
interface Grant {
  readonly grant_id: string;
  readonly record: string;
  readonly patient: string;
  readonly scopes: readonly string[];
  readonly purpose: string | null;
  readonly granted_by: string;
  readonly granted_at: string;
  readonly expires_at: string;
  readonly lang: string;
  readonly sentences: readonly string[];
  readonly end_reason: string | null;
}

describe('the consent page', () => {
  let service: InProcess;
  let workshop: Workshop;
  let clientId: string;
  let applicationId: string;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    ({ client_id: clientId, id: applicationId } = await workshop.register());
  });

  after(() => stopWorkshop(service));

  const opened = async (
    changes: Readonly<Record<string, string | undefined>> = {},
    { email = MOTHER, client = clientId } = {},
  ) => {
    const visitor = new PageVisitor(service.url);
    const page = await signInTo(visitor, authorizePath(client, changes), email);
    expect(page.status).to.equal(200);
    return { visitor, page };
  };
  const newest = async (application = applicationId): Promise<Grant> => {
    const { rows } = await service.pool.query<Grant>(
      'select * from consents.grants where application_id = $1 order by granted_at desc limit 1',
      [application],
    );
    const [grant] = rows;
    if (grant === undefined) throw new Error('the application has no grant');
    return grant;
  };
  const count = async () =>
    (await service.pool.query<{ n: number }>('select count(*)::int as n from consents.grants')).rows[0]?.n ??
    0;

  it('gives exactly what was allowed, and keeps the sentences that were read', async () => {
    const { visitor, page } = await opened({
      scope: 'openid fhirUser offline_access launch/patient patient/Observation.rs patient/Condition.cu',
      purpose: 'treatment',
    });
    expect(page.text).to.include('Treatment and care').and.include('Eleni Nikolaidi');
    expect(controlsOf(page, 'item')).to.deep.equal([
      { value: 'read:results', checked: true },
      { value: 'write:conditions', checked: true },
      { value: 'offline', checked: true },
    ]);
    expect(controlsOf(page, 'days').map(({ value }) => value)).to.deep.equal(['30', '90', '180', '365']);
    const sent = formOf(page).map(([name, value]) => [name, name === 'days' ? '90' : value] as const);
    const answer = await visitor.submit([...sent, ['decision', 'allow']]);
    expect(answer.status).to.equal(303);
    expect(answer.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(answer.text).to.equal('');
    expect([...answerOf(answer).keys()]).to.deep.equal(['from', 'code', 'state', 'iss']);
    const grant = await newest();
    expect(grant).to.include({ purpose: 'treatment', granted_by: 'patient', lang: 'en', end_reason: null });
    expect(grant.scopes).to.deep.equal([
      'fhirUser',
      'launch/patient',
      'offline_access',
      'openid',
      'patient/Condition.cu',
      'patient/Observation.rs',
    ]);
    const days = (Number(grant.expires_at) - Number(grant.granted_at)) / 86_400_000_000;
    expect(Math.round(days)).to.equal(90);
    const until = new Date(Number(grant.expires_at) / 1_000);
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(until);
    expect(grant.sentences).to.deep.equal([
      'Read laboratory results and vital signs, and other measurements',
      'Add and change diagnoses and health problems',
      'Always included: name, birth date and contact data, and the names of care providers',
      'New entries are included: everything above also applies to what is added to the record before the access ends',
      'Health diary recognises you when you come back, by an identifier that is made for it',
      'Get data even while you are not using Health diary, until the access ends',
      `Access ends on ${day}, and you can end it earlier at any time`,
    ]);
    for (const sentence of grant.sentences.slice(0, -1)) expect(page.text).to.include(sentence);
    expect(page.text).to.include(`until ${day}`);
  });

  it('replaces a wildcard by the types that stay, and leaves out what the person leaves out', async () => {
    const { visitor, page } = await opened({ scope: 'offline_access patient/*.cruds' });
    const items = controlsOf(page, 'item').map(({ value }) => value);
    const reading = items.filter((item) => item.startsWith('read:'));
    expect(reading.length).to.be.within(9, 12);
    expect(items.filter((item) => item.startsWith('write:'))).to.have.length(reading.length + 1);
    const kept = reading.filter((item) => item !== 'read:results');
    const record = formOf(page).find(([name]) => name === 'record')?.[1] ?? '';
    await visitor.submit([
      ['record', record],
      ...kept.map((item): [string, string] => ['item', item]),
      ['days', '30'],
      ['decision', 'allow'],
    ]);
    const { scopes, sentences } = await newest();
    expect(scopes).to.include('patient/Condition.rs').and.include('patient/Immunization.rs');
    expect(
      scopes.filter((scope) => /\*|Observation|DiagnosticReport|Specimen|offline|\.c/.test(scope)),
    ).to.deep.equal([]);
    expect(sentences.join()).not.to.match(/laboratory|Add|not using/);
    expect(sentences).to.have.length(kept.length + 3);
  });

  it('preselects the record of patient, and names it as the application knows it', async () => {
    const { visitor, page } = await opened();
    const [own, child] = controlsOf(page, 'record');
    expect(own?.checked).to.equal(true);
    await visitor.submit([
      ['record', child?.value ?? ''],
      ['item', 'read:results'],
      ['days', '365'],
      ['decision', 'allow'],
    ]);
    const grant = await newest();
    expect(grant).to.include({ record: child?.value, granted_by: 'representative' });
    expect(grant.patient).not.to.equal(grant.record);
    const again = await opened({ patient: grant.patient.toUpperCase() });
    expect(controlsOf(again.page, 'record').find(({ checked }) => checked)?.value).to.equal(child?.value);
    // Applications can't use a patient's real id.
    const real = await opened({ patient: child?.value });
    const unknown = await opened({ patient: '01890000-0000-7000-8000-000000000001' });
    for (const { page: shown } of [real, unknown]) {
      expect(controlsOf(shown, 'record').filter(({ checked }) => checked)).to.deep.equal([]);
      expect(shown.text).to.include('asked for a record that is not among yours');
      expect(controlsOf(shown, 'record').map(({ value }) => value)).to.include(own?.value);
    }
    // The responses don't reveal which record exists and which doesn't.
    const without = (text: string) =>
      text.replaceAll(/[\w-]{43}/g, 'secret').replaceAll(/01[0-9a-f]{6}-[0-9a-f-]{27}/g, 'id');
    expect(without(real.page.text)).to.equal(without(unknown.page.text));
    const undecided = await real.visitor.submit([...formOf(real.page), ['decision', 'allow']]);
    expect([undecided.status, undecided.text.includes('Choose a health record.')]).to.deep.equal([422, true]);
    expect(again.page.text).not.to.include('not among yours');
  });

  it('tells records of the same person apart by who keeps them', async () => {
    const email = `several-${Date.now()}@clinic.example`;
    const first = await opened({}, { email });
    await first.visitor.submit([
      ['record', 'new'],
      ['given', 'Mira'],
      ['family', 'Sand'],
      ['birth_date', '1957-03-14'],
      ...formOf(first.page).filter(([name]) => name !== 'record'),
      ['decision', 'allow'],
    ]);
    const { key } = await workshop.owner.done('POST', `/projects/${workshop.project}/keys`, {
      name: 'writes',
      environment: 'sandbox',
    });
    const events = await RecordEvents.open(service.databaseUrl);
    try {
      const record = await newPatient(service, key);
      await events.append(record, linkOf(service, email, 'self'));
      await eventually(async () => {
        const { rowCount } = await service.pool.query('select from consents.links where record = $1', [
          record,
        ]);
        return rowCount === 1;
      });
    } finally {
      await events.close();
    }
    const { page } = await opened({}, { email });
    expect(page.text).to.include('started by you').and.include('kept by Diary');
  });

  it('says "your" only if every record on offer is the person’s own', async () => {
    expect((await opened()).page.text).to.include('Read laboratory results');
    const own = await opened({}, { email: 's-001@patients.example.org' });
    expect(own.page.text).to.include('Read your laboratory results');
  });

  it('starts a new record for a person without one, and asks for what it needs', async () => {
    const email = `new-${randomBytes(4).toString('hex')}@example.org`;
    const { visitor, page } = await opened({}, { email });
    expect(controlsOf(page, 'record')).to.deep.equal([{ value: 'new', checked: true }]);
    const rest = [
      ['record', 'new'],
      ['item', 'read:results'],
      ['days', '30'],
      ['decision', 'allow'],
    ] as const;
    const before = await count();
    const births = ['', '1990-02-30', '1990', '2999-01-01', '0001-01-01', '1990-01-01T00:00:00Z'];
    for (const birth of births) {
      const refused = await visitor.submit([
        ...rest,
        ['given', 'Nia'],
        ['family', 'Okoye'],
        ['birth_date', birth],
      ]);
      expect(refused.status, birth).to.equal(422);
      expect(refused.text).to.include('id="birthdate-fault"').and.include('value="Okoye"');
    }
    const nameless = await visitor.submit([
      ...rest,
      ['given', ' '],
      ['family', 'x'.repeat(101)],
      ['birth_date', '1990-02-03'],
    ]);
    expect(nameless.text).to.include('id="given-fault"').and.include('id="family-fault"');
    expect(nameless.text).to.include('<div role="alert"');
    expect(await count()).to.equal(before);
    const names = [
      ['given', 'Nia "<b>'],
      ['family', 'Okoye'],
      ['birth_date', '1990-02-03'],
    ] as const;
    const allowed = await visitor.submit([...rest, ...names]);
    expect(answerOf(allowed).get('code')).to.match(/^[\w-]{43}$/);
    expect((await newest()).granted_by).to.equal('patient');
    // The second time, the record exists, and no second record can be started.
    const again = await visitor.open(authorizePath(clientId));
    expect(controlsOf(again, 'record')).to.deep.equal([{ value: (await newest()).record, checked: true }]);
    expect(again.text).to.include('Nia &quot;&lt;b&gt; Okoye').and.include('born 3 February 1990');
    expect((await visitor.submit([...rest, ...names])).status).to.equal(422);
  });

  it('shows the form again for anything that can’t be allowed like this', async () => {
    const { visitor, page } = await opened({ scope: 'patient/Observation.rs' });
    const record = formOf(page).find(([name]) => name === 'record')?.[1] ?? '';
    const before = await count();
    const cases: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
      [
        'record',
        [
          ['item', 'read:results'],
          ['days', '30'],
        ],
      ],
      [
        'record',
        [
          ['record', 'other'],
          ['item', 'read:results'],
          ['days', '30'],
        ],
      ],
      [
        'items',
        [
          ['record', record],
          ['days', '30'],
        ],
      ],
      [
        'items',
        [
          ['record', record],
          ['item', 'read:conditions'],
          ['item', 'write:results'],
          ['days', '30'],
        ],
      ],
      [
        'days',
        [
          ['record', record],
          ['item', 'read:results'],
        ],
      ],
      [
        'days',
        [
          ['record', record],
          ['item', 'read:results'],
          ['days', '31'],
        ],
      ],
      [
        'days',
        [
          ['record', record],
          ['item', 'read:results'],
          ['days', '9999999'],
        ],
      ],
    ];
    for (const [field, fields] of cases) {
      const again = await visitor.submit([...fields, ['decision', 'allow']]);
      expect(again.status).to.equal(422);
      expect(again.headers.get('location')).to.equal(null);
      expect(again.text, field).to.include(`href="#${field}"`).and.include(`id="${field}-fault"`);
    }
    // `review` isn't a decision: it shows the choices without errors. Pressing Enter in a field submits `review`.
    const review = await visitor.submit([
      ['record', record],
      ['days', '180'],
      ['decision', 'review'],
    ]);
    expect(review.status).to.equal(200);
    expect(controlsOf(review, 'days').find(({ checked }) => checked)?.value).to.equal('180');
    expect(controlsOf(review, 'item').filter(({ checked }) => checked)).to.deep.equal([]);
    expect(await count()).to.equal(before);
  });

  it('never gives more than was asked for, whatever the form says', async () => {
    const { visitor, page } = await opened({ scope: 'patient/Observation.rs?category=laboratory' });
    expect(page.text).to.include('Read laboratory results<');
    await visitor.submit([
      ...formOf(page),
      ['item', 'read:conditions'],
      ['item', 'write:results'],
      ['item', 'offline'],
      ['scope', 'patient/*.cruds'],
      ['decision', 'allow'],
    ]);
    expect((await newest()).scopes).to.deep.equal(['patient/Observation.rs?category=laboratory']);
  });

  it('replaces an earlier grant, and gives one code for a form that is sent twice at once', async () => {
    const { visitor, page } = await opened({ scope: 'patient/Condition.rs' });
    const form = [...formOf(page), ['decision', 'allow']] as const;
    const before = await count();
    const answers = await Promise.all([visitor.submit(form), visitor.submit(form), visitor.submit(form)]);
    const codes = answers.flatMap((answer) => answerOf(answer).getAll('code'));
    expect(codes).to.have.length(1);
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([303, 409, 409]);
    for (const { status, text } of answers)
      if (status === 409) expect(text).to.include('You have already allowed this');
    expect(await count()).to.equal(before + 1);
    const { rows } = await service.pool.query(
      'select from consents.grants where application_id = $1 and record = $2 and ended_at is null',
      [applicationId, formOf(page).find(([name]) => name === 'record')?.[1]],
    );
    expect(rows).to.have.length(1);
  });

  it('says so when the record was deleted in the meantime, and lets the person choose again', async () => {
    const other = await openWorkshop(service);
    const { client_id } = await other.register();
    const { visitor, page } = await opened({}, { client: client_id });
    const [own] = controlsOf(page, 'record');
    const { key } = await other.owner.done('POST', `/projects/${other.project}/keys`, {
      name: 'writes',
      environment: 'sandbox',
      scopes: ['read', 'write'],
    });
    await service.fhir(`/Patient/${own?.value}`, { method: 'DELETE', key });
    const answer = await visitor.submit([...formOf(page), ['decision', 'allow']]);
    expect(answer.status).to.equal(422);
    expect(controlsOf(answer, 'record').map(({ value }) => value)).not.to.include(own?.value);
    const [next] = controlsOf(answer, 'record');
    const fields = formOf(page).map(
      ([name, value]) => [name, name === 'record' ? (next?.value ?? '') : value] as const,
    );
    expect(answerOf(await visitor.submit([...fields, ['decision', 'allow']])).get('code')).to.match(
      /^[\w-]{43}$/,
    );
  });

  it('keeps the request open when a record can’t be shared at the moment of the decision', async () => {
    const visitor = new PageVisitor(service.url);
    const email = `late-${randomBytes(4).toString('hex')}@example.org`;
    const record = newUuid();
    // A link that the read model still shows, although its record has been removed from the log.
    await service.pool.query(
      `insert into consents.links (link_id, record, owner_project, environment, issuer, subject, relationship, via, linked_at)
       values ($1, $2, $3, 'sandbox', $4, $5, 'self', 'invitation', 1)`,
      [`link_${record}`, record, workshop.project, devIssuerUrl(service.url), makeSubject(email)],
    );
    const page = await signInTo(visitor, authorizePath(clientId), email);
    expect(controlsOf(page, 'record').map(({ value }) => value)).to.deep.equal([record, 'new']);
    const answer = await visitor.submit([...formOf(page), ['decision', 'allow']]);
    expect(answer.status).to.equal(409);
    expect(answer.text)
      .to.include('That record can’t be shared right now')
      .and.include('id="unavailable-fault"');
    expect(answerOf(await visitor.submit({ decision: 'deny' })).get('error')).to.equal('access_denied');
  });

  it('can be read in six languages, and keeps the sentences in the one that was read', async () => {
    const { visitor, page } = await opened({ lang: 'ar', purpose: 'TREAT' });
    expect(page.text).to.include('<html lang="ar" dir="rtl">').and.include('العلاج والرعاية');
    for (const [lang, word] of [
      ['en', 'Deny'],
      ['de', 'Ablehnen'],
      ['fr', 'Refuser'],
      ['es', 'Rechazar'],
      ['nb', 'Avslå'],
      ['ar', 'الرفض'],
    ] as const) {
      const link = new RegExp(`href="([^"]*lang=${lang})"`)
        .exec(visitor.page.text)?.[1]
        ?.replaceAll('&amp;', '&');
      const shown = link === undefined ? visitor.page : await visitor.open(link);
      expect(shown.text).to.include(`<html lang="${lang}"`).and.include(`>${word}</button>`);
    }
    const allowed = await visitor.submit([...formOf(visitor.page), ['decision', 'allow']]);
    expect(answerOf(allowed).get('code')).to.match(/^[\w-]{43}$/);
    const { lang, sentences } = await newest();
    expect(lang).to.equal('ar');
    expect(sentences[0]).to.match(/^قراءة نتائج المختبر/);
  });

  it('shows names as text, the purpose as a quotation, and the domain that the organization confirmed', async () => {
    const { client_id } = await workshop.register({
      name: '<img src=x onerror=alert(1)>',
      privacy_url: undefined,
    });
    const { page } = await opened({ purpose: '"><script>alert(1)</script>' }, { client: client_id });
    expect(page.text).not.to.match(/<script|<img/);
    expect(page.text).to.include('In the application’s own words: “');
    expect(page.text).to.include('No confirmed domain').and.include('The application gives no privacy page');
    const confirm = (domain: string) =>
      service.pool.query('update projects.organization set confirmed_domain = $2 where id = $1', [
        workshop.organization,
        domain,
      ]);
    await confirm('mayo.edu');
    const confirmed = await opened({}, { client: client_id });
    expect(confirmed.page.text)
      .to.include('confirmed for <bdi>mayo.edu</bdi>')
      .and.not.match(/verified/i);
    // If a provider is added to the list of mail providers, a domain of this provider that was confirmed before no longer
    // counts.
    await confirm('gmail.com');
    const lost = await opened({}, { client: client_id });
    expect(lost.page.text).to.include('No confirmed domain').and.not.include('gmail.com');
  });

  it('shows the uploaded logo from this service', async () => {
    const { id, client_id } = await workshop.register();
    await workshop.owner.done('PUT', `/applications/${id}/branding`, { logo: smallPng().toString('base64') });
    const { page } = await opened({}, { client: client_id });
    const [, source = ''] = /<img class="logo" src="([^"]+)" alt=""/.exec(page.text) ?? [];
    expect(source).to.match(new RegExp(`^/oauth/logos/${id}/[0-9a-f]{64}$`));
    const logo = await fetch(service.url + source);
    expect(logo.headers.get('content-type')).to.equal('image/png');
    expect(page.headers.get('content-security-policy')).to.include("img-src data: 'self';");
  });
});

/** Returns a PNG of one pixel. */
function smallPng(): Buffer {
  const crcOf = (bytes: Buffer): number => {
    let crc = ~0;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    }
    return ~crc >>> 0;
  };
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    crc.writeUInt32BE(crcOf(body));
    return Buffer.concat([length, body, crc]);
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.from([0, 11, 87, 164]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
