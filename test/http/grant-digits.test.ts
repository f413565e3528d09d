/**
 * A patient's real id can't be guessed digit by digit. An application writes ids that it knows, the record contains the real
 * id, and no search, sort order or patch compares parts of the real id (docs/spec/decisions.md, section 1).
 */
import { expect } from 'chai';
import { parameters } from '#test/support/fhirpath-patch.ts';
import { GrantWriting } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';
import type { Answer } from '#test/support/service.ts';

describe('parts of the real id under a grant', () => {
  let on: GrantWriting;
  let allowed: Allowed;
  before(async () => {
    on = await GrantWriting.start();
    allowed = await on.allow(['patient/*.cruds']);
    for (const text of [allowed.patient, `seen ${allowed.patient.toUpperCase()} today`, 'other words']) {
      const sent = on.observation(allowed.patient, 'laboratory', { valueString: text });
      const made = await on.send(allowed, 'POST', '/Observation', sent);
      expect(made.status, made.text).to.equal(201);
    }
    const document = {
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: `Patient/${allowed.patient}` },
      masterIdentifier: { system: 'urn:x', value: allowed.patient },
      content: [{ attachment: { contentType: 'text/plain', url: `http://x.example/${allowed.patient}` } }],
    };
    const made = await on.send(allowed, 'POST', '/DocumentReference', document);
    expect(made.status, made.text).to.equal(201);
    await on.created({ resourceType: 'Location', name: `Home of ${on.record}`, alias: ['Hillside'] });
    // Part of the id can sound like the word "of".
    const name = [{ family: `Nurse ${on.record}` }];
    await on.created({ resourceType: 'Practitioner', name });
  });
  after(() => on?.stop());

  const total = async (path: string) => {
    const { status, json, text } = await on.ask(allowed, path);
    expect(status, text).to.equal(200);
    return json.total;
  };

  it('are stored with the real id, and shown with the known one', async () => {
    const { text } = await on.ask(allowed, '/Observation?value-string:contains=seen');
    expect(text.toLowerCase()).to.contain(`seen ${allowed.patient}`);
    const { text: own } = await on.service.fhir('/Observation?value-string:contains=seen');
    expect(own.toLowerCase()).to.contain(`seen ${on.record}`);
  });

  it('find nothing in strings and uris', async () => {
    const { record } = on;
    for (const part of [record.slice(0, 12), record.slice(0, 24), record.slice(0, 35)]) {
      expect(await total(`/Observation?value-string=${part}`), part).to.equal(0);
      expect(await total(`/Observation?value-string:contains=${part}`), part).to.equal(0);
      expect(await total(`/DocumentReference?location:below=http://x.example/${part}`), part).to.equal(0);
    }
    for (const part of [record.slice(1), record.slice(9, 30)])
      expect(await total(`/Observation?value-string:contains=${part}`), part).to.equal(0);
  });

  it('find nothing in the directory', async () => {
    const { record } = on;
    expect(await total('/Location?name=home of')).to.equal(1);
    expect(await total('/Location?name=hillside')).to.equal(1);
    expect((await on.ask(allowed, '/Location?name=home')).text).to.contain(`Home of ${allowed.patient}`);
    for (const part of [record.slice(0, 12), record.slice(0, 35), record.slice(20)]) {
      expect(await total(`/Location?name:contains=${part}`), part).to.equal(0);
      expect(await total(`/Location?name=home of ${part}`), part).to.equal(0);
      expect(await total(`/Practitioner?family:contains=${part}`), part).to.equal(0);
    }
    for (const word of record.split('-'))
      expect(await total(`/Practitioner?phonetic=${word}`), word).to.equal(0);
    expect(await total('/Practitioner?phonetic=nurse')).to.equal(1);
  });

  it('find a whole text, as the application knows it', async () => {
    const name = (id: string) => encodeURIComponent(`Home of ${id}`);
    expect(await total(`/Location?name:exact=${name(allowed.patient)}`)).to.equal(1);
    expect(await total(`/Location?name:exact=${name(on.record)}`)).to.equal(0);
    const below = (id: string) => total(`/DocumentReference?location:below=http://x.example/${id}`);
    expect(await below(allowed.patient)).to.equal(1);
    expect(await below(on.record)).to.equal(0);
  });

  it('don’t confirm a real id that an application wrote itself', async () => {
    const { record } = on;
    const others = record.replace(/[0-9a-f]{6}$/, (end) => (end === 'abcdef' ? 'fedcba' : 'abcdef'));
    for (const id of [record, others]) {
      const sent = on.observation(allowed.patient, 'laboratory', { valueString: `mark ${id}` });
      const made = await on.send(allowed, 'POST', '/Observation', sent);
      expect(made.json.valueString).to.equal(`mark ${id}`);
      const found = async (path: string) => total(`/Observation?_id=${made.json.id}&${path}`);
      expect(await found('value-string=mark'), id).to.equal(1);
      for (const part of [id.slice(0, 20), id.slice(0, 35), id])
        expect(await found(`value-string=mark ${part}`), id).to.equal(0);
      const path = `Observation.value.where($this.startsWith('mark ${id.slice(0, 30)}'))`;
      const change = parameters({ type: 'replace', path, value: { valueString: `mark ${id}` } });
      const patched = await on.send(allowed, 'PATCH', `/Observation/${made.json.id}`, change);
      expect(patched.status, patched.text).to.equal(200);
    }
  });

  describe('that is suspected', () => {
    /** Returns the real id, and another id created at the same moment. */
    const suspects = () => {
      const { record } = on;
      return [record, record.replace(/[0-9a-f]{6}$/, (end) => (end === 'abcdef' ? 'fedcba' : 'abcdef'))];
    };
    /** Percent-encodes the digit at the given index. */
    const encoded = (id: string, at = 0) =>
      `${id.slice(0, at)}%${id.charCodeAt(at).toString(16)}${id.slice(at + 1)}`;
    /** Checks that an application gets the same responses for both ids, and returns them. */
    async function alike(told: (id: string) => Promise<readonly Answer[]>): Promise<string> {
      const [real = '', other = ''] = await Promise.all(
        suspects().map(async (id) => {
          const answers = await told(id);
          return answers
            .map(({ status, text, headers }) => `${status} ${headers.get('content-disposition')} ${text}`)
            .join('\n')
            .replaceAll(id, 'ID')
            .replaceAll(id.slice(1), 'CUT')
            .replaceAll(id.slice(10), 'END')
            .replaceAll(/"(?:id|lastUpdated|created_at|updated_at|request_id)":"[^"]*"/g, '');
        }),
      );
      expect(real).to.equal(other);
      return real;
    }
    const condition = (reference: string, more: object = {}) => ({
      resourceType: 'Condition',
      subject: { reference },
      code: { text: 'x' },
      ...more,
    });
    const send = (method: string, path: string, body: object, headers = {}) =>
      on.send(allowed, method, path, body, headers);

    it('behaves like any other where it is percent-encoded', async () => {
      const known = `Patient/${allowed.patient}`;
      const made = await send('POST', '/Condition', condition(known));
      const id = String(made.json.id);
      for (const at of [0, 14, 35]) {
        const seen = await alike(async (suspect) => {
          const reference = `Patient/${encoded(suspect, at)}`;
          const extension = [{ url: `http://x.example/${encoded(suspect, at)}`, valueBoolean: true }];
          const change = [{ op: 'replace', path: '/subject/reference', value: reference }];
          const proposal = { operation: 'create', resource: condition(reference) };
          return [
            await send('POST', '/Condition/$validate', condition(reference)),
            await send('POST', '/Condition', condition(reference)),
            await send('POST', '/Condition', condition(known, { extension })),
            await send('PATCH', `/Condition/${id}`, change, {
              'Content-Type': 'application/json-patch+json',
            }),
            await send('POST', `${on.service.url}/v1/patients/${allowed.patient}/proposals`, proposal),
          ];
        });
        expect(seen).to.contain('http://x.example/ID');
      }
      const own = await send('POST', '/Condition', condition(`Patient/${encoded(allowed.patient)}`));
      expect([own.status, own.json.subject]).to.deep.equal([201, { reference: known }]);
    });

    it('isn’t found where the end of an encoded character is its first digit', async () => {
      const seen = await alike(async (suspect) => {
        const value = `@${suspect.slice(1)}`;
        const identifier = [{ system: 'urn:cut', value }];
        const made = await send(
          'POST',
          '/Observation',
          on.observation(allowed.patient, 'laboratory', { identifier }),
        );
        expect(made.json.identifier).to.deep.equal(identifier);
        const find = (text: string) => ({
          request: { method: 'GET', url: `Observation?_summary=count&identifier=${text}` },
        });
        const entry = [find(`%40${suspect.slice(1)}`), find(`%4${allowed.patient}`)];
        return [
          await on.ask(allowed, `/Observation?_summary=count&identifier=${encodeURIComponent(value)}`),
          await on.ask(allowed, `/Observation?_summary=count&value-string=${encodeURIComponent(value)}`),
          await send('POST', '/', { resourceType: 'Bundle', type: 'batch', entry }),
        ];
      });
      expect(seen).to.contain('"total":1').and.to.contain('"total":0');
    });

    it('isn’t put together in the names of files', async () => {
      const wide = (digit: string) => String.fromCharCode(0xfee0 + digit.charCodeAt(0));
      const titles = (id: string) => [
        `T ${id}`,
        `T ${id.slice(0, 10)}\u200b${id.slice(10)}`,
        `T ${allowed.patient} ${id.slice(0, 10)}\u200b${id.slice(10)}`,
        `T ${id.slice(0, 10).replace(/\d/g, wide)}${id.slice(10)}`,
        `T\u00a0${id.slice(1)}`,
        `T\u00a0${id.slice(1, 5)}\u200b${id.slice(5)}`,
      ];
      const seen = await alike(async (suspect) => {
        const answers: Answer[] = [];
        for (const title of titles(suspect)) {
          const content = [{ attachment: { contentType: 'text/plain', title, data: 'aGVsbG8=' } }];
          const subject = { reference: `Patient/${allowed.patient}` };
          const document = { resourceType: 'DocumentReference', status: 'current', subject, content };
          const made = await send('POST', '/DocumentReference', document);
          expect(made.status, made.text).to.equal(201);
          answers.push(
            await on.ask(allowed, `${on.service.url}/v1/documents/${String(made.json.id)}/content`),
          );
        }
        return answers;
      });
      expect(seen).to.contain('filename="T ID.txt"').and.to.contain('T 00000000-0000-0000-0000-000000000000');
    });
  });

  it('aren’t found by the order that references give', async () => {
    const { status, text } = await on.ask(allowed, '/Observation?_sort=has-member');
    expect(status, text).to.equal(400);
    expect(text).to.contain('has-member is a reference');
    expect((await on.ask(allowed, '/Observation?_sort=subject')).status).to.equal(200);
    expect((await on.service.fhir('/Observation?_sort=has-member')).status).to.equal(200);
  });

  it('aren’t found by the paths of a patch, alone or in a Bundle', async () => {
    const { record } = on;
    const { patient } = allowed;
    const id = await on.created(on.observation(record, 'laboratory', { note: [{ text: `of ${record}` }] }));
    const patchWith = (path: string) =>
      parameters({ type: 'replace', path, value: { valueString: `Patient/${patient}` } });
    /** Returns the status of the responses, which quote the path. */
    const replaced = async (path: string) => {
      const change = patchWith(path);
      const alone = await on.send(allowed, 'PATCH', `/Observation/${id}`, change);
      const entry = { resource: change, request: { method: 'PATCH', url: `Observation/${id}` } };
      const bundle = { resourceType: 'Bundle', type: 'batch', entry: [entry] };
      const { json, text } = await on.send(allowed, 'POST', '/', bundle);
      expect(text).to.contain(`"status":"${alone.status}`);
      if (!path.includes(record)) expect(alone.text + JSON.stringify(json)).not.to.contain(record);
      return alone.status;
    };
    const subject = (part: string) => `Observation.subject.where(reference.startsWith('${part}')).reference`;
    const note = (part: string) => `Observation.where(note.text.contains('${part}')).subject.reference`;
    for (const length of [3, 20, 36]) {
      expect(await replaced(subject(`Patient/${record.slice(0, length)}`)), `${length}`).to.equal(
        patient.startsWith(record.slice(0, length)) ? 200 : 422,
      );
      expect(await replaced(subject(`Patient/${patient.slice(0, length)}`)), `${length}`).to.equal(200);
      // Three digits may also occur in the id that the application knows.
      expect(await replaced(note(record.slice(-length))), `${length}`).to.equal(
        patient.includes(record.slice(-length)) ? 200 : 422,
      );
      expect(await replaced(note(patient.slice(-length))), `${length}`).to.equal(200);
    }
    const { text } = await on.service.fhir(`/Observation/${id}`);
    expect(text).to.contain(`Patient/${record}`).and.not.to.contain(patient);
  });

  it('change nothing in contexts: no warning, no order, no count of tokens, no id of the manifest', async () => {
    const { record } = on;
    const { patient } = allowed;
    const others = record.replace(/[0-9a-f]{6}$/, (end) => (end === 'abcdef' ? 'fedcba' : 'abcdef'));
    const subject = { reference: `Patient/${patient}` };
    const drug = {
      ...{ resourceType: 'MedicationStatement', status: 'active', subject },
      medicationCodeableConcept: { text: `Drug ${patient}`, coding: [{ system: 'urn:atc', code: patient }] },
    };
    expect((await on.send(allowed, 'POST', '/MedicationStatement', drug)).status).to.equal(201);
    const context = async (question: string) => {
      const body = JSON.stringify({ patient, budget_tokens: 50_000, format: 'text', question });
      const answer = await fetch(`${on.service.url}/v1/context`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${allowed.token}`, 'Content-Type': 'application/json' },
        body,
      });
      const text = await answer.text();
      expect(answer.status, text).to.equal(200);
      return text.replace(/"manifest_id":"[^"]+"/, '').replace(/[0-9-]{10}T[0-9:.]+Z/g, 'TIME');
    };
    const allergic = async (text: string, code: string) => {
      const clinical = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical';
      const clinicalStatus = { coding: [{ system: clinical, code: 'active' }] };
      const coding = [{ system: 'urn:atc', code }];
      const allergy = {
        resourceType: 'AllergyIntolerance',
        clinicalStatus,
        patient: subject,
        code: { text, coding },
      };
      const made = await on.send(allowed, 'POST', '/AllergyIntolerance', allergy);
      expect(made.status, made.text).to.equal(201);
      const told = await context('hello');
      await on.send(allowed, 'DELETE', `/AllergyIntolerance/${made.json.id}`);
      return told;
    };
    for (const length of [6, 12, 20, 35])
      expect(await allergic(record.slice(0, length), record.slice(0, 5)), `${length}`).not.to.contain(
        'there is an allergy',
      );
    expect(await allergic(`Drug`, 'x')).to.contain('there is an allergy');
    // Only the text is different.
    const [real, other] = [await allergic(`of ${record}`, 'x'), await allergic(`of ${others}`, 'x')];
    const same = (text: string) =>
      text.replace(/\/AllergyIntolerance\/[0-9a-f-]{36}|AllergyIntolerance\/[0-9a-f-]{36}/g, 'ALLERGY');
    expect(same(real)).to.equal(same(other));
    expect(await context(`${record}sthma`)).to.equal(await context(`${others}sthma`));
    expect(await context(`${patient}sthma`)).to.equal(
      await context('00000000-0000-0000-0000-000000000000sthma'),
    );
  });

  it('change nothing in the order of findings', async () => {
    const { patient } = allowed;
    const values = (code: string) =>
      Array.from({ length: 40 }, (_, n) => ({
        request: { method: 'POST', url: 'Observation' },
        resource: on.observation(patient, 'laboratory', {
          code: { coding: [{ system: 'urn:ord', code }] },
          effectiveDateTime: new Date(Date.UTC(2025, 0, 1 + 7 * n)).toISOString(),
          valueQuantity: { value: 10 + n, unit: 'kg' },
        }),
      }));
    const order = async (...codes: readonly string[]) => {
      for (const code of codes) {
        const bundle = { resourceType: 'Bundle', type: 'transaction', entry: values(code) };
        const made = await on.send(allowed, 'POST', '/', bundle);
        expect(made.status, made.text).to.equal(200);
      }
      const answer = await fetch(`${on.service.url}/v1/patients/${patient}/patterns`, {
        headers: { Authorization: `Bearer ${allowed.token}` },
      });
      const { data } = (await answer.json()) as { data: { codes: { code: string }[] }[] };
      const told = [...new Set(data.flatMap((each) => each.codes.map(({ code }) => code)))];
      return told.filter((code) => codes.includes(code));
    };
    const [before, after] = [patient.replace(/^../, '00'), patient.replace(/^../, 'fe')];
    // All of these ids sort as equal, so resources written first come first.
    const written = [after, patient, before];
    expect(await order(...written)).to.deep.equal(written);
  });

  it('aren’t asked for by a patch that leaves no trace', async () => {
    const id = await on.created(on.observation(on.record, 'laboratory', { note: [{ text: 'secret' }] }));
    const test = [{ op: 'test', path: '/note/0/text', value: 'secret' }];
    const headers = { Prefer: 'return=minimal', 'Content-Type': 'application/json-patch+json' };
    const alone = await on.send(allowed, 'PATCH', `/Observation/${id}`, test, headers);
    expect(alone.status, alone.text).to.equal(200);
    const read = [['patch', 'Observation', 'ok', 1]];
    expect(await on.logged(String(alone.headers.get('service-request-id')))).to.deep.equal(read);
    const path = `Observation.where(note.text.startsWith('s')).status`;
    const resource = parameters({ type: 'replace', path, value: { valueCode: 'final' } });
    const entry = [{ resource, request: { method: 'PATCH', url: `Observation/${id}` } }];
    const bundle = { resourceType: 'Bundle', type: 'batch', entry };
    const inBundle = await on.send(allowed, 'POST', '/', bundle, { Prefer: 'return=minimal' });
    expect(inBundle.text).to.contain('"status":"200');
    expect(await on.logged(String(inBundle.headers.get('service-request-id')))).to.deep.equal(read);
  });

  it('find nothing for the owner either, whose other words are found', async () => {
    const found = async (q: string) => (await on.service.fhir(`/Observation?${q}`)).json.total;
    expect(await found(`value-string=${on.record.slice(0, 30)}`)).to.equal(0);
    expect(await found('value-string=seen')).to.equal(1);
    expect(await found('value-string=other')).to.equal(1);
  });
});
