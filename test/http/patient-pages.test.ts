/**
 * The pages for patients, `/connections` (docs/connections.md): whose records they show, which forms are accepted, what they
 * contain.
 */
import { connect } from 'node:net';
import { expect } from 'chai';
import { byPerson, openInstance } from '#test/support/consent-commands.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, me } from '#test/support/me.ts';
import { PageVisitor, type Shown } from '#test/support/page-visitor.ts';
import { linksOf, patientVisitor, wordsOf } from '#test/support/patient-pages.ts';
import { eventually } from '#test/support/process.ts';
import { everyNth } from '#test/support/scale.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

/** Pages under a record's page. */
const PARTS = [
  '',
  '/health',
  '/print',
  '/results',
  '/documents',
  '/timeline',
  '/applications',
  '/proposals',
  '/log',
  '/links',
  '/links/new',
  '/people',
  '/people/end',
  '/data',
  '/data/summary',
  '/data/everything',
  '/data/export',
];

/** Returns the unprocessed head of the response to GET for a path, which is sent in Latin-1 over a connection of its own. */
async function rawAnswer(port: number, path: string, cookie: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const headers = `Host: localhost:${port}\r\nCookie: ${cookie}\r\nConnection: close`;
  socket.write(Buffer.from(`GET ${path} HTTP/1.1\r\n${headers}\r\n\r\n`, 'latin1'));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
}

const HOSTILE = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>';

