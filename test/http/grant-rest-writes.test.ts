/** Writes through REST v1 under a grant (docs/spec/decisions.md, sections 3, 4 and 9). */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { GrantWriting } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';
import { GLUCOSE, MESSAGE } from '#test/support/labs/importing.ts';
import { OBR, oru, PATIENT } from '#test/support/labs/parts.ts';
import { eventually } from '#test/support/process.ts';
import { dataOf, restOf, textAsRead } from '#test/support/rest.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';
import type { Answer } from '#test/support/service.ts';

const [LAB, VITAL] = ['laboratory', 'vital-signs'];
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const OBSERVATION = {
  ...{ code: '4548-4', category: LAB, effective_at: '2026-01-01T08:00:00Z', value: 7.1, unit: '%' },
};
const LETTER = { title: 'Letter', content_type: 'text/plain' };

describe('writes of REST v1 under a grant', () => {
  let on: GrantWriting;
  let whole: Allowed;

  const { v1, made, fhir } = restOf(() => on.service);

  before(async () => {
    on = await GrantWriting.start();
    whole = await on.allow(['patient/*.cruds']);
  });
  after(() => on?.stop());

  const send = (
    allowed: Allowed,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> => v1(method, path, body, headers, allowed.token);
  const upload = (allowed: Allowed, id: unknown, body: string, url = on.service.url): Promise<Answer> =>
    on.service.fhir(`${url}/v1/documents/${String(id)}/content`, {
      method: 'PUT',
      key: allowed.token,
      headers: { 'Content-Type': 'text/plain' },
      body,
    });
  const refusal = ({ status, text }: Answer, id: string) => [
    status,
    text.replaceAll(id, 'ID').replace(/req_[\w-]+/, 'REQUEST'),
  ];
  const isRefused = (answer: Answer, scope: string, what: string): void => {
    expect([answer.status, what], answer.text).to.deep.equal([403, what]);
    expect(answer.headers.get('www-authenticate'), what).to.contain(`scope="patient/${scope}"`);
  };
  const requestOf = (answer: Answer): string => answer.headers.get('service-request-id') ?? '';

  it('create items that owner and application read back equal, in the patient’s name', async () => {
    for (const [path, type, body] of [
      ['observations', 'Observation', { ...OBSERVATION, note: `seen by ${whole.patient}` }],
      ['conditions', 'Condition', { code: 'E11.9', onset: '2020-01-01' }],
      ['medications', 'MedicationStatement', { code: 'A10BA02', start: '2026-01-01' }],
    ] as const) {
      const answer = await send(whole, 'POST', `/patients/${whole.patient}/${path}`, body);
      expect(answer.status, answer.text).to.equal(201);
      const id = String(answer.json.id);
      expect(answer.json).to.include({ patient: whole.patient, author_type: 'patient' });
      expect(answer.headers.get('location')).to.equal(`${on.service.url}/v1/${path}/${id}`);
      const [own, seen] = [await v1('GET', `/${path}/${id}`), await send(whole, 'GET', `/${path}/${id}`)];
      const read = textAsRead(answer);
      expect([own.status, seen.text]).to.deep.equal([200, read]);
      expect(own.text).to.equal(read.replaceAll(whole.patient, on.record));
      expect(JSON.stringify(await fhir(type, id))).to.contain(`Patient/${on.record}`);
      const { credential, author } = await on.metadataOf(id);
      expect(credential).to.include({
        kind: 'grant',
        application: on.application.applicationId,
        grant_id: whole.data.grant_id,
        project: on.application.project,
      });
      expect(author).to.deep.include({ type: 'patient' });
      expect(await on.logged(requestOf(answer)), path).to.deep.equal([]);
    }
  });

  it('need the letter, before and after: types are 403, what is hidden is like an unknown id', async () => {
    const narrow = await on.allow([
      `patient/Observation.cd?category=${LAB}`,
      'patient/Condition.rs',
      'patient/MedicationStatement.cr',
    ]);
    const of = `/patients/${narrow.patient}`;
    const events = await on.events();
    const created = (path: string, body: object) => send(narrow, 'POST', `${of}/${path}`, body);
    isRefused(await created('conditions', { code: 'E11.9' }), 'Condition.c', 'conditions');
    isRefused(await created('documents', LETTER), 'DocumentReference.c', 'documents');
    isRefused(await send(narrow, 'PUT', of, { family: 'Else' }), 'Patient.u', 'patient');
    const outside = await created('observations', { ...OBSERVATION, category: VITAL });
    expect([outside.status, outside.text.includes(LAB)], outside.text).to.deep.equal([403, true]);
    expect(await on.events()).to.equal(events);
    const within = await created('observations', OBSERVATION);
    expect(within.status, within.text).to.equal(201);
    isRefused(
      await send(narrow, 'GET', `/observations/${String(within.json.id)}`),
      'Observation.r',
      'reading it',
    );
    const medication = await created('medications', { code: 'A10BA02' });
    isRefused(
      await send(narrow, 'DELETE', `/medications/${String(medication.json.id)}`),
      'MedicationStatement.d',
      'deleting it',
    );
    const vital = await made(`/patients/${on.record}/observations`, { ...OBSERVATION, category: VITAL });
    const unknown = refusal(await send(narrow, 'DELETE', `/observations/${UNKNOWN}`), UNKNOWN);
    expect(unknown[0]).to.equal(404);
    const hidden = String(vital.id);
    expect(refusal(await send(narrow, 'DELETE', `/observations/${hidden}`), hidden)).to.deep.equal(unknown);
    const seen = await on.allow([`patient/Observation.d?category=${LAB}`, 'patient/Observation.rs']);
    isRefused(await send(seen, 'DELETE', `/observations/${hidden}`), 'Observation.d', 'a vital sign');
    expect((await v1('GET', `/observations/${hidden}`)).status).to.equal(200);
    const gone = String(within.json.id);
    expect((await send(seen, 'DELETE', `/observations/${gone}`)).status).to.equal(204);
    expect((await v1('GET', `/observations/${gone}`)).status).to.equal(404);
  });

  it('go to the granted record alone, which no other id names', async () => {
    const { id: other } = await made('/patients', { family: 'Other' });
    const events = await on.events();
    for (const id of [on.record, String(other), UNKNOWN])
      for (const [path, body] of [
        ['observations', OBSERVATION],
        ['documents', LETTER],
        ['labs/import', { items: [OBSERVATION] }],
      ] as const) {
        const answer = await send(whole, 'POST', `/patients/${id}/${path}`, body);
        expect(answer.status, `${path} ${answer.text}`).to.equal(404);
      }
    expect((await send(whole, 'PUT', `/patients/${String(other)}`, { family: 'Else' })).status).to.equal(404);
    expect((await send(whole, 'POST', '/patients', { family: 'New' })).status).to.equal(403);
    expect(await on.events()).to.equal(events);
  });

  it('replace the demographics, and name who writes', async () => {
    const answer = await send(
      whole,
      'PUT',
      `/patients/${whole.patient}`,
      { family: 'Sand', given: 'Ada' },
      { 'X-Service-Author-Type': 'device', 'X-Service-Source-System': `App of ${whole.patient}` },
    );
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.json).to.include({
      id: whole.patient,
      given: 'Ada',
      author_type: 'device',
      source_system: `App of ${whole.patient}`,
    });
    expect((await v1('GET', `/patients/${on.record}`)).json).to.include({
      given: 'Ada',
      source_system: `App of ${on.record}`,
    });
    const claimed = await send(whole, 'POST', `/patients/${whole.patient}/observations`, {
      ...OBSERVATION,
      author_type: 'practitioner',
    });
    expect(claimed.status, claimed.text).to.equal(422);
    const differ = await send(
      whole,
      'POST',
      `/patients/${whole.patient}/observations`,
      { ...OBSERVATION, author_type: 'ai' },
      { 'X-Service-Author-Type': 'device' },
    );
    expect(differ.status).to.equal(422);
  });

  it('are done once under an Idempotency-Key, also with a refreshed token; another grant’s key is its own', async () => {
    const again = await on.allow(['patient/*.cruds']);
    const path = (allowed: Allowed) => `/patients/${allowed.patient}/observations`;
    const key = { 'Idempotency-Key': 'one-of-v1' };
    const first = await send(whole, 'POST', path(whole), OBSERVATION, key);
    const refreshed = { ...whole, token: await on.granting.tokenOf(whole) };
    const replayed = await send(refreshed, 'POST', path(whole), OBSERVATION, key);
    expect(first.status, first.text).to.equal(201);
    expect([replayed.status, replayed.text]).to.deep.equal([201, first.text]);
    expect(replayed.headers.get('idempotent-replayed')).to.equal('true');
    const other = await send(again, 'POST', path(again), OBSERVATION, key);
    expect(other.status).to.equal(201);
    expect(other.json.id).not.to.equal(first.json.id);
  });

  describe('of documents', () => {
    const create = async (allowed: Allowed, body: object = LETTER): Promise<JsonObject> => {
      const answer = await send(allowed, 'POST', `/patients/${allowed.patient}/documents`, body);
      expect(answer.status, answer.text).to.equal(201);
      return answer.json;
    };

    it('create them, send their content to the service with the token, and finalize them', async () => {
      const created = await create(whole);
      const { upload: target } = created;
      if (!isObject(target)) throw new TypeError('no upload');
      expect(created).to.include({ status: 'pending', patient: whole.patient, download_url: null });
      expect(target).to.deep.include({
        url: `${on.service.url}/v1/documents/${String(created.id)}/content`,
        method: 'PUT',
        headers: { 'Content-Type': 'text/plain' },
      });
      const text = `Dear Patient/${whole.patient}, not Patient/${on.record}`;
      const put = await upload(whole, created.id, text);
      expect(put.status, put.text).to.equal(200);
      expect(put.json).to.include({ status: 'final', size: text.length, author_type: 'patient' });
      const content = `/documents/${String(created.id)}/content`;
      // The document's bytes aren't changed.
      expect((await send(whole, 'GET', content)).text).to.equal(text);
      expect((await v1('GET', content)).text).to.equal(text);
      const sent = { size: text.length, sha256: put.json.sha256 };
      const final = await send(whole, 'POST', `/documents/${String(created.id)}/finalize`, sent);
      expect([final.status, final.text]).to.deep.equal([200, put.text]);
      expect((await upload(whole, created.id, 'Again')).status).to.equal(409);
      expect((await on.metadataOf(String(created.id))).credential).to.include({ kind: 'grant' });
    });

    it('only send content of what the application created, though it may not read it', async () => {
      const writing = await on.allow(['patient/DocumentReference.c']);
      const reading = await on.allow(['patient/DocumentReference.crs']);
      const created = await create(writing);
      isRefused(
        await send(writing, 'GET', `/documents/${String(created.id)}`),
        'DocumentReference.r',
        'reading it',
      );
      const put = await upload(writing, created.id, 'Dear all');
      expect([put.status, put.text]).to.deep.equal([204, '']);
      expect((await v1('GET', `/documents/${String(created.id)}`)).json.status).to.equal('final');
      const id = String(created.id);
      const compared = await send(writing, 'POST', `/documents/${id}/finalize`, { size: 8 });
      expect(compared.status, compared.text).to.equal(403);
      const { id: own } = await made(`/patients/${on.record}/documents`, LETTER);
      const unknown = refusal(await upload(writing, UNKNOWN, 'Dear all'), UNKNOWN);
      expect(unknown[0]).to.equal(404);
      expect(refusal(await upload(writing, own, 'Dear all'), String(own))).to.deep.equal(unknown);
      const others = await upload(reading, own, 'Dear all');
      expect(others.status, others.text).to.equal(403);
      expect(others.text).to.contain('created by others');
      expect((await v1('GET', `/documents/${String(own)}`)).json.status).to.equal('pending');
      isRefused(
        await upload(await on.allow(['patient/DocumentReference.rs']), created.id, 'x'),
        'DocumentReference.c',
        'without c',
      );
    });

    it('end with the grant, on two instances, also for an upload that has begun', async () => {
      const second: SecondInstance = await startSecondInstance(on.service);
      try {
        for (const url of [on.service.url, second.url]) {
          const allowed = await on.allow(['patient/*.cruds']);
          const { id } = await create(allowed);
          const begun = httpRequest(`${url}/v1/documents/${String(id)}/content`, {
            method: 'PUT',
            headers: { Authorization: `Bearer ${allowed.token}`, 'Content-Type': 'text/plain' },
          });
          const answered = new Promise<IncomingMessage>((resolve, reject) => {
            begun.on('response', resolve).on('error', reject);
          });
          begun.write('Dear ');
          // The service has accepted the request and is still reading its body.
          await eventually(async () => (await upload(allowed, id, '')).status === 400);
          await on.granting.revoke(allowed);
          const events = await on.events();
          begun.end('all');
          const answer = await answered;
          answer.resume();
          expect([answer.statusCode, url]).to.deep.equal([401, url]);
          expect(await on.events()).to.equal(events);
          expect((await v1('GET', `/documents/${String(id)}`)).json.status).to.equal('pending');
          expect((await v1('GET', `/documents/${String(id)}/content`)).status).to.equal(404);
          expect((await upload(allowed, id, 'Dear all', second.url)).status).to.equal(401);
        }
      } finally {
        await second.close();
      }
    });
  });

  describe('of laboratory reports', () => {
    let record: string;
    const importing = (allowed: Allowed, body: object | string, type = 'application/json'): Promise<Answer> =>
      on.service.fhir(`${on.service.url}/v1/patients/${allowed.patient}/labs/import`, {
        method: 'POST',
        key: allowed.token,
        headers: { 'Content-Type': type },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    const HL7 = 'x-application/hl7-v2+er7';
    const told = ({ status, text, json }: Answer) => {
      expect(status, text).to.equal(200);
      const { observations, created, skipped } = json;
      return { created, skipped, shown: Array.isArray(observations) ? observations.length : undefined };
    };

    beforeEach(async () => {
      record = await on.created(PATIENT);
    });

    it('import a report once, and change its results later', async () => {
      const allowed = await on.allow(['patient/*.cruds'], record);
      const first = await importing(allowed, MESSAGE, HL7);
      expect(told(first)).to.deep.equal({ created: 2, skipped: 0, shown: 2 });
      expect(first.text).to.contain(allowed.patient).and.not.to.contain(record);
      expect(told(await importing(allowed, MESSAGE, HL7))).to.deep.equal({
        created: 0,
        skipped: 2,
        shown: 2,
      });
      const corrected = MESSAGE.replace('5.60', '5.80').replace('|||F\r', '|||C\r');
      expect((await importing(allowed, corrected, HL7)).text).to.contain('5.80');
      const listed = dataOf(await v1('GET', `/patients/${record}/observations`));
      expect(listed.map(({ author_type, version }) => [author_type, version])).to.deep.include([
        'patient',
        2,
      ]);
    });

    it('need c for each resource that they make, and u to change one', async () => {
      const observing = await on.allow(['patient/Observation.crs'], record);
      const reading = await on.allow(['patient/Observation.rs'], record);
      const events = await on.events();
      const refused = await importing(observing, MESSAGE, HL7);
      expect(refused.status, refused.text).to.equal(403);
      expect(refused.headers.get('www-authenticate')).to.match(
        /scope="patient\/(DiagnosticReport|Specimen)\.c"/,
      );
      isRefused(await importing(reading, MESSAGE, HL7), 'Observation.c', 'the results');
      expect(await on.events()).to.equal(events);
      const making = await on.allow(['patient/*.crs'], record);
      expect(told(await importing(making, MESSAGE, HL7)).created).to.equal(2);
      const corrected = MESSAGE.replace('5.60', '5.80').replace('|||F\r', '|||C\r');
      const changed = await importing(making, corrected, HL7);
      expect([changed.status, changed.headers.get('www-authenticate')?.includes('.u"')]).to.deep.equal([
        403,
        true,
      ]);
    });

    it('tell nothing of results that the grant doesn’t cover', async () => {
      const sent = oru(OBR, GLUCOSE);
      const own = await on.service.fhir(`${on.service.url}/v1/patients/${record}/labs/import`, {
        method: 'POST',
        headers: { 'Content-Type': HL7 },
        body: sent,
      });
      expect(own.status, own.text).to.equal(200);
      const blind = await on.allow(['patient/*.c'], record);
      expect(told(await importing(blind, sent, HL7))).to.deep.equal({ created: 1, skipped: 0, shown: 0 });
      const seeing = await on.allow(['patient/*.crs'], record);
      expect(told(await importing(seeing, sent, HL7)).skipped).to.equal(1);
    });

    it('exchange ids however they are written: in escapes, tables and JSON', async () => {
      const allowed = await on.allow(['patient/*.cruds'], record);
      const hex = (id: string) => `\\X${Buffer.from(id).toString('hex')}\\`;
      const note = (text: string) => oru(OBR, `OBX|1|ST|8251-1^Note^LN||${text}||||||F`);
      const items = (text: string) => ({
        items: [{ code: '8251-1', value_text: text, effective_at: '2026-01-01T08:00:00Z' }],
      });
      const csv = (text: string) =>
        `code,value,effective_at\n8251-1,"about ""${text}""",2026-01-01T08:00:00Z\n`;
      for (const [name, body, type] of [
        ['hl7', note, HL7],
        ['hl7 escaped', (id: string) => note(hex(id)), HL7],
        ['message', (id: string) => ({ message: note(id) }), 'application/json'],
        ['message escaped', (id: string) => ({ message: note(hex(id)) }), 'application/json'],
        ['items', items, 'application/json'],
        ['csv', csv, 'text/csv'],
      ] as const) {
        const stored = async (id: string): Promise<string> => {
          const answer = await importing(allowed, body(id), type);
          expect(answer.status, `${name} ${answer.text}`).to.equal(200);
          // The application receives what it sent.
          expect(answer.text, name).to.contain(id);
          const [first] = Array.isArray(answer.json.observations) ? answer.json.observations : [];
          const [shown] = [isObject(first) ? String(first.id) : ''];
          return JSON.stringify((await v1('GET', `/observations/${shown}`)).json.value_text);
        };
        expect(await stored(allowed.patient), name).to.contain(record);
        const hidden = await stored(record);
        expect(hidden, name).not.to.contain(record);
        expect(hidden, name).not.to.contain(allowed.patient);
      }
    });
  });
});
