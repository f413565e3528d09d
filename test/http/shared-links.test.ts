/** SMART Health Links over HTTP: `/me/patients/{id}/shl` and `/shl`, opened by a third-party client. */

import { inflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { compactDecrypt } from 'jose';
import { SHL, SHLViewer } from 'kill-the-clipboard';
import { z } from 'zod';
import { dayInWords } from '#src/clinical/reading/day-words.ts';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { texts } from '#src/http/pages/texts.ts';
import { manifestUrlWarning } from '#src/shl/manifest-url.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, linkOf, me, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { longObservations, readSlowly } from '#test/support/read-slowly.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import {
  openLink,
  payloadOf,
  revoke,
  type ShownLink,
  share,
  sharedLinkSchema,
} from '#test/support/shared-links.ts';
import { wholeLog } from '#test/support/whole-log.ts';

const EMAIL = 'mira@example.org';

describe('shared links', () => {
  let service: InProcess;
  let events: RecordEvents;
  let record: string;

  before(async () => {
    service = await startInProcess();
    events = await RecordEvents.open(service.databaseUrl);
    record = await newRecord();
  });
  after(async () => {
    await events?.close();
    await service?.stop();
  });

  /** Creates a record that contains a problem and is linked to a person. */
  async function newRecord(email = EMAIL): Promise<string> {
    const patient = await newPatient(service);
    await events.append(patient, linkOf(service, email));
    await eventually(
      async () =>
        (await service.pool.query('select from consents.links where record = $1', [patient])).rowCount === 1,
    );
    await problem(patient, 'Asthma');
    return patient;
  }
  const problem = (patient: string, text: string) =>
    service.post('/Condition', {
      resourceType: 'Condition',
      clinicalStatus: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }],
      },
      code: { text },
      subject: { reference: `Patient/${patient}` },
    });
  const rowsOf = async (of: string): Promise<number> => {
    const { rows } = await service.pool.query<{ n: number }>(
      `select (select count(*) from operations.shared_link where record = $1)::int
            + (select count(*) from operations.shared_link_part p join operations.shared_link l on l.id = p.link where l.record = $1)::int as n`,
      [of],
    );
    return rows[0]?.n ?? 0;
  };
  const logOf = async (of = record) => {
    const answer = await service.fhir(`${service.url}/v1/patients/${of}/access-log?limit=200`);
    const { data } = JSON.parse(answer.text) as {
      data: { actor: string; actor_ref: string; action: string; status: string }[];
    };
    return data.map(({ actor, actor_ref, action, status }) => `${actor} ${actor_ref} ${action} ${status}`);
  };
  const viewerOf = (link: ShownLink): SHLViewer => new SHLViewer({ shlinkURI: String(link.shlink) });
  const summaryBy = async (link: ShownLink, passcode?: string) => {
    const { fhirResources } = await viewerOf(link).resolveSHL({
      recipient: 'Dr Lind',
      ...(passcode === undefined ? {} : { passcode }),
    });
    return fhirResources;
  };

  it('are opened by a client written by others, and the summary is valid', async () => {
    const link = await share(service, EMAIL, record, { content: 'summary', label: 'For Dr Lind' });
    expect(link).to.deep.include({
      status: 'active',
      flag: '',
      label: 'For Dr Lind',
      access_count: 0,
      last_access_at: null,
    });
    const parsed = SHL.parse(String(link.shlink));
    expect(parsed.label).to.equal('For Dr Lind');
    expect(parsed.expirationDate?.toISOString().slice(0, 10)).to.equal(link.expires_at.slice(0, 10));
    const resources = await summaryBy(link);
    expect(resources).to.have.length(1);
    const validated = await service.fhir(
      '/Bundle/$validate?profile=http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips',
      { method: 'POST', body: JSON.stringify(resources[0]) },
    );
    expect(validated.status, validated.text).to.equal(200);
    const { issue } = JSON.parse(validated.text) as { issue: { severity: string }[] };
    expect(issue.filter(({ severity }) => severity === 'error' || severity === 'fatal')).to.deep.equal([]);
    expect(JSON.stringify(resources[0])).to.include('Asthma');
    expect(await logOf()).to.deep.equal([`Dr Lind link/${link.id} open-link ok`]);
    const { json } = await me(service, EMAIL, `/patients/${record}/shl/${link.id}`);
    expect(sharedLinkSchema.parse(json)).to.deep.include({ access_count: 1 });
  });

  it('have contact data of the person only with everything', async () => {
    const patient = await newRecord();
    const updated = await service.fhir(`/Patient/${patient}`, {
      method: 'PUT',
      body: JSON.stringify({
        resourceType: 'Patient',
        id: patient,
        name: [{ family: 'Sand', given: ['Mira'] }],
        birthDate: '1957-03-14',
        identifier: [{ system: 'urn:test:number', value: 'number-77' }],
        telecom: [{ system: 'phone', value: '+47 400 00 000' }],
        address: [{ line: ['Storgata 1'], city: 'Oslo' }],
      }),
    });
    expect(updated.status).to.equal(200);
    const document = await service.post('/DocumentReference', {
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: `Patient/${patient}` },
      content: [{ attachment: { contentType: 'text/plain', data: 'YQ==', title: 'Letter' } }],
    });
    const shown = async (content: string): Promise<boolean[]> => {
      const text = JSON.stringify(await summaryBy(await share(service, EMAIL, patient, { content })));
      expect(text).to.include('Sand').and.include('1957-03-14');
      return ['number-77', '+47 400 00 000', 'Storgata'].map((value) => text.includes(value));
    };
    expect(await shown('summary')).to.deep.equal([false, false, false]);
    const { id } = JSON.parse(document.text) as { id: string };
    expect(await shown(`document/${id}`)).to.deep.equal([false, false, false]);
    expect(await shown('everything')).to.deep.equal([true, true, true]);
  });

  it('show what was encrypted when they were made; with long_term the record as it is', async () => {
    const patient = await newRecord();
    const once = await share(service, EMAIL, patient);
    const always = await share(service, EMAIL, patient, { content: 'summary', long_term: true });
    expect(always.flag).to.equal('L');
    await problem(patient, 'Migraine');
    expect(JSON.stringify(await summaryBy(once))).to.not.include('Migraine');
    expect(JSON.stringify(await summaryBy(always))).to.include('Migraine');
    const days = ({ created_at, expires_at }: ShownLink): number =>
      Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000);
    expect([once, always].map(days)).to.deep.equal([30, 365]);
  });

  it('show nothing that an AI wrote, in everything as in a summary, until a person writes it', async () => {
    const patient = await newRecord();
    const { json } = await service.post(
      '/Condition',
      { resourceType: 'Condition', code: { text: 'A guess' }, subject: { reference: `Patient/${patient}` } },
      { 'X-Service-Author-Type': 'ai' },
    );
    const link = await share(service, EMAIL, patient, { content: 'everything', long_term: true });
    expect(JSON.stringify(await summaryBy(link)))
      .to.include('Asthma')
      .and.not.include('A guess');
    const written = await service.fhir(`/Condition/${String(json.id)}`, {
      method: 'PUT',
      body: JSON.stringify({ ...json, code: { text: 'A guess, confirmed' } }),
    });
    expect(written.status, written.text).to.equal(200);
    expect(JSON.stringify(await summaryBy(link)))
      .to.include('A guess, confirmed')
      .and.not.include('left-out');
    await service.fhir(`/Condition/${String(json.id)}`, {
      method: 'PUT',
      headers: { 'X-Service-Author-Type': 'ai' },
      body: JSON.stringify({ ...json, code: { text: 'Another guess' } }),
    });
    const [bundle] = await summaryBy(link);
    expect(bundle)
      .to.have.property('meta')
      .that.deep.equals({
        tag: [
          {
            system: 'https://annal.dev/fhir/left-out',
            code: 'changed-by-ai',
            display: '1 changed by an AI since somebody else wrote it',
          },
        ],
      });
  });

  it('tell what was there before an AI changed it, on the page too, and everything is a valid Bundle', async () => {
    const patient = await newRecord();
    const coded = (set: string, code: string) => ({
      coding: [{ system: `http://terminology.hl7.org/CodeSystem/allergyintolerance-${set}`, code }],
    });
    const active = { clinicalStatus: coded('clinical', 'active') };
    const wrong = { verificationStatus: coded('verification', 'entered-in-error') };
    const refuted = { ...active, verificationStatus: coded('verification', 'refuted') };
    for (const [name, state] of [
      ['Penicillin', active],
      ['Wrong person', wrong],
    ] as const) {
      const { json } = await service.post('/AllergyIntolerance', {
        resourceType: 'AllergyIntolerance',
        ...state,
        criticality: 'high',
        code: { text: name },
        patient: { reference: `Patient/${patient}` },
      });
      const edited = await service.fhir(`/AllergyIntolerance/${String(json.id)}`, {
        method: 'PUT',
        headers: { 'X-Service-Author-Type': 'ai' },
        body: JSON.stringify({ ...json, ...refuted, code: { text: 'Nothing' } }),
      });
      expect(edited.status, edited.text).to.equal(200);
    }
    const viewer: { readonly readRecord: (resources: readonly object[]) => unknown } = await import(
      new URL('../../src/http/shl/viewer/record.ts', import.meta.url).href
    );
    const shown = z.object({
      before: z.array(z.unknown()),
      changed: z.number(),
      sections: z.map(z.string(), z.array(z.unknown())),
    });
    for (const content of ['summary', 'everything']) {
      const [bundle] = await summaryBy(await share(service, EMAIL, patient, { content }));
      if (bundle === undefined) throw new TypeError('no Bundle');
      const { before, changed, sections } = shown.parse(viewer.readRecord([bundle]));
      expect(changed, content).to.equal(2);
      expect(before, content).to.have.length(1);
      expect(JSON.stringify(before)).to.match(/Penicillin.*[Mm]ay be life-threatening/);
      expect(sections.get('allergies')).to.deep.equal([]);
      if (content === 'summary') continue;
      const validated = await service.post('/Bundle/$validate', bundle);
      const { issue } = JSON.parse(validated.text) as { issue: { severity: string }[] };
      expect(
        issue.filter(({ severity }) => severity === 'error'),
        validated.text,
      ).to.deep.equal([]);
    }
  });

  it('say what later versions and newer prescriptions changed, and what was refuted, on the page too', async () => {
    const patient = await newRecord();
    const coded = (set: string, code: string) => ({
      coding: [{ system: `http://terminology.hl7.org/CodeSystem/allergyintolerance-${set}`, code }],
    });
    const revise = async (type: string, ...versions: readonly object[]) => {
      const whole = { resourceType: type, patient: { reference: `Patient/${patient}` } };
      let id: unknown;
      for (const version of versions) {
        const body = JSON.stringify({ ...whole, ...version, id });
        const path = id === undefined ? `/${type}` : `/${type}/${String(id)}`;
        const { status, text, json } = await service.fhir(path, { method: id ? 'PUT' : 'POST', body });
        expect(status, text).to.be.lessThan(300);
        id = json.id;
      }
    };
    const allergy = (name: string, verification: string, criticality: string) => ({
      clinicalStatus: coded('clinical', 'active'),
      verificationStatus: coded('verification', verification),
      ...{ criticality, code: { text: name } },
    });
    const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const dosed = (name: string, text: string, more: object) => ({
      ...{ patient: undefined, subject: { reference: `Patient/${patient}` }, intent: 'order', ...more },
      ...{ medicationCodeableConcept: { text: name }, dosageInstruction: [{ text }] },
    });
    const active = { status: 'active', authoredOn: day(10) };
    await revise(
      'AllergyIntolerance',
      allergy('Peanut', 'confirmed', 'low'),
      allergy('Peanut', 'confirmed', 'high'),
    );
    await revise(
      'AllergyIntolerance',
      allergy('Penicillin', 'confirmed', 'high'),
      allergy('Penicillin', 'refuted', 'high'),
    );
    await revise('AllergyIntolerance', allergy('Egg', 'confirmed', 'low'), {
      ...allergy('Egg', 'confirmed', 'low'),
      note: [{ text: 'mild' }],
    });
    await revise(
      'MedicationRequest',
      dosed('Ramipril', '5 mg daily', active),
      dosed('Ramipril', '10 mg daily', active),
    );
    await revise('MedicationRequest', dosed('Methotrexate', '15 mg once a day', active));
    await revise(
      'MedicationRequest',
      dosed('Methotrexate', '15 mg once a week', { status: 'completed', authoredOn: day(100) }),
    );
    const daily = (value: number, periodUnit = 'd', authoredOn = day(10), status = 'active') => ({
      ...dosed('Digoxin', '', { status, authoredOn }),
      dosageInstruction: [
        {
          doseAndRate: [{ doseQuantity: { value, unit: 'mg' } }],
          timing: { repeat: { frequency: 1, period: 1, periodUnit, when: ['MORN'] } },
        },
      ],
    });
    await revise('MedicationRequest', daily(0.125), daily(0.25));
    await revise('MedicationRequest', daily(1.5, 'wk', day(80), 'completed'));
    const potassium = (value: number) => ({
      ...{ status: 'final', code: { text: 'Potassium' }, valueQuantity: { value, unit: 'mmol/L' } },
      ...{ patient: undefined, subject: { reference: `Patient/${patient}` }, effectiveDateTime: day(2) },
    });
    await revise('Observation', potassium(6.2), potassium(4.1));
    const viewer = await import(new URL('../../src/http/shl/viewer/record.ts', import.meta.url).href);
    const { phraseText } = await import(new URL('../../src/http/shl/viewer/texts.ts', import.meta.url).href);
    const phrase = z.record(z.string(), z.unknown());
    const changed = z.object({
      name: z.string(),
      changes: z.array(phrase).default([]),
      marks: z.array(phrase).default([]),
    });
    const shown = z.object({
      sections: z.map(z.string(), z.array(changed)),
      refuted: z.array(z.object({ name: z.string(), state: z.string(), since: phrase, before: phrase })),
    });
    const [today, long] = [day(0), (date: string) => dayInWords('en', date)];
    for (const content of ['summary', 'everything']) {
      const [bundle] = await summaryBy(await share(service, EMAIL, patient, { content }));
      if (bundle === undefined) throw new TypeError('no Bundle');
      const readIn = (lang: 'en' | 'de' | 'fr') => {
        const { sections, refuted } = shown.parse(viewer.readRecord([bundle], undefined, lang));
        const say = Object.assign(texts(lang), { day: (date: string) => dayInWords(lang, date) });
        const rows = new Map([...sections.values()].flat().map((row) => [row.name, row]));
        const said = (name: string): string[] =>
          [...(rows.get(name)?.marks ?? []), ...(rows.get(name)?.changes ?? [])].map((each) =>
            phraseText(each, say),
          );
        return { said, refuted, rows, say };
      };
      const { said, refuted, rows, say } = readIn('en');
      expect(said('Peanut'), content).to.deep.equal([
        'Risk changed recently',
        `Risk changed ${long(today)} (before: low risk)`,
      ]);
      expect(said('Egg'), content).to.deep.equal([]);
      expect(said('Ramipril'), content).to.deep.equal([
        'Dosage changed recently',
        `Dosage changed ${long(today)} (before: 5 mg daily)`,
      ]);
      expect(said('Methotrexate'), content).to.deep.equal([
        'Dosage changed recently',
        `Dosage changed, prescribed ${long(day(10))} (before: 15 mg once a week, prescribed ${long(day(100))})`,
      ]);
      expect(said('Potassium').slice(0, 1), content).to.deep.equal(['Value changed recently']);
      expect(said('Potassium')[1], content).to.match(/^Value changed .* \(before: 6\.2.mmol\/L\)$/);
      const [german, french] = [readIn('de').said, readIn('fr').said];
      expect(german('Digoxin').slice(1), content).to.deep.equal([
        `Dosierung geändert am ${dayInWords('de', today)} (vorher: 0,125 mg einmal täglich morgens)`,
        `Dosierung geändert, verordnet am ${dayInWords('de', day(10))} (vorher: 1,5 mg einmal pro Woche morgens, verordnet am ${dayInWords('de', day(80))})`,
      ]);
      expect(french('Digoxin')[1], content).to.include('0,125 mg une fois par jour le matin');
      expect(french('Digoxin')[2], content).to.include('1,5 mg une fois par semaine le matin');
      expect(german('Potassium')[1], content).to.include('6,2 mmol/L');
      const [penicillin, ...others] = refuted;
      expect(others).to.deep.equal([]);
      expect([penicillin?.name, penicillin?.state], content).to.deep.equal(['Penicillin', 'ruled out']);
      expect(phraseText(penicillin?.since, say)).to.equal(`since ${long(today)}`);
      expect(phraseText(penicillin?.before, say)).to.equal(
        'before: active, confirmed, may be life-threatening',
      );
      expect(JSON.stringify(rows.get('Peanut')?.changes).includes('Egg')).to.equal(false);
      if (content === 'summary') continue;
      expect(JSON.stringify(bundle).split('"code":"replaced"')).to.have.length(2);
      const validated = await service.post('/Bundle/$validate', bundle);
      expect(validated.text).to.not.contain('"severity":"error"');
    }
  });

  it('have 75 characters after BASE_URL in their URL, of which the log warns where that is too many', async () => {
    const { url } = payloadOf(await share(service, EMAIL, record));
    expect(url.length - service.url.length).to.equal(75);
    expect(manifestUrlWarning(`https://${'h'.repeat(45)}`)).to.equal(undefined);
    expect(manifestUrlWarning(`https://${'h'.repeat(46)}`)).to.match(
      /^BASE_URL has 54 characters.*at most 53/,
    );
  });

  it('hand a file out once where it is too long to be embedded', async () => {
    const link = await share(service, EMAIL, record, { content: 'everything' });
    const { url, key } = payloadOf(link);
    for (const from of [url, `${service.url}/shl/${link.id}`]) {
      const { json } = await openLink(from, { recipient: 'Clinic', embeddedLengthMax: 0 });
      const [file] = json.files ?? [];
      expect(file).to.have.all.keys('contentType', 'location');
      const location = String(file?.location);
      const head = await fetch(location, { method: 'HEAD' });
      expect([head.status, head.headers.get('content-type')]).to.deep.equal([200, 'application/jose']);
      const first = await fetch(location);
      expect(first.headers.get('content-type')).to.equal('application/jose');
      const { plaintext, protectedHeader } = await decrypted(await first.text(), key);
      expect(protectedHeader).to.include({ alg: 'dir', enc: 'A256GCM', cty: 'application/fhir+json' });
      const bundle = JSON.parse(plaintext);
      expect(bundle).to.deep.include({ resourceType: 'Bundle', type: 'collection' });
      expect(
        bundle.entry.map((entry: { resource: { resourceType: string } }) => entry.resource.resourceType),
      ).to.deep.equal(['Patient', 'Condition']);
      const second = await fetch(location);
      expect(second.status).to.equal(404);
      expect((await fetch(location, { method: 'HEAD' })).status).to.equal(404);
    }
    expect((await logOf()).slice(0, 2)).to.deep.equal([
      `Clinic link/${link.id} open-link-file ok`,
      `Clinic link/${link.id} open-link ok`,
    ]);
  });

  async function decrypted(jwe: string, key: string) {
    const parts = jwe.split('.');
    expect(parts).to.have.length(5);
    const { plaintext, protectedHeader } = await compactDecrypt(jwe, Buffer.from(key, 'base64url'));
    const isInflated = plaintext[0] === '{'.charCodeAt(0);
    const text = isInflated ? Buffer.from(plaintext) : inflateRawSync(plaintext);
    return { plaintext: text.toString('utf8'), protectedHeader };
  }

  it('share a document with its bytes', async () => {
    const made = await fetch(`${service.url}/v1/patients/${record}/documents`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: 'Letter', content_type: 'text/plain' }),
    });
    const { id } = (await made.json()) as { id: string };
    const bytes = 'Dear colleague,\n'.repeat(5_000);
    const put = await fetch(`${service.url}/v1/documents/${id}/content`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'text/plain' },
      body: bytes,
    });
    expect(put.status, await put.text()).to.equal(200);
    const link = await share(service, EMAIL, record, { content: `document/${id}` });
    const [bundle] = await summaryBy(link);
    const { entry } = bundle as unknown as {
      entry: { resource: { content?: { attachment: { data: string; url?: string } }[] } }[];
    };
    const attachment = entry[1]?.resource.content?.[0]?.attachment;
    expect(attachment).to.not.have.property('url');
    expect(Buffer.from(String(attachment?.data), 'base64').toString()).to.equal(bytes);
  });

  it('refuse bodies that make no link, and name what is wrong', async () => {
    const refused = async (body: object): Promise<string> => {
      const { status, json } = await me(service, EMAIL, `/patients/${record}/shl`, 'POST', body);
      return `${status} ${JSON.stringify(json.error)}`;
    };
    expect(await refused({})).to.match(/^422 .*content/);
    expect(await refused({ content: 'all' })).to.include('must be summary, everything, or document/');
    expect(await refused({ content: 'document/01890000-0000-7000-8000-000000000000' })).to.match(/^404/);
    expect(await refused({ content: 'summary', label: 'x'.repeat(81) })).to.match(/^422 .*label/);
    expect(await refused({ content: 'summary', passcode: '123' })).to.match(/^422 .*passcode/);
    expect(await refused({ content: 'summary', expires_at: '2020-01-01T00:00:00Z' })).to.match(
      /^422 .*in the future/,
    );
    const stranger = await me(service, 'other@example.org', `/patients/${record}/shl`, 'POST', {
      content: 'summary',
    });
    expect(stranger.status).to.equal(404);
    expect(await rowsOf(await newRecord())).to.equal(0);
  });

  it('take five wrong passcodes in their life, and are closed for good then', async () => {
    const link = await share(service, EMAIL, record, { content: 'summary', passcode: '402617' });
    expect(link.flag).to.equal('P');
    const { url } = payloadOf(link);
    const without = await openLink(url);
    expect([without.status, without.json.remainingAttempts]).to.deep.equal([401, 5]);
    expect(without.headers.get('www-authenticate')).to.match(/^Passcode /);
    for (const empty of [{}, { passcode: '' }])
      expect((await openLink(url, { recipient: 'Adam', ...empty })).json.remainingAttempts).to.equal(5);
    const tried = async (passcode: string) => {
      const { status, json } = await openLink(url, { recipient: 'Eve', passcode });
      return [status, json.remainingAttempts];
    };
    expect(await tried('000000')).to.deep.equal([401, 4]);
    expect(await summaryBy(link, '402617')).to.have.length(1);
    expect(await tried('000001')).to.deep.equal([401, 3]);
    expect(await tried('000002')).to.deep.equal([401, 2]);
    expect(await tried('000003')).to.deep.equal([401, 1]);
    expect(await tried('000004')).to.deep.equal([401, 0]);
    expect((await openLink(url, { recipient: 'Dr Lind', passcode: '402617' })).status).to.equal(404);
    const { json } = await me(service, EMAIL, `/patients/${record}/shl/${link.id}`);
    expect(json).to.deep.include({ status: 'closed', shlink: null, viewer_url: null });
    const { rows } = await service.pool.query('select from operations.shared_link where id = $1', [link.id]);
    expect(rows).to.have.length(0);
    const seen = (await logOf()).filter((line) => line.includes(link.id));
    expect(seen.filter((line) => line === `Eve link/${link.id} open-link denied`)).to.have.length(5);
    expect(seen[0]).to.equal(`Dr Lind link/${link.id} open-link not_found`);
  });

  it('open nothing once they are revoked, and keep nothing', async () => {
    const patient = await newRecord();
    const link = await share(service, EMAIL, patient);
    const { url } = payloadOf(link);
    const { json } = await openLink(url, { recipient: 'Clinic', embeddedLengthMax: 0 });
    expect((await revoke(service, 'other@example.org', patient, link.id)).status).to.equal(404);
    const ended = await revoke(service, EMAIL, patient, link.id);
    expect(ended.json).to.deep.include({ status: 'revoked', shlink: null, viewer_url: null });
    expect(await rowsOf(patient)).to.equal(0);
    expect((await openLink(url)).status).to.equal(404);
    expect((await fetch(String(json.files?.[0]?.location))).status).to.equal(404);
    expect((await revoke(service, EMAIL, patient, link.id)).status).to.equal(200);
    const { data, total } = (await me(service, EMAIL, `/patients/${patient}/shl`)).json;
    expect([data.length, total]).to.deep.equal([1, 1]);
    expect((await logOf(patient)).at(0)).to.equal(`Dr Lind link/${link.id} open-link not_found`);
  });

  it('break off while they are sent, if they are revoked meanwhile', async () => {
    const patient = await newRecord();
    for (const long of longObservations(patient)) await service.post('/Observation', long);
    const link = await share(service, EMAIL, patient, { content: 'everything', long_term: true });
    const { url } = payloadOf(link);
    const located = async () => {
      const { json } = await openLink(url, { recipient: 'Clinic', embeddedLengthMax: 0 });
      return String(json.files?.[0]?.location);
    };
    const whole = await readSlowly(await located(), {}, async () => undefined);
    expect([whole.complete, whole.text.split('.').length]).to.deep.equal([true, 5]);
    const cut = await readSlowly(await located(), {}, () => revoke(service, EMAIL, patient, link.id));
    expect(cut.complete).to.equal(false);
    // The authentication tag, which is the last part of a JWE, is missing.
    expect(cut.text.split('.').length).to.equal(4);
  });

  it('end with the person’s link to the record; those of another person stay', async () => {
    const patient = await newRecord();
    await events.append(patient, linkOf(service, 'ada@example.org', 'dependent'));
    await eventually(
      async () =>
        (await service.pool.query('select from consents.links where record = $1', [patient])).rowCount === 2,
    );
    const [own, theirs] = [
      await share(service, EMAIL, patient),
      await share(service, 'ada@example.org', patient),
    ];
    expect((await me(service, EMAIL, `/patients/${patient}/link`, 'DELETE')).status).to.equal(204);
    expect((await openLink(payloadOf(own).url)).status).to.equal(404);
    expect((await openLink(payloadOf(theirs).url)).status).to.equal(200);
    const { rows } = await service.pool.query('select from operations.shared_link where id = $1', [own.id]);
    expect(rows).to.have.length(0);
  });

  it('leave nothing behind when the record is purged', async () => {
    const patient = await newRecord();
    const link = await share(service, EMAIL, patient, { content: 'everything', passcode: 'orange' });
    const { url, key } = payloadOf(link);
    const { rows: before } = await service.pool.query<{ sealed_key: string }>(
      'select sealed_key from operations.shared_link where id = $1',
      [link.id],
    );
    expect(before[0]?.sealed_key).to.be.a('string').that.does.not.include(key);
    const purged = await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' });
    expect(purged.status, purged.text).to.equal(204);
    expect(await rowsOf(patient)).to.equal(0);
    expect((await openLink(url)).status).to.equal(404);
  });

  it('have no key, passcode or content in an event', async () => {
    const rows = (await wholeLog(events.store)).filter(({ type }) =>
      /^SharedLink(Created|Ended)$/.test(type),
    );
    expect(rows.length).to.be.at.least(10);
    const members = new Set(rows.flatMap(({ data }) => Object.keys(JSON.parse(data))));
    expect([...members].sort()).to.deep.equal(
      ['content', 'expires_at', 'label', 'link_id', 'long_term', 'passcode', 'person', 'reason'].sort(),
    );
    for (const { data } of rows) {
      const parsed = JSON.parse(data);
      // A log shared by tests also contains other services' links.
      const { issuer } = EVENTSTORE_URL === '' ? identityOf(service, EMAIL) : (parsed.person ?? {});
      if ('person' in parsed) expect(parsed.person).to.deep.include({ issuer });
      if ('passcode' in parsed) expect(parsed.passcode).to.be.a('boolean');
    }
  });

  it('are answered to scripts of any origin, and are not found by other ids', async () => {
    const link = await share(service, EMAIL, record);
    const { url } = payloadOf(link);
    const opened = await openLink(url, { recipient: 'App' }, { Origin: 'https://viewer.example' });
    expect(opened.headers.get('access-control-allow-origin')).to.equal('*');
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://viewer.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type',
      },
    });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('access-control-allow-headers')).to.include('Content-Type');
    for (const other of [
      `${service.url}/shl/shl_0123456789abcdefghijkl`,
      `${url.slice(0, -43)}${'A'.repeat(43)}`,
      `${service.url}/shl/${'x'.repeat(500)}`,
    ])
      expect((await openLink(other)).status, other).to.equal(404);
    expect((await openLink(url, {})).status).to.equal(422);
    expect((await openLink(url, { recipient: ' ' })).status).to.equal(422);
    const one = await openLink(url, { recipient: 'App' }, { 'Idempotency-Key': 'k-1' });
    const two = await openLink(url, { recipient: 'App' }, { 'Idempotency-Key': 'k-1' });
    expect(two.headers.get('idempotent-replayed')).to.equal(null);
    expect([one.status, two.status]).to.deep.equal([200, 200]);
  });

  it('end by themselves when their time is over', async () => {
    const patient = await newRecord();
    const soon = new Date(Date.now() + 1_500).toISOString();
    const link = await share(service, EMAIL, patient, { content: 'summary', expires_at: soon });
    const { url } = payloadOf(link);
    await eventually(async () => (await openLink(url)).status === 404);
    const { json } = await me(service, EMAIL, `/patients/${patient}/shl/${link.id}`);
    expect(json).to.deep.include({ status: 'expired', shlink: null });
  });

  it('are shown as a QR code, which leads to the page', async () => {
    const link = await share(service, EMAIL, record);
    const path = `/me/patients/${record}/shl/${link.id}/qr`;
    const token = await new DevIssuer(service.pool, devIssuerUrl(service.url)).idToken(findPerson(EMAIL));
    const image = async () => fetch(service.url + path, { headers: { Authorization: `Bearer ${token}` } });
    const shown = await image();
    expect(shown.headers.get('content-type')).to.equal('image/svg+xml');
    expect(await shown.text()).to.match(/^<svg .*<\/svg>\s*$/s);
    expect(link.viewer_url).to.equal(`${service.url}/shl/view#${link.shlink}`);
    await revoke(service, EMAIL, record, link.id);
    expect((await image()).status).to.equal(404);
  });

  it('are shown by a page whose policy names only exact origins', async () => {
    const query = [
      'https://a.example',
      'http://localhost:8080',
      'https://a.example;x',
      'https://a.example,b',
      'https://*.example',
      "https://a'none'.example",
      'http://b.example',
    ].map((from) => `from=${encodeURIComponent(from)}`);
    const page = await fetch(`${service.url}/shl/view?${query.join('&')}`);
    expect(page.status).to.equal(200);
    const [policy] = /connect-src [^;]*/.exec(page.headers.get('content-security-policy') ?? '') ?? [];
    expect(policy).to.equal("connect-src 'self' https://a.example http://localhost:8080");
  });

  it('are one link however often a retry asks', async () => {
    const patient = await newRecord();
    const token = await new DevIssuer(service.pool, devIssuerUrl(service.url)).idToken(findPerson(EMAIL));
    const ask = async () => {
      const response = await fetch(`${service.url}/me/patients/${patient}/shl`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          'Idempotency-Key': 'share-once',
        },
        body: JSON.stringify({ content: 'summary' }),
      });
      return { status: response.status, text: await response.text() };
    };
    const [one, two] = [await ask(), await ask()];
    expect(two).to.deep.equal(one);
    expect(one.status).to.equal(201);
    expect((await me(service, EMAIL, `/patients/${patient}/shl`)).json.total).to.equal(1);
  });
});