describe('the pages of patients', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });
  after(async () => {
    await service?.stop();
    await removeTemporaryFolders();
  });

  const call = async (path: string, body: object, method = 'POST'): Promise<Record<string, unknown>> => {
    const answer = await fetch(service.url + path, {
      method,
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const newRecord = async (email: string, relationship = 'self', given = 'Marie'): Promise<string> => {
    const { id } = await call('/v1/patients', { given, family: 'Curie', birth_date: '1867-11-07' });
    const { code } = await call(`/v1/patients/${String(id)}/invitations`, { relationship });
    const { status } = await me(service, email, '/invitations/redeem', 'POST', {
      code,
      birth_date: '1867-11-07',
    });
    expect(status).to.equal(200);
    return String(id);
  };
  const observe = (record: string, value: number, day: string, more: object = {}) =>
    call(`/v1/patients/${record}/observations`, {
      code: '4548-4',
      display: 'HbA1c',
      category: 'laboratory',
      effective_at: `${day}T09:00:00Z`,
      value,
      unit: '%',
      reference_range: { low: 4, high: 5.6 },
      ...more,
    });
  const pathOf = (record: string, part = ''): string => `/connections/records/${record}${part}`;

  it('send a visitor who isn’t signed in to the sign-in and back, with their language', async () => {
    const record = await newRecord('back@example.org');
    const visitor = await patientVisitor(service, 'back@example.org');
    await visitor.open('/signin/out');
    await visitor.submit();
    const asked = await visitor.open(`${pathOf(record, '/log')}?lang=de`);
    expect(asked.url).to.include('/dev/authorize');
    const page = await visitor.submit({ email: 'back@example.org' });
    expect(new URL(page.url).pathname).to.equal(pathOf(record, '/log'));
    expect(page.text).to.include('<html lang="de" dir="ltr">').and.include('Zugriffsprotokoll');
  });

  it('answer paths that no browser makes up, signed in or not, and never fail', async () => {
    const record = await newRecord('odd@example.org');
    const visitor = await patientVisitor(service, 'odd@example.org');
    const session = `annal_session=${visitor.cookie('annal_session') ?? ''}`;
    const odd = [
      '|',
      '%',
      '%7',
      '%zz',
      '\\',
      '"',
      '<',
      '^',
      '`',
      '{',
      '[',
      '%00',
      '%0d%0a',
      '%ed%a0%80',
      '%ff',
    ];
    const far = [
      ...odd,
      '\u00ff',
      '\u0080',
      '//',
      '/../x',
      '/%2e%2e/x',
      '/.',
      '%2f',
      ';',
      '@',
      'x'.repeat(6_000),
    ];
    const roots = [
      '/connections',
      pathOf(record),
      pathOf(record, '/entries/Observation'),
      '/invitations/open',
      '/signin/callback',
      '/oauth/authorize',
      '/oauth/consent',
    ];
    const { port } = new URL(service.url);
    for (const [at, root] of roots.entries())
      for (const Cookie of ['', session]) {
        const paths = (root === '/connections' ? far : odd).flatMap((part) => [
          ...(root === '/connections' ? [`${root}?x=${part}`, `${root}?${part}=x`, `${root}${part}`] : []),
          `${root}/${part}`,
          `${root}?lang=${part}&request=${part}&return_to=${part}&client_id=${part}&code=${part}&state=${part}`,
        ]);
        for (const path of everyNth(paths, 3, at)) {
          const answer = await rawAnswer(Number(port), path, Cookie);
          expect(answer, `${path.slice(0, 120)} ${Cookie === '' ? 'signed out' : 'signed in'}`).to.match(
            /^HTTP\/1\.1 [234]\d\d /,
          );
          const location = /^location: (.*)$/im.exec(answer)?.[1]?.trim();
          if (location !== undefined)
            expect(new URL(location, service.url).origin, path.slice(0, 120)).to.equal(service.url);
        }
      }
    // Characters that a browser sends unencoded are preserved after signing in.
    const stranger = new PageVisitor(service.url);
    await stranger.open('/connections?x=a|b&y=[1]{2}^`');
    const page = await stranger.submit({ email: 'odd@example.org' });
    expect(page.url).to.equal(`${service.url}/connections?x=a|b&y=[1]{2}^\``);
  });

  it('answer other people’s records like unknown ones, on every page', async () => {
    const record = await newRecord('owner@example.org');
    const stranger = await patientVisitor(service, 'stranger@example.org');
    for (const part of PARTS) {
      const [theirs, unknown, invalid] = [
        await stranger.open(pathOf(record, part)),
        await stranger.open(pathOf('01890000-0000-7000-8000-000000000000', part)),
        await stranger.open(pathOf('nobody', part)),
      ];
      for (const { status } of [theirs, unknown, invalid]) expect(status, part).to.equal(404);
      expect(theirs.text, part).to.equal(unknown.text).and.not.include('Curie');
      expect(theirs.text).to.equal(invalid.text);
    }
    const owner = await patientVisitor(service, 'owner@example.org');
    for (const part of PARTS) expect((await owner.open(pathOf(record, part))).status, part).to.equal(200);
  });

  it('don’t open another record’s grants, documents or entries below one’s own', async () => {
    const own = await newRecord('nosy@example.org');
    const other = await newRecord('other@example.org');
    const { id } = await observe(other, 5, '2026-01-01');
    const { id: document } = await call(`/v1/patients/${other}/documents`, {
      title: 'Letter',
      content_type: 'text/plain',
    });
    const answer = await fetch(`${service.url}/v1/documents/${String(document)}/content`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'text/plain' },
      body: 'private',
    });
    expect(answer.status).to.equal(200);
    const visitor = await patientVisitor(service, 'nosy@example.org');
    for (const part of [
      `/entries/Observation/${String(id)}`,
      `/documents/${String(document)}/content`,
      '/applications/grant_unknown',
      '/applications/grant_unknown/receipt',
      '/applications/grant_unknown/end',
      '/log?grant=grant_unknown',
      '/data/nothing',
    ])
      expect((await visitor.open(pathOf(own, part))).status, part).to.equal(404);
    const theirs = await patientVisitor(service, 'other@example.org');
    const saved = await theirs.open(pathOf(other, `/documents/${String(document)}/content`));
    expect([saved.status, saved.text]).to.deep.equal([200, 'private']);
    expect(saved.headers.get('content-disposition')).to.match(/^attachment/);
    expect(saved.headers.get('content-security-policy')).to.equal("default-src 'none'; sandbox");
    expect(saved.headers.get('cache-control')).to.equal('no-store');
  });

  it('take forms from their own pages and sessions alone', async () => {
    const record = await newRecord('forms@example.org');
    const open = async (): Promise<PageVisitor> => {
      const visitor = await patientVisitor(service, 'forms@example.org');
      await visitor.open(pathOf(record, '/people/end'));
      return visitor;
    };
    const visitor = await open();
    const refused = [
      await visitor.submit({}, { 'Sec-Fetch-Site': 'cross-site' }),
      await (await open()).submit({}, { 'Sec-Fetch-Site': 'same-site' }),
      await (await open()).submit({}, { Origin: 'https://evil.example' }),
      await (await open()).submit({}, {}),
      await (await open()).submit({ form_token: 'x'.repeat(43) }),
    ];
    for (const page of refused) expect(page.status, page.text).to.equal(403);
    const signedOut = await open();
    signedOut.plant('annal_session', 'x'.repeat(43));
    expect((await signedOut.submit()).status).to.equal(403);
    expect((await visitor.open(pathOf(record))).status).to.equal(200);
    // The correct form ends the link, and redirects with 303 to a page that can be read with GET.
    await visitor.open(pathOf(record, '/people/end'));
    const done = await visitor.submit();
    expect([done.status, new URL(done.url).search]).to.deep.equal([200, '?done=unlinked']);
    expect(wordsOf(done)).to.include('Your connection with the record has ended.');
    expect((await visitor.open(pathOf(record))).status).to.equal(404);
  });

  it('take no token, send no CORS, and aren’t kept; the session opens no interface', async () => {
    const record = await newRecord('headers@example.org');
    const withKey = await fetch(`${service.url}${pathOf(record)}`, {
      redirect: 'manual',
      headers: { Authorization: `Bearer ${service.key}`, Origin: 'https://evil.example' },
    });
    expect(withKey.status).to.equal(303);
    const visitor = await patientVisitor(service, 'headers@example.org');
    const page = await visitor.open(pathOf(record), { Origin: 'https://evil.example' });
    expect(page.headers.get('access-control-allow-origin')).to.equal(null);
    expect(page.headers.get('cache-control')).to.equal('no-store');
    expect(page.headers.get('content-security-policy'))
      .to.include("default-src 'none'")
      .and.include("form-action 'self'")
      .and.include("frame-ancestors 'none'")
      .and.not.include('script-src');
    const cookie = `annal_session=${visitor.cookie('annal_session') ?? ''}`;
    for (const path of ['/me/patients', `/v1/patients/${record}`, `/fhir/R4/Patient/${record}`])
      expect((await fetch(service.url + path, { headers: { Cookie: cookie } })).status, path).to.equal(401);
  });

  it('show what came from outside as text, whatever it is', async () => {
    const record = await newRecord('safe@example.org', 'self', HOSTILE);
    await observe(record, 5, '2026-01-01', { display: HOSTILE, note: HOSTILE, unit: '%' });
    await call(`/v1/patients/${record}/conditions`, { code: 'E11', display: HOSTILE, note: HOSTILE });
    await call(`/v1/patients/${record}/medications`, { display: HOSTILE, dosage: HOSTILE });
    await call(`/v1/patients/${record}/documents`, {
      title: HOSTILE,
      description: HOSTILE,
      content_type: 'text/html',
    });
    const visitor = await patientVisitor(service, 'safe@example.org');
    for (const part of ['', '/health', '/results', '/documents', '/timeline', '/people', '/data']) {
      const page = await visitor.open(pathOf(record, part));
      expect(page.status, part).to.equal(200);
      expect(page.text, part)
        .to.include('&lt;script&gt;alert(1)')
        .and.not.match(/<script|<img/);
    }
    const one = linksOf(await visitor.open(pathOf(record, '/results')), '/results/one')[0] ?? '';
    expect((await visitor.open(one)).text)
      .to.include('&lt;img src=x')
      .and.not.match(/<script|<img/);
    const strange = await visitor.open(`${pathOf(record, '/timeline')}?kind=${encodeURIComponent(HOSTILE)}`);
    expect(strange.text).not.to.match(/<script|<img/);
  });

  it('keep values of AI apart from facts, and mark them', async () => {
    const record = await newRecord('apart@example.org');
    await observe(record, 5.4, '2026-01-01');
    await observe(record, 9.9, '2026-02-01', { author_type: 'ai' });
    await call(`/v1/patients/${record}/conditions`, { code: 'E11', display: 'Guess', author_type: 'ai' });
    const visitor = await patientVisitor(service, 'apart@example.org');
    const apart = (page: Shown): readonly [string, string] => {
      const at = page.text.indexOf('Noted by AI');
      expect(at, page.url).to.be.greaterThan(0);
      return [page.text.slice(0, at), page.text.slice(at)];
    };
    const [facts, notes] = apart(await visitor.open(pathOf(record, '/results')));
    expect(facts).to.include('5.4').and.not.include('9.9');
    expect(notes).to.include('9.9').and.include('Not verified');
    const [problems, guesses] = apart(await visitor.open(pathOf(record, '/health')));
    expect(problems).not.to.include('Guess');
    expect(guesses).to.include('Guess');
    // Landmarks on one page have different names.
    expect((await visitor.open(pathOf(record, '/health'))).text).to.include(
      'aria-labelledby="problems problems-ai"',
    );
    const one = linksOf(await visitor.open(pathOf(record, '/results')), '/results/one')[0] ?? '';
    const [table] = apart(await visitor.open(one));
    expect(table).to.include('5.4').and.not.include('9.9');
    const overview = wordsOf(await visitor.open(pathOf(record)));
    expect(overview).to.include('1 entry, not verified').and.not.include('Guess');
  });

  it('say that AI changed what somebody else had entered', async () => {
    const record = await newRecord('changed@example.org');
    const { id } = await call(`/v1/patients/${record}/conditions`, { code: 'J45', display: 'Asthma' });
    const visitor = await patientVisitor(service, 'changed@example.org');
    const said = 'was made by somebody else, and AI changed it since';
    expect(wordsOf(await visitor.open(pathOf(record, '/health')))).not.to.include(said);
    const { text, json } = await service.fhir(`/Condition/${String(id)}`);
    const written = await service.fhir(`/Condition/${String(id)}`, {
      method: 'PUT',
      headers: { 'X-Service-Author-Type': 'ai' },
      body: JSON.stringify({ ...json, note: [{ text: 'Gone?' }] }),
    });
    expect(written.status, text).to.equal(200);
    const health = wordsOf(await visitor.open(pathOf(record, '/health')));
    expect(health).to.include(`1 of these entries ${said}`);
    expect(health).to.match(/Before AI changed it: Asthma/);
  });

  it('name results of the timeline and judge them as the page of results does', async () => {
    const record = await newRecord('course@example.org');
    const part = (code: string, value: number) => ({
      code: { coding: [{ system: 'http://loinc.org', code, display: `Long name of ${code}` }] },
      valueQuantity: { value, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
    });
    await write(record, {
      ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: '2026-05-03' },
      ...{
        code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }], text: 'Blood pressure panel' },
      },
      ...{ component: [part('8462-4', 81.2834834), part('8480-6', 133.7483748521)] },
    });
    await observe(record, 7.4, '2026-03-31', { display: 'Hemoglobin A1c/Hemoglobin.total in Blood' });
    await write(record, {
      ...{ resourceType: 'Observation', status: 'preliminary', effectiveDateTime: '2026-02-03' },
      ...{ code: { text: 'Colour of the nail' }, valueString: 'blue' },
    });
    // The digits of these numbers are kept as they were written.
    const kept = `{"resourceType":"Observation","status":"final","subject":{"reference":"Patient/${record}"},
      "effectiveDateTime":"2026-01-02","code":{"coding":[{"system":"http://loinc.org","code":"718-7"}]},
      "valueQuantity":{"value":13.0,"unit":"g/dL"},"referenceRange":[{"low":{"value":12.0,"unit":"g/dL"}}]}`;
    expect((await service.fhir('/Observation', { method: 'POST', body: kept })).status).to.equal(201);
    const visitor = await patientVisitor(service, 'course@example.org');
    // The overview shows abnormal results; this result isn't abnormal.
    expect((await visitor.open(pathOf(record))).status).to.equal(200);
    expect(wordsOf(await visitor.open(pathOf(record, '/results')))).to.match(/13\.0\sg\/dL/);
    const words = wordsOf(await visitor.open(pathOf(record, '/timeline')));
    expect(words).to.match(/Hemoglobin 2 January 2026 13\.0\sg\/dL/i);
    expect(words)
      .to.match(/Blood pressure 3 May 2026 134\/81\smmHg Result/)
      .and.match(/HbA1c \(long-term blood sugar\) 31 March 2026 7\.4\s% Above the range Result/)
      .and.match(/Colour of the nail 3 February 2026 Preliminary, blue Result/i);
    expect(words).not.to.include('panel').and.not.include('Long name');
    const german = wordsOf(await visitor.open(`${pathOf(record, '/timeline')}?lang=de`));
    expect(german).to.match(/Blutdruck 3\. Mai 2026 134\/81\smmHg/);
  });

  it('say how certain problems are, and which allergies are dangerous', async () => {
    const record = await newRecord('certain@example.org');
    const verified = (system: string, code: string) => ({ verificationStatus: stated(system, code) });
    const about = (text: string) => ({ code: { text } });
    await write(record, {
      resourceType: 'Condition',
      ...about('Sarcoidosis'),
      ...verified('condition-ver-status', 'provisional'),
    });
    await write(record, {
      resourceType: 'Condition',
      ...about('Gout'),
      ...verified('condition-ver-status', 'confirmed'),
    });
    const allergy = await service.post('/AllergyIntolerance', {
      ...{ resourceType: 'AllergyIntolerance', code: { text: 'Peanut' }, criticality: 'high' },
      clinicalStatus: stated('allergyintolerance-clinical', 'active'),
      patient: { reference: `Patient/${record}` },
    });
    expect(allergy.status, allergy.text).to.equal(201);
    const visitor = await patientVisitor(service, 'certain@example.org');
    const words = wordsOf(await visitor.open(pathOf(record, '/health')));
    expect(words)
      .to.match(/Sarcoidosis [^·]*provisional/)
      .and.match(/Peanut [^·]*May be life-threatening/);
    expect(words.match(/Provisional|Not confirmed/gi)).to.have.length(1);
  });

  it('list what was prescribed, and nothing that was not', async () => {
    const record = await newRecord('prescribed@example.org');
    const drug = (text: string) => ({ medicationCodeableConcept: { text } });
    const order = {
      resourceType: 'MedicationRequest',
      status: 'active',
      intent: 'order',
      authoredOn: '2026-02-03',
    };
    const dosageInstruction = [{ text: 'One tablet in the morning' }];
    await write(record, { ...order, ...drug('Ramipril 5 mg'), ...{ dosageInstruction } });
    await write(record, { ...order, ...drug('Amoxicillin'), ...{ status: 'completed' } });
    for (const not of [{ status: 'draft' }, { intent: 'proposal' }, { status: 'cancelled' }])
      await write(record, { ...order, ...drug('Never given'), ...not });
    await write(record, { ...order, ...drug('Warfarin'), ...{ doNotPerform: true } });
    for (const year of [2023, 2024])
      await write(record, {
        ...order,
        ...drug('Simvastatin 20 mg'),
        ...{ status: 'stopped', authoredOn: `${year}-04-26` },
      });
    const visitor = await patientVisitor(service, 'prescribed@example.org');
    const words = wordsOf(await visitor.open(pathOf(record, '/health')));
    expect(words).to.match(
      /Medicines Ramipril 5 mg current One tablet in the morning .* prescribed 3 February 2026/,
    );
    expect(words).to.match(/Amoxicillin completed/);
    expect(words).to.match(/Warfarin Not to be given ordered 3 February 2026/);
    // Each drug appears once, and its prescription date isn't its stop date.
    expect(words).to.match(
      /Simvastatin 20 mg stopped date of stopping not recorded · prescribed 26 April 2023 and 26 April 2024/,
    );
    expect(words).not.to.include('Never given');
    const overview = await visitor.open(pathOf(record));
    expect(wordsOf(overview))
      .to.match(/Medicines Warfarin Not to be given Ramipril 5 mg .*2 past medicines/)
      .and.not.include('Amoxicillin');
    // A dose is isolated from the text direction of an Arabic page, so its number stays before its unit.
    expect(overview.text).to.match(/<bdi class="quiet">One tablet in the morning/);
  });

  it('tell the entries behind a row apart by their own dates, not by the day on which they were entered', async () => {
    const record = await newRecord('episodes@example.org');
    const episode = (onsetDateTime: string, abatementDateTime: string) =>
      write(record, {
        ...{ resourceType: 'Condition', code: { text: 'Acute bronchitis' } },
        ...{ clinicalStatus: stated('condition-clinical', 'resolved'), onsetDateTime, abatementDateTime },
      });
    await episode('2013-09-05', '2013-09-12');
    await episode('2016-05-03T18:39:52+00:00', '2016-05-10T18:39:52+00:00');
    await write(record, {
      ...{ resourceType: 'Condition', code: { text: 'Hay fever' } },
      ...{ onsetPeriod: { start: '2010-05-01', end: '2010-05-09' } },
    });
    for (const year of [2023, 2024])
      await write(record, {
        ...{ resourceType: 'MedicationRequest', intent: 'order', status: 'stopped' },
        ...{ medicationCodeableConcept: { text: 'Simvastatin 20 mg' }, authoredOn: `${year}-04-26` },
      });
    for (const occurrenceDateTime of ['2018-04-30', '2023-02-11']) {
      const { status, text } = await service.post('/Immunization', {
        ...{ resourceType: 'Immunization', status: 'completed', vaccineCode: { text: 'Influenza' } },
        ...{ patient: { reference: `Patient/${record}` }, occurrenceDateTime },
      });
      expect(status, text).to.equal(201);
    }
    const visitor = await patientVisitor(service, 'episodes@example.org');
    const page = await visitor.open(pathOf(record, '/health'));
    expect(wordsOf(page))
      .to.match(/since 3 May 2016 · until 10 May 2016 · recorded 2 times/)
      .and.match(/Hay fever State not recorded since 1 May 2010 · The whole entry/i)
      .and.match(/1 more entry of this since 5 September 2013 · until 12 September 2013 · The whole entry/)
      .and.match(
        /1 more entry of this stopped · date of stopping not recorded · prescribed 26 April 2023 · The whole/,
      )
      .and.match(/1 more entry of this 30 April 2018 · The whole entry/)
      .and.not.match(/entered \d/);
    const [, newest = ''] = linksOf(page, '/entries/Condition/');
    expect(wordsOf(await visitor.open(newest)))
      .to.include('3 May 2016, 18:39 UTC')
      .and.not.include('UTC+00');
  });

  it('print what holds now, and say what is left out', async () => {
    const record = await newRecord('paper@example.org');
    const taken = (text: string, status: string, headers = {}) =>
      service.fhir('/MedicationStatement', {
        method: 'POST',
        headers,
        body: JSON.stringify({
          ...{ resourceType: 'MedicationStatement', status, medicationCodeableConcept: { text } },
          subject: { reference: `Patient/${record}` },
        }),
      });
    await taken('Ramipril 5 mg', 'active');
    await taken('Amoxicillin', 'completed');
    const ordered = (status: string, authoredOn: string, text: string) =>
      write(record, {
        ...{ resourceType: 'MedicationRequest', intent: 'order', status, authoredOn },
        ...{ medicationCodeableConcept: { text: 'Methotrexate' }, dosageInstruction: [{ text }] },
      });
    await ordered('active', '2026-01-20', '15 mg once a day');
    await ordered('completed', '2025-11-03', '15 mg once a week');
    await taken('Warfarin', 'active', { 'X-Service-Author-Type': 'ai' });
    await observe(record, 5.2, '2025-01-10');
    await observe(record, 7.1, '2026-01-10');
    const measured = (value: number) => ({
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'Potassium' } },
      ...{ effectiveDateTime: '2026-01-09', valueQuantity: { value, unit: 'mmol/L' } },
      subject: { reference: `Patient/${record}` },
    });
    const { json: wrong } = await service.post('/Observation', measured(6.2));
    await service.fhir(`/Observation/${String(wrong.id)}`, {
      method: 'PUT',
      body: JSON.stringify({ ...measured(4.1), id: wrong.id, status: 'corrected' }),
    });
    const allergy = (code: string) => ({
      resourceType: 'AllergyIntolerance',
      patient: { reference: `Patient/${record}` },
      code: { text: 'Penicillin' },
      clinicalStatus: stated('allergyintolerance-clinical', 'active'),
      verificationStatus: stated('allergyintolerance-verification', code),
    });
    const { json: first } = await service.post('/AllergyIntolerance', allergy('confirmed'));
    await service.fhir(`/AllergyIntolerance/${String(first.id)}`, {
      method: 'PUT',
      body: JSON.stringify({ ...first, ...allergy('refuted') }),
    });
    const visitor = await patientVisitor(service, 'paper@example.org');
    const words = wordsOf(await visitor.open(pathOf(record, '/print')));
    expect(words)
      .to.match(/Allergies and intolerances No allergy is recorded\..*Medicines .*Ramipril 5 mg/)
      .and.match(/1 past medicine Amoxicillin completed .*another system \(imported\)/i)
      .and.include(
        'Dosage changed, prescribed 20 January 2026 (before: 15 mg once a week, prescribed 3 November 2025)',
      )
      .and.match(/Ramipril 5 mg current .*another system \(imported\)/i)
      .and.match(/Penicillin: ruled out since \d+ \w+ \d{4}/)
      .and.match(/Noted by AI Not verified .*Warfarin/)
      .and.match(/Newest results .*7\.1 % Above the range 4 – 5\.6 10 January 2026/)
      .and.match(/Marie Curie · born 7 November 1867 · printed \d+ \w+ \d{4}/)
      .and.include('leaves out care plans');
    expect(words).not.to.include('5.2 %');
    expect(words).to.match(/Potassium 4\.1.mmol\/L.*Value changed \d+ \w+ \d{4} \(before: 6\.2.mmol\/L\)/);
    expect(wordsOf(await visitor.open(pathOf(record, '/results')))).to.match(
      /Value changed \d+ \w+ \d{4} \(before: 6\.2/,
    );
  });

  it('say on the first page of a record what was changed lately', async () => {
    const record = await newRecord('lately@example.org');
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    const order = (ago: number, status: string, text: string) =>
      write(record, {
        ...{ resourceType: 'MedicationRequest', intent: 'order', status, authoredOn: day(ago) },
        ...{ medicationCodeableConcept: { text: 'Warfarin' }, dosageInstruction: [{ text }] },
      });
    await order(200, 'completed', '5 mg once a day');
    await order(10, 'active', '7.5 mg once a day');
    const problem = (severity: string) => ({
      ...{ resourceType: 'Condition', onsetDateTime: '2018', code: { text: 'Heart failure' } },
      ...{ severity: { text: severity }, subject: { reference: `Patient/${record}` } },
      clinicalStatus: stated('condition-clinical', 'active'),
    });
    const { json } = await service.post('/Condition', problem('Mild'));
    await service.fhir(`/Condition/${String(json.id)}`, {
      ...{ method: 'PUT', body: JSON.stringify({ ...problem('Severe'), id: json.id }) },
    });
    const visitor = await patientVisitor(service, 'lately@example.org');
    expect(wordsOf(await visitor.open(pathOf(record, ''))))
      .to.match(/Warfarin 7\.5 mg once a day Dosage changed recently/)
      .and.match(/Heart failure Severity changed recently/);
    expect(wordsOf(await visitor.open(pathOf(record, '/health')))).to.match(
      /Heart failure Active Severity changed recently Severe · Severity changed .* \(before: Mild\) · since 2018/i,
    );
  });

  it('say what AI marked as refuted or wrong although somebody else had entered it', async () => {
    const record = await newRecord('withdrawn@example.org');
    const status = (code: string) => ({ verificationStatus: stated('condition-ver-status', code) });
    const made = async (text: string, code: string, by: string) => {
      const { json } = await write(record, { resourceType: 'Condition', ...{ code: { text } } });
      const { json: written } = await service.fhir(`/Condition/${String(json.id)}`, {
        method: 'PUT',
        headers: { 'X-Service-Author-Type': by },
        body: JSON.stringify({ ...json, ...status(code) }),
      });
      expect(written.id).to.equal(json.id);
    };
    await made('Asthma', 'refuted', 'ai');
    await made('Migraine', 'entered-in-error', 'ai');
    await made('Gout', 'refuted', 'import');
    const visitor = await patientVisitor(service, 'withdrawn@example.org');
    const words = wordsOf(await visitor.open(pathOf(record, '/health')));
    expect(words).to.match(/AI marked 2 entries of somebody else as wrong or refuted\..*Asthma.*Migraine/);
    expect(words).not.to.include('Gout');
  });

  it('draw a chart with the reference range, and say it in words and in a table', async () => {
    const record = await newRecord('chart@example.org');
    for (const [value, day] of [
      [5.2, '2025-01-10'],
      [5.9, '2025-07-10'],
      [5.5, '2026-01-10'],
    ] as const)
      await observe(record, value, day);
    const visitor = await patientVisitor(service, 'chart@example.org');
    const list = await visitor.open(pathOf(record, '/results'));
    expect(list.text).to.include(
      'aria-label="HbA1c (long-term blood sugar): 3 values from 5.2 to 5.9, last 5.5 % on 10 January 2026."',
    );
    expect(wordsOf(list)).to.include('In the range');
    const page = await visitor.open(linksOf(list, '/results/one')[0] ?? '');
    expect(page.text).to.include('<p class="quiet small"><bdi>HbA1c</bdi></p>');
    const german = await visitor.open(pathOf(record, '/results/one?code=4548-4&lang=de'));
    expect(german.text).to.include('<bdi>HbA1c (Langzeitblutzucker)</bdi>');
    expect(page.text).to.include('<rect class="range"');
    expect(page.text.match(/class="dot out"/g)).to.have.length(1);
    expect(page.text.match(/<tr><th scope="row">/g)).to.have.length(3);
    expect(wordsOf(page)).to.include('4 – 5.6').and.include('Above the range');
    expect(page.text).to.include('<td><bdi dir="ltr">4 – 5.6</bdi></td>');
    expect(wordsOf(page)).to.include('The shaded area');
    await observe(record, 70, '2026-01-10', { code: '718-7', display: 'Hemoglobin', unit: 'g/L' });
    const single = wordsOf(await visitor.open(pathOf(record, '/results/one?code=718-7')));
    expect(single).to.include('70 g/L').and.not.include('The shaded area');
    // A value belongs to the day as written, although it is still April in UTC.
    const local = { code: '2345-7', effective_at: '2026-05-01T00:30:00+02:00' };
    await observe(record, 5, '2026-01-01', local);
    const written = wordsOf(await visitor.open(pathOf(record, '/results/one?code=2345-7')));
    expect(written).to.include('1 May 2026').and.not.include('30 Apr');
  });

  /** Writes a FHIR resource to a record. */
  const write = (record: string, resource: { readonly resourceType: string }) =>
    service.post(`/${resource.resourceType}`, { ...resource, subject: { reference: `Patient/${record}` } });
  const stated = (system: string, code: string) => ({
    coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }],
  });

  /** Writes a laboratory result. */
  const report = (record: string, code: string, more: object) =>
    write(record, {
      ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: '2026-01-10T09:00:00Z' },
      ...{
        category: [stated('observation-category', 'laboratory')],
        code: { coding: [{ system: 'http://loinc.org', code }] },
      },
      ...more,
    });
  const amount = (value: number, unit: string, comparator?: string) => ({
    ...{ value, unit, system: 'http://unitsofmeasure.org', code: unit },
    ...(comparator === undefined ? {} : { comparator }),
  });

  it('say how the laboratory judges a value, in words, and mark what is critical', async () => {
    const record = await newRecord('judged@example.org');
    const said = (code: string) => [stated('v3-ObservationInterpretation', code)];
    for (const [code, interpretation] of [
      ['2823-3', said('HH')],
      ['718-7', said('L')],
      ['2160-0', said('N')],
      ['1988-5', said('POS')],
    ] as const)
      await report(record, code, { valueQuantity: amount(6.9, 'mmol/L'), interpretation });
    await report(record, '85354-9', {
      component: [
        { code: { text: 'Systolic' }, valueQuantity: amount(220, 'mm[Hg]'), interpretation: said('HH') },
      ],
    });
    // The laboratory says that this value is normal, but it is outside the laboratory's own range.
    await report(record, '2951-2', {
      ...{ valueQuantity: amount(120, 'mmol/L'), interpretation: said('N') },
      referenceRange: [{ low: amount(135, 'mmol/L'), high: amount(145, 'mmol/L') }],
    });
    const visitor = await patientVisitor(service, 'judged@example.org');
    const list = await visitor.open(pathOf(record, '/results'));
    const words = wordsOf(list);
    expect(words).to.match(/Potassium 1 value 6\.9 mmol\/L 10 January 2026 Critically high/);
    expect(words).to.match(/Hemoglobin 1 value 6\.9 mmol\/L 10 January 2026 Low/);
    expect(words).to.match(/Creatinine.*? 10 January 2026 Normal/);
    expect(words).to.match(/Blood pressure .*? 10 January 2026 Critically high/);
    expect(words).to.match(/Sodium .*?120 mmol\/L 10 January 2026 Below the range/);
    // Abnormal results come first, and also appear in their groups.
    expect(list.text.match(/<strong class="fault">/g)).to.have.length(4);
    const german = await visitor.open(pathOf(record, '/results/one?code=2823-3&lang=de'));
    expect(german.text.match(/Kritisch hoch/g)).to.have.length(2);
  });

  it('show abnormal results first and on the overview, all by group, and find them', async () => {
    const record = await newRecord('abnormal@example.org');
    const more = { reference_range: undefined, unit: 'mmol/L' };
    const visitor = await patientVisitor(service, 'abnormal@example.org');
    await observe(record, 4.2, '2026-01-02', { ...more, code: '2823-3', display: 'Potassium' });
    expect(wordsOf(await visitor.open(pathOf(record))))
      .to.include('None of the newest values came with a reference range or a judgement')
      .and.not.include('none is marked');
    await observe(record, 4.9, '2026-01-01');
    const calm = wordsOf(await visitor.open(pathOf(record)));
    expect(calm)
      .to.include('Of the newest value of each kind, none is marked as abnormal')
      .and.include('1 kind isn’t judged here. Look at its value.');
    await observe(record, 7.4, '2026-02-01');
    const overview = wordsOf(await visitor.open(pathOf(record)));
    expect(overview)
      .to.match(
        /Abnormal or outside the range HbA1c \(long-term blood sugar\) 7\.4 % Above the range 1 February 2026/,
      )
      .and.not.include('none is marked');
    const list = await visitor.open(pathOf(record, '/results'));
    expect(wordsOf(list)).to.match(
      /Abnormal or outside the range HbA1c .*Blood sugar HbA1c .*Electrolytes and minerals Potassium/,
    );
    expect(list.text).to.include('href="#g-diabetes"').and.include('id="g-diabetes"');
    expect(list.text.match(/<details class="course" open>/g)).to.have.length(1);
    const search = async (q: string): Promise<string> =>
      wordsOf(await visitor.open(pathOf(record, `/results?q=${encodeURIComponent(q)}`)));
    for (const q of ['potass', '2823-3', 'MINERALS'])
      expect(await search(q), q)
        .to.include('4.2 mmol/L')
        .and.not.include('7.4');
    expect(await search('nothing')).to.include('No result matches “nothing”.');
    // A value from an AI is never shown as the newest, and isn't marked as normal.
    await observe(record, 5, '2026-03-01', { author_type: 'ai' });
    expect(wordsOf(await visitor.open(pathOf(record)))).to.include('7.4 %');
    const noted = wordsOf(await visitor.open(pathOf(record, '/results')));
    expect(noted.slice(noted.indexOf('Noted by AI')))
      .to.match(/ 5(?:\.0)? %/)
      .and.not.include('In the range');
  });

  it('say when a result has no date, and how many are left out', async () => {
    const record = await newRecord('left@example.org');
    const status = { status: 'cancelled' };
    for (const value of [5, 6]) await report(record, '718-7', { valueQuantity: amount(value, 'g/dL') });
    await report(record, '718-7', { valueString: 'clotted' });
    await report(record, '718-7', { valueQuantity: amount(9, 'g/dL'), effectiveDateTime: undefined });
    await report(record, '2823-3', { ...status, valueQuantity: amount(9, 'mmol/L') });
    const visitor = await patientVisitor(service, 'left@example.org');
    const list = wordsOf(await visitor.open(pathOf(record, '/results')));
    expect(list)
      .to.include('2 values are not in the chart, because they have no number or no date')
      .and.include('1 result that was cancelled or isn’t there yet is not shown.')
      .and.not.include('Times are in UTC');
    const one = wordsOf(await visitor.open(pathOf(record, '/results/one?code=718-7')));
    expect(one).to.match(/no date; entered \d+ \w+ \d{4}.* 9(?:\.0)? g\/dL/);
  });

  it('keep the reference range of a value with a comparator', async () => {
    const record = await newRecord('bounded@example.org');
    const referenceRange = [{ low: amount(5, 'mg/L'), high: amount(10, 'mg/L') }];
    for (const [code, value] of [
      ['1988-5', amount(200, 'mg/L', '>')],
      ['718-7', amount(5, 'mg/L', '<')],
      ['2160-0', amount(8, 'mg/L', '<')],
    ] as const)
      await report(record, code, { valueQuantity: value, referenceRange });
    const visitor = await patientVisitor(service, 'bounded@example.org');
    const shown = async (code: string) =>
      wordsOf(await visitor.open(pathOf(record, `/results/one?code=${code}`)));
    expect(await shown('1988-5'))
      .to.include('&gt;200 mg/L')
      .and.include('Above the range')
      .and.include('5 – 10');
    expect(await shown('718-7')).to.include('Below the range');
    expect(await shown('2160-0')).not.to.match(/(?:Below|Above|In) the range/);
  });

  it('convert units of a chart, label its ends differently, and say that times are in UTC', async () => {
    const record = await newRecord('axis@example.org');
    await observe(record, 7, '2026-01-10', { code: '718-7', unit: 'g/dL', reference_range: undefined });
    await observe(record, 80, '2026-01-12', { code: '718-7', unit: 'g/L', reference_range: undefined });
    for (const hour of ['08', '10'])
      await observe(record, 60, '2026-01-12', {
        code: '8867-4',
        unit: '/min',
        effective_at: `2026-01-12T${hour}:00:00Z`,
      });
    const visitor = await patientVisitor(service, 'axis@example.org');
    const list = await visitor.open(pathOf(record, '/results'));
    expect(list.text).to.include('2 values from 70 to 80, last 80 g/L');
    expect(list.text).to.include('>10 Jan 2026</text>').and.include('>12 Jan 2026</text>');
    expect(list.text).to.include('>08:00 UTC</text>').and.include('>10:00 UTC</text>');
    const one = wordsOf(await visitor.open(pathOf(record, '/results/one?code=8867-4')));
    expect(one).to.include('12 Jan 2026 10:00').and.include('Times are in UTC.');
  });

  it('write a blood pressure as people do, and name other parts', async () => {
    const record = await newRecord('parts@example.org');
    const part = (code: string, display: string, value: number, unit: string) => ({
      code: { coding: [{ system: 'http://loinc.org', code, display }] },
      valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code: unit },
    });
    const measured = (code: string, ...component: object[]) =>
      write(record, {
        ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: '2026-01-10' },
        ...{ code: { coding: [{ system: 'http://loinc.org', code }] }, component },
      });
    await measured(
      '85354-9',
      part('8462-4', 'Diastolic', 82, 'mm[Hg]'),
      part('8480-6', 'Systolic', 128, 'mm[Hg]'),
    );
    await measured('34565-2', part('8867-4', 'Pulse', 70, '/min'), part('9279-1', 'Breaths', 14, '/min'));
    const visitor = await patientVisitor(service, 'parts@example.org');
    const list = await visitor.open(pathOf(record, '/results'));
    expect(list.text).to.include('<bdi dir="ltr">128/82\u00a0mmHg</bdi>').and.not.include('Diastolic</bdi>:');
    expect(list.text).to.include('<bdi>Heart rate</bdi>: <bdi dir="ltr">70');
  });

  it('leave out what was refuted or has an unknown modifier, and say where a state is missing', async () => {
    const record = await newRecord('safety@example.org');
    const modifierExtension = [{ url: 'https://example.org/means-the-opposite', valueBoolean: true }];
    const active = stated('condition-clinical', 'active');
    for (const more of [
      { code: { text: 'Refuted' }, verificationStatus: stated('condition-ver-status', 'refuted') },
      { code: { text: 'Modified' }, clinicalStatus: active, modifierExtension },
      { code: { text: 'Stateless' } },
      { code: { text: 'Plain' }, clinicalStatus: active },
    ])
      await write(record, { resourceType: 'Condition', ...more });
    for (const more of [
      { code: { text: 'Modified value' }, modifierExtension },
      { code: { text: 'Modified by rules' }, implicitRules: 'https://example.org/rules' },
      { code: { text: 'Cancelled value' }, status: 'cancelled' },
      { code: { text: 'Early value' }, status: 'preliminary', effectiveDateTime: '2024' },
    ])
      await write(record, {
        resourceType: 'Observation',
        ...{ status: 'final', valueQuantity: { value: 5 } },
        ...more,
      });
    const visitor = await patientVisitor(service, 'safety@example.org');
    for (const part of ['', '/health']) {
      const words = wordsOf(await visitor.open(pathOf(record, part)));
      const glance = words.slice(words.lastIndexOf('Health problems'));
      expect(glance, part)
        .to.include('Plain')
        .and.not.match(/Refuted|Modified/);
      expect(glance, part).to.match(/Stateless \(?State not recorded/);
    }
    const overview = wordsOf(await visitor.open(pathOf(record)));
    expect(overview).to.include('No allergy is recorded. That does not mean that there is none.');
    const results = wordsOf(await visitor.open(pathOf(record, '/results')));
    expect(results)
      .to.match(/Early value .*5 2024 Preliminary/)
      .and.not.match(/Modified|Cancelled|1 January 2024/);
  });

  it('show the last result, and that a later measurement has none', async () => {
    const record = await newRecord('failed@example.org');
    const measured = (of: object) =>
      write(record, {
        ...{ resourceType: 'Observation', status: 'final' },
        ...{
          code: { coding: [{ system: 'http://loinc.org', code: '2823-3', display: 'Potassium' }] },
          ...of,
        },
      });
    const high = {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'HH' }],
    };
    const value = { value: 6.9, unit: 'mmol/L', system: 'http://unitsofmeasure.org', code: 'mmol/L' };
    await measured({ effectiveDateTime: '2026-01-10', valueQuantity: value, interpretation: [high] });
    await measured({ effectiveDateTime: '2026-01-11', dataAbsentReason: { text: 'haemolysed' } });
    const visitor = await patientVisitor(service, 'failed@example.org');
    for (const part of ['', '/results', '/print', '/results/one?code=2823-3'])
      expect(wordsOf(await visitor.open(pathOf(record, part))), part).to.match(
        /6\.9 mmol\/L .*10 January 2026.* \(11 January 2026: no value ?\)/,
      );
  });

  it('say that an allergy is over', async () => {
    const record = await newRecord('allergy@example.org');
    const answer = await service.post('/AllergyIntolerance', {
      resourceType: 'AllergyIntolerance',
      clinicalStatus: stated('allergyintolerance-clinical', 'resolved'),
      code: { text: 'Egg' },
      patient: { reference: `Patient/${record}` },
      reaction: [{ manifestation: [{ text: 'Hives' }] }],
    });
    expect(answer.status, answer.text).to.equal(201);
    const visitor = await patientVisitor(service, 'allergy@example.org');
    expect(wordsOf(await visitor.open(pathOf(record)))).to.match(
      /Allergies and intolerances None that is current/,
    );
    const health = wordsOf(await visitor.open(pathOf(record, '/health')));
    expect(health).to.match(/Egg resolved Hives/);
  });

  it('open results by the code alone, which means LOINC', async () => {
    const record = await newRecord('bare@example.org');
    await observe(record, 5.4, '2026-01-01');
    const visitor = await patientVisitor(service, 'bare@example.org');
    for (const code of ['4548-4', 'http://loinc.org|4548-4']) {
      const page = await visitor.open(pathOf(record, `/results/one?code=${encodeURIComponent(code)}`));
      expect([page.status, page.text.includes('5.4')], code).to.deep.equal([200, true]);
    }
    const { status } = await visitor.open(pathOf(record, '/results/one?code=4548-5'));
    expect(status).to.equal(404);
  });

  it('open results that are older than a thousand of another kind, with a code or without', async () => {
    const record = await newRecord('wearable@example.org');
    await observe(record, 5.4, '2024-01-01');
    const beats = Array.from({ length: 1_001 }, (_, n) => ({
      request: { method: 'POST', url: 'Observation' },
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: 'http://loinc.org', code: '8867-4', display: 'Heart rate' }] },
        subject: { reference: `Patient/${record}` },
        effectiveDateTime: new Date(Date.UTC(2025, 0, 1, n)).toISOString(),
        valueQuantity: {
          value: 60 + (n % 20),
          unit: '/min',
          system: 'http://unitsofmeasure.org',
          code: '/min',
        },
      },
    }));
    await service.post('/', { resourceType: 'Bundle', type: 'transaction', entry: beats });
    await service.post('/Observation', {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'Energy' },
      subject: { reference: `Patient/${record}` },
      effectiveDateTime: '2026-01-01T09:00:00Z',
      valueInteger: 7,
    });
    const visitor = await patientVisitor(service, 'wearable@example.org');
    const list = await visitor.open(pathOf(record, '/results'));
    const words = wordsOf(list);
    expect(words).to.match(/HbA1c \(long-term blood sugar\) 1 value 5\.4 %/);
    expect(words)
      .to.match(/Heart rate newest \d+ values/)
      .and.include('Energy');
    await observe(record, 5.6, '2024-02-01');
    const both = wordsOf(await visitor.open(pathOf(record, '/results')));
    expect(both).to.match(/HbA1c \(long-term blood sugar\) 2 values 5\.6 %/);
    for (const [code, shown] of [
      ['4548-4', '5.4'],
      ['http://loinc.org|4548-4', '5.4'],
      ['Energy', '7'],
    ] as const) {
      const page = await visitor.open(pathOf(record, `/results/one?code=${encodeURIComponent(code)}`));
      expect([page.status, wordsOf(page).includes(shown)], code).to.deep.equal([200, true]);
    }
  });

  it('mark documents by AI where a link can share them', async () => {
    const record = await newRecord('marked@example.org');
    for (const [title, author_type] of [
      ['Letter', 'practitioner'],
      ['Digest', 'ai'],
    ]) {
      const { id } = await call(`/v1/patients/${record}/documents`, {
        title,
        content_type: 'text/plain',
        author_type,
      });
      await fetch(`${service.url}/v1/documents/${String(id)}/content`, {
        method: 'PUT',
        headers: {
          Authorization: `Bearer ${service.key}`,
          'Content-Type': 'text/plain',
          'X-Service-Author-Type': author_type ?? '',
        },
        body: 'text',
      });
    }
    const visitor = await patientVisitor(service, 'marked@example.org');
    const { text } = await visitor.open(pathOf(record, '/links/new'));
    expect(text).to.match(/<bdi>Digest<\/bdi> <span class="badge ai">Not verified/);
    expect(text).not.to.match(/<bdi>Letter<\/bdi> <span class="badge/);
    // The option says what the summary leaves out.
    expect(text).to.match(/value="summary"[^\n]*Without telephone numbers, addresses/);
    expect(text).to.match(/value="everything"[^\n]*With telephone numbers, addresses/);
  });

  it('shade only a reference range in the unit of the chart', async () => {
    const record = await newRecord('units@example.org');
    await observe(record, 5.2, '2026-01-10', { reference_range: undefined });
    await observe(record, 5.4, '2026-02-10', { reference_range: undefined });
    await observe(record, 33, '2025-01-10', { unit: 'mmol/mol', reference_range: { low: 20, high: 38 } });
    const visitor = await patientVisitor(service, 'units@example.org');
    expect((await visitor.open(pathOf(record, '/results'))).text).not.to.include('<rect class="range"');
    await observe(record, 5.1, '2024-01-10');
    const list = await visitor.open(pathOf(record, '/results'));
    expect(list.text).to.include('<rect class="range"');
    expect(wordsOf(list)).to.match(
      /can’t be converted to each other, so they are shown separately: +% *, +mmol\/mol *\./,
    );
    // Two values with the same unit get a chart.
    await observe(record, 34, '2025-02-10', { unit: 'mmol/mol', reference_range: undefined });
    const one = await visitor.open(linksOf(list, '/results/one')[0] ?? '');
    expect(one.text).to.include('last 5.4 % on 10 February 2026').and.include('last 34 mmol/mol on');
  });

  it('say who entered something, in plain words', async () => {
    const record = await newRecord('origin@example.org');
    const { id } = await observe(record, 5.2, '2025-01-10', { author_type: 'device' });
    const visitor = await patientVisitor(service, 'origin@example.org');
    const words = wordsOf(await visitor.open(pathOf(record, `/entries/Observation/${String(id)}`)));
    expect(words)
      .to.include('Version 1: Added')
      .and.match(/HbA1c [^·]*Result · Version 1 of 1/)
      .and.include('Value 5.2 %')
      .and.include('Comes from a device')
      .and.include('a system of the organization that keeps the record');
  });

  it('show an entry: what it says, what each version changed, and its FHIR data', async () => {
    const record = await newRecord('whole@example.org');
    const visitor = await patientVisitor(service, 'whole@example.org');
    const practitioner = await service.post('/Practitioner', {
      ...{ resourceType: 'Practitioner', name: [{ prefix: ['Dr.'], given: ['Irène'], family: 'Joliot' }] },
    });
    const condition = await write(record, {
      resourceType: 'Condition',
      ...{ code: { text: 'Hypertension' } },
    });
    const order = {
      resourceType: 'MedicationRequest',
      ...{ status: 'active', intent: 'order', authoredOn: '2026-05-01T00:30:00+02:00' },
      medicationCodeableConcept: { coding: [{ system: 'http://www.whocc.no/atc', code: 'C09AA05' }] },
      dosageInstruction: [
        {
          timing: { repeat: { frequency: 1, period: 1, periodUnit: 'd' } },
          doseAndRate: [{ doseQuantity: { value: 2.5, unit: 'mg' } }],
        },
      ],
      requester: { reference: `Practitioner/${String(practitioner.json.id)}` },
      reasonReference: [{ reference: `Condition/${String(condition.json.id)}` }],
      note: [{ text: 'Before breakfast' }],
    };
    const { json } = await write(record, order);
    const path = pathOf(record, `/entries/MedicationRequest/${String(json.id)}`);
    const change = async (more: object, headers = {}): Promise<void> => {
      const { json: now } = await service.fhir(`/MedicationRequest/${String(json.id)}`);
      const { status, text } = await service.fhir(`/MedicationRequest/${String(json.id)}`, {
        ...{ method: 'PUT', headers, body: JSON.stringify({ ...now, ...more }) },
      });
      expect(status, text).to.equal(200);
    };
    const first = wordsOf(await visitor.open(path));
    expect(first)
      .to.match(/Ramipril .*Version 1 of 1/i)
      .and.match(/Dosage 2\.5 mg once a day/)
      .and.include('Reason Hypertension')
      .and.include('Ordered by Dr. Irène Joliot')
      .and.include('Note Before breakfast')
      .and.match(/Status (Active|Current)/)
      // The day, the time and the offset are shown as written.
      .and.include('Prescribed 1 May 2026, 00:30 UTC+02:00')
      .and.match(/FHIR data of version 1 \(JSON, [\d,.]+\skB\).*resourceType.*MedicationRequest/);
    await change({ status: 'stopped', note: [{ text: 'Cough' }] });
    expect(wordsOf(await visitor.open(path)))
      .to.match(
        /Version 2: Changed .*What changed .*Status (Active|Current) Stopped Note Before breakfast Cough/,
      )
      .and.include('Version 2 of 2');
    // A version written by an AI is shown next to the last version written by anyone else.
    await change({ status: 'active' }, { 'X-Service-Author-Type': 'ai' });
    expect(wordsOf(await visitor.open(path)))
      .to.include('Not verified An AI wrote this version, and nobody has confirmed it.')
      .and.include('Beside it is version 2')
      .and.match(/Status (Active|Current) Stopped/);
    const old = await visitor.open(`${path}?version=1`);
    expect(wordsOf(old))
      .to.include('This isn’t the newest version.')
      .and.match(/Version 1 of 3 .*Note Before breakfast/);
    await service.fhir(`/MedicationRequest/${String(json.id)}`, { method: 'DELETE' });
    const gone = await visitor.open(path);
    expect(wordsOf(gone))
      .to.include('This entry is deleted. Its last version is shown.')
      .and.include('Version 3 of 4')
      .and.include('Version 4: Deleted');
    const saved = await visitor.open(linksOf(gone, '/json')[0] ?? '');
    expect(JSON.parse(saved.text)).to.include({ id: json.id, status: 'active' });
    expect(saved.headers.get('content-disposition')).to.match(/filename=[^"]*-Version-3\.json/);
    for (const wrong of ['9', '0', 'x', '4'])
      expect((await visitor.open(`${path}?version=${wrong}`)).status, wrong).to.equal(404);
  });

  it('name a visit, who took part and where in the reader’s language', async () => {
    const record = await newRecord('visits@example.org');
    const visitor = await patientVisitor(service, 'visits@example.org');
    const system = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
    const visit = {
      resourceType: 'Encounter',
      status: 'finished',
      class: { system, code: 'AMB', display: 'ambulatory' },
      period: { start: '2026-05-01T10:00:00Z' },
      reasonCode: [{ text: 'Check-up' }],
      participant: [{ individual: { display: 'Dr. Lind' } }],
      location: [{ location: { display: 'Room 1' } }],
      serviceProvider: { display: 'Old Market' },
    };
    const { json } = await write(record, visit);
    const path = pathOf(record, `/entries/Encounter/${String(json.id)}?lang=de`);
    const [german = ''] = wordsOf(await visitor.open(path)).split('FHIR-Daten');
    expect(german)
      .to.match(/Ambulanter Besuch Besuch oder Aufenthalt · Fassung 1 von 1/)
      .and.include('Beteiligt Dr. Lind')
      .and.include('Ort Room 1')
      .and.include('Organisation Old Market')
      .and.not.match(/ambulatory|Andere Angaben/);
    const [arabic] = wordsOf(await visitor.open(path.replace('lang=de', 'lang=ar'))).split('FHIR');
    expect(arabic)
      .to.match(/2026، 10:00 UTC/)
      .and.not.match(/2026, 10:00|ambulatory/);
  });

  it('call an entry what the version says that is shown, and devices by their name', async () => {
    const record = await newRecord('device@example.org');
    const visitor = await patientVisitor(service, 'device@example.org');
    const device = await service.post('/Device', {
      ...{ resourceType: 'Device', deviceName: [{ name: 'Cuff 3000', type: 'user-friendly-name' }] },
    });
    const pulse = {
      resourceType: 'Observation',
      ...{ status: 'final', effectiveDateTime: '2026-05-01', valueInteger: 70 },
      device: { reference: `Device/${String(device.json.id)}` },
    };
    const { json } = await write(record, { ...pulse, ...{ code: { text: 'Pulse' } } });
    const path = pathOf(record, `/entries/Observation/${String(json.id)}`);
    const page = await visitor.open(path);
    expect(wordsOf(page)).to.include('Cuff 3000');
    expect(page.text).not.to.match(/<dd>[^/]*Device\//);
    const body = JSON.stringify({ ...json, ...pulse, code: { text: 'Heart rate' } });
    await service.fhir(`/Observation/${String(json.id)}`, { method: 'PUT', body });
    expect((await visitor.open(path)).text).to.match(/<h1[^>]*><bdi>Heart rate/);
    expect((await visitor.open(`${path}?version=1`)).text).to.match(/<h1[^>]*><bdi>Pulse/);
  });

  it('show the systolic part of a blood pressure before the diastolic one, whatever the order of the record', async () => {
    const record = await newRecord('pressed@example.org');
    const visitor = await patientVisitor(service, 'pressed@example.org');
    const part = (code: string, display: string, value: number) => ({
      code: { coding: [{ system: 'http://loinc.org', code, display }] },
      valueQuantity: { value, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
    });
    const { json } = await write(record, {
      resourceType: 'Observation',
      ...{ status: 'final', effectiveDateTime: '2026-05-01' },
      ...{ code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] } },
      ...{
        component: [
          part('8462-4', 'Diastolic blood pressure', 78),
          part('8480-6', 'Systolic blood pressure', 124),
        ],
      },
    });
    const page = await visitor.open(pathOf(record, `/entries/Observation/${String(json.id)}`));
    expect(wordsOf(page)).to.match(
      /Systolic blood pressure *: +124 mmHg.*Diastolic blood pressure *: +78 mmHg/,
    );
  });

  it('show large entries in part, with the way to the rest', async () => {
    const record = await newRecord('large@example.org');
    const visitor = await patientVisitor(service, 'large@example.org');
    const { json } = await write(record, {
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'Long story' } },
      ...{ note: Array.from({ length: 4 }, () => ({ text: 'x'.repeat(1_000_000) })) },
    });
    const page = await visitor.open(pathOf(record, `/entries/Observation/${String(json.id)}`));
    expect(page.text.length).to.be.lessThan(100_000);
    expect(wordsOf(page)).to.match(
      /Long story .*Too large to be shown here.*Download version 1 \(FHIR, JSON, 4\sMB\)/,
    );
    const saved = await visitor.open(linksOf(page, '/json')[0] ?? '');
    expect(saved.text.length).to.be.greaterThan(4_000_000);
    const { json: small } = await write(record, {
      ...{ resourceType: 'Observation', status: 'final', code: { text: 'Short story' } },
      ...{ note: [{ text: 'y'.repeat(200_000) }] },
    });
    const part = await visitor.open(pathOf(record, `/entries/Observation/${String(small.id)}`));
    expect(part.text.length).to.be.lessThan(100_000);
    expect(wordsOf(part))
      .to.include('Only the beginning is shown here.')
      .and.match(/Note y+ …/);
  });

  it('say what is new since the last visit, which is an earlier session', async () => {
    const email = 'news@example.org';
    const record = await newRecord(email);
    const first = await patientVisitor(service, email);
    expect(wordsOf(await first.open(pathOf(record)))).to.include('This is your first visit.');
    await observe(record, 5.2, '2025-01-10');
    expect(wordsOf(await first.open(pathOf(record)))).to.include('This is your first visit.');
    const second = await patientVisitor(service, email);
    expect(wordsOf(await second.open(pathOf(record)))).to.include('Nothing was added or changed.');
    await call(`/v1/patients/${record}/conditions`, { code: 'E11', display: 'Diabetes' });
    const third = await patientVisitor(service, email);
    for (const visitor of [third, third]) {
      const words = wordsOf(await visitor.open(pathOf(record)));
      expect(words).to.match(/Since \d+ \w+ \d{4}, \d\d:\d\d UTC .*Diabetes Added/);
    }
    for (let n = 0; n < 12; n += 1) await observe(record, 5 + n / 10, '2025-02-10');
    const fourth = wordsOf(await (await patientVisitor(service, email)).open(pathOf(record)));
    expect(fourth)
      .to.match(/HbA1c 12 entries Added/)
      .and.not.include('more changes');
  });

  it('write a representative’s views into the access log, and not the patient’s own', async () => {
    const record = await newRecord('child@example.org');
    const { id } = await observe(record, 5.2, '2025-01-10');
    const { code } = await call(`/v1/patients/${record}/invitations`, { relationship: 'dependent' });
    const mother = 'mother-of@example.org';
    await me(service, mother, '/invitations/redeem', 'POST', { code, birth_date: '1867-11-07' });
    const logged = async (): Promise<string[]> => {
      const { json } = await me(service, 'child@example.org', `/patients/${record}/access-log`);
      return json.data.map(({ actor_ref, resource_type }) => `${String(actor_ref)} ${String(resource_type)}`);
    };
    const own = await patientVisitor(service, 'child@example.org');
    for (const part of ['', '/results', '/health', '/data/summary']) await own.open(pathOf(record, part));
    expect(await logged()).to.deep.equal([]);
    const visitor = await patientVisitor(service, mother);
    await visitor.open(pathOf(record, '/results'));
    expect(await logged()).to.deep.equal(['person/representative Observation']);
    for (const part of [
      '',
      '/health',
      '/print',
      `/entries/Observation/${String(id)}`,
      `/entries/Observation/${String(id)}/json`,
      '/documents',
      '/timeline',
      '/data/summary',
      '/data/export',
    ]) {
      const before = (await logged()).length;
      await visitor.open(pathOf(record, part));
      expect((await logged()).length, part).to.be.greaterThan(before);
    }
    const words = wordsOf(await own.open(pathOf(record, '/log')));
    expect(words).to.include('looks after the patient').and.include('Read results');
  });

  it('give the record away: as a summary, a Bundle, and a signed history', async () => {
    const record = await newRecord('copy@example.org');
    await observe(record, 5.2, '2025-01-10');
    const visitor = await patientVisitor(service, 'copy@example.org');
    const summary = await visitor.open(pathOf(record, '/data/summary'));
    expect(JSON.parse(summary.text)).to.include({ resourceType: 'Bundle', type: 'document' });
    expect(summary.headers.get('content-disposition')).to.match(
      /^attachment; filename=summary-Marie-Curie-\d{4}-\d\d-\d\d\.json$/,
    );
    // File names say, in the reader's language, what the file contains and whose record it is.
    const german = await visitor.open(`${pathOf(record, '/data/export')}?lang=de`);
    expect(german.headers.get('content-disposition')).to.match(
      /^attachment; filename=Verlauf-signiert-Marie-Curie-\d{4}-\d\d-\d\d\.ndjson$/,
    );
    const data = wordsOf(await visitor.open(pathOf(record, '/data')));
    expect(data).to.match(
      /Printable summary.*Summary for physicians .*JSON.*The whole record .*JSON.*NDJSON/,
    );
    const everything = await visitor.open(pathOf(record, '/data/everything'));
    expect(JSON.parse(everything.text)).to.include({ resourceType: 'Bundle', type: 'searchset' });
    const lines = (await visitor.open(pathOf(record, '/data/export'))).text.trim().split('\n');
    expect(JSON.parse(lines[0] ?? '')).to.include({ format: 'annal-export', stream: `record-${record}` });
    expect(lines.at(-1)).to.include('annal-export').and.include('signature');
  });

  it('share a part of the record by a link with its QR code, and end it', async () => {
    const record = await newRecord('share@example.org');
    const visitor = await patientVisitor(service, 'share@example.org');
    await visitor.open(pathOf(record, '/links/new'));
    const faulty = await visitor.submit({ content: 'nothing', passcode: '123', label: HOSTILE, days: '7' });
    expect(faulty.status).to.equal(422);
    expect(faulty.text)
      .to.include('id="codefault"')
      .and.include('id="whatfault"')
      .and.not.match(/<script|<img/);
    const made = await visitor.submit({ content: 'summary', passcode: '402617', label: HOSTILE, days: '7' });
    expect(made.status).to.equal(200);
    expect(made.text).to.include('<img class="qr" src="data:image/svg+xml;base64,').and.include('shlink:/');
    expect(made.text)
      .to.include('&lt;script&gt;alert(1)')
      .and.not.match(/<script|<img src=x/);
    expect(made.headers.get('cache-control')).to.equal('no-store');
    const words = wordsOf(made);
    expect(words).to.include('with a passcode').and.include('Not opened yet');
    expect(words).not.to.include('402617');
    const list = await visitor.open(pathOf(record, '/links'));
    expect(list.text).not.to.include('shlink:/');
    const path = linksOf(list, `${pathOf(record, '/links')}/shl_`)[0] ?? '';
    const stranger = await patientVisitor(service, 'not-shared@example.org');
    expect((await stranger.open(path)).status).to.equal(404);
    const other = await newRecord('share@example.org', 'dependent');
    expect((await visitor.open(path.replace(record, other))).status).to.equal(404);
    const id = path.split('/').at(-1) ?? '';
    for (const passcode of ['000000', '402617'])
      await fetch(`${service.url}/shl/${id}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ recipient: 'Dr Berg', passcode }),
      });
    const log = wordsOf(await visitor.open(pathOf(record, '/log')));
    expect(log).to.include('Tried to open a shared link').and.include(' Opened a shared link');
    expect(log).not.to.include('whole record');
    await visitor.open(`${path}/end`);
    const ended = await visitor.submit();
    expect(wordsOf(ended)).to.include('The link has ended.').and.include('Links that have ended');
    expect((await visitor.open(path)).text).not.to.include('shlink:/');
  });

  it('remove nothing but a personal record', async () => {
    const record = await newRecord('keep@example.org');
    const visitor = await patientVisitor(service, 'keep@example.org');
    const page = await visitor.open(pathOf(record, '/data'));
    expect(wordsOf(page)).to.include('Only they can delete it.');
    expect(linksOf(page, '/data/erase')).to.deep.equal([]);
    expect(new URL((await visitor.open(pathOf(record, '/data/erase'))).url).pathname).to.equal(
      pathOf(record, '/data'),
    );
  });

  it('remove a personal record with all that is known of it, once its name is typed', async () => {
    const email = 'ada@example.org';
    const instance = await openInstance(service.databaseUrl);
    const person = identityOf(service, email);
    const details = { given: 'Ada', family: 'Lind', birth_date: '1984-07-19' };
    const { result } = await instance.consents.startPersonalRecord(
      byPerson(person),
      person,
      'production',
      details,
    );
    await instance.close();
    const { patient: record } = result;
    await eventually(async () => (await me(service, email, '/patients')).json.total === 1);
    const visitor = await patientVisitor(service, email);
    expect(wordsOf(visitor.page)).to.include('Ada Lind').and.include('started by you');
    await visitor.open(pathOf(record));
    const visits = async (): Promise<number> => {
      const asked = 'select 1 from operations.record_visit where record = $1';
      return (await service.pool.query(asked, [record])).rowCount ?? 0;
    };
    expect(await visits()).to.equal(1);
    await visitor.open(pathOf(record, '/data/erase'));
    const wrong = await visitor.submit({ confirm: 'Ada' });
    expect([wrong.status, wordsOf(wrong).includes('Nothing was deleted.')]).to.deep.equal([422, true]);
    const done = await visitor.submit({ confirm: '  ada  LIND ' });
    expect(new URL(done.url).search).to.equal('?done=erased');
    expect(wordsOf(done)).to.include('everything in it was deleted').and.not.include('Ada Lind Your own');
    expect((await visitor.open(pathOf(record))).status).to.equal(404);
    expect(await visits()).to.equal(0);
  });
});
