/**
 * Content stored before validation became stricter can still be read, deleted and patched; new content is validated in full.
 */
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { type OlderLog, olderLog } from '#test/support/older-log.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import type { Answer } from '#test/support/service.ts';

const JSON_PATCH = { 'Content-Type': 'application/json-patch+json' };
describe('resources that were stored before validation was tightened', () => {
  let log: OlderLog;
  let service: InProcess;
  /** Returns the text of a resource in the log as it appeared in the response: the text in its event. */
  const storedText = (id: string): string => {
    const event = log.events.find(({ data }) =>
      data.includes(`"resource_id":"${id}","version":1,"resource":`),
    );
    if (event === undefined) throw new Error(`the log has no ${id}`);
    return event.data.slice(event.data.indexOf('{', 1), -1);
  };
  const at = (name: string): string => `/${log.ids[name]}`;
  const idOf = (name: string): string => at(name).split('/')[2] ?? '';
  const patch = (name: string, ...operations: JsonObject[]): Promise<Answer> =>
    service.fhir(at(name), { method: 'PATCH', body: JSON.stringify(operations), headers: JSON_PATCH });
  const put = (name: string, body: object): Promise<Answer> =>
    service.fhir(at(name), { method: 'PUT', body: JSON.stringify(body) });
  const faultsOf = (answer: Answer): string[] => {
    const { issue } = answer.json;
    if (answer.status !== 422 || !Array.isArray(issue)) throw new Error(`not refused: ${answer}`);
    return issue.map((one) => (isObject(one) ? `${one.code} ${one.expression}` : ''));
  };

  before(async function () {
    if (EVENTSTORE_URL !== '') this.skip();
    log = await olderLog();
    service = await startInProcess({}, {}, log);
  });
  after(() => service?.stop());

  it('are read as they were written, alone, in searches, in histories and with the whole record', async () => {
    for (const [name, path] of Object.entries(log.ids)) {
      const text = storedText(idOf(name));
      expect((await service.fhir(`/${path}/_history/1`)).text, name).to.equal(text);
      if (name === 'deleted') continue;
      expect((await service.fhir(`/${path}`)).text, name).to.equal(text);
      const found = await service.fhir(`/${path.split('/')[0]}?_id=${idOf(name)}`);
      expect(found.text, name).to.contain(text);
    }
    const everything = await service.fhir(`${at('patient')}/$everything`);
    for (const name of ['patient', 'empty narrative', 'contained', 'document'])
      expect(everything.text, name).to.contain(storedText(idOf(name)));
  });

  it('are refused as new content, with each of their faults', async () => {
    const faults: Record<string, string[]> = {};
    for (const name of Object.keys(log.ids)) {
      if (['contained', 'deleted', 'many faults'].includes(name)) continue;
      faults[name] = faultsOf(await put(name, JSON.parse(storedText(idOf(name)))));
    }
    expect(faults).to.deep.equal({
      patient: [
        'value Patient.text.div',
        'value Patient.extension[0].url',
        'extension Patient.name[0].family.extension[0].value',
      ],
      'empty narrative': ['value Condition.text.div', 'code-invalid Condition.verificationStatus'],
      'status without a code': ['code-invalid Observation.status'],
      excerpt: ['business-rule Observation.meta.tag[0]'],
      document: ['value DocumentReference.extension[0].url'],
      directory: ['value Practitioner.extension[0].url', 'code-invalid Practitioner.gender'],
    });
  });

  it('take patches of other elements', async () => {
    const patched: [string, JsonObject][] = [
      ['empty narrative', { op: 'replace', path: '/code/text', value: 'Asthma, mild' }],
      ['status without a code', { op: 'replace', path: '/valueQuantity/value', value: 62 }],
      ['excerpt', { op: 'add', path: '/valueString', value: 'tall' }],
      ['contained', { op: 'replace', path: '/contained/0/form/text', value: 'capsule' }],
      ['directory', { op: 'replace', path: '/name/0/family', value: 'Careful-Old' }],
    ];
    for (const [name, operation] of patched) {
      const answer = await patch(name, operation);
      expect(answer, `${name}: ${answer}`).to.include({ status: 200, version: 2 });
    }
  });

  it('take patches that change the places of faults', async () => {
    const extension = { url: 'http://example.org/e', valueString: 'new' };
    const added = await patch('patient', { op: 'add', path: '/extension/0', value: extension });
    expect(added, String(added)).to.include({ status: 200, version: 2 });
    expect(added.json).to.have.nested.property('extension[1].url', 'ward');
    const operation = [
      { name: 'type', valueCode: 'replace' },
      { name: 'path', valueString: 'Patient.gender' },
      { name: 'value', valueCode: 'other' },
    ];
    const body = { resourceType: 'Parameters', parameter: [{ name: 'operation', part: operation }] };
    const replaced = await service.fhir(at('patient'), { method: 'PATCH', body: JSON.stringify(body) });
    expect(replaced, String(replaced)).to.include({ status: 200, version: 3 });
  });

  it('take no patch with a new fault, and name that one only', async () => {
    const extension = { url: 'bed', valueString: 'four' };
    expect(
      faultsOf(await patch('patient', { op: 'add', path: '/extension/0', value: extension })),
    ).to.deep.equal(['value Patient.extension[0].url']);
    const other = { op: 'replace', path: '/extension/1/url', value: 'house' };
    expect(faultsOf(await patch('patient', other))).to.deep.equal(['value Patient.extension[1].url']);
    const integer = { op: 'replace', path: '/name/0/_family/extension/0/valueInteger', value: 2 };
    expect(faultsOf(await patch('patient', integer))).to.deep.equal([
      'extension Patient.name[0].family.extension[0].value',
    ]);
  });

  it('take patches that mend them', async () => {
    const mended = await patch(
      'patient',
      { op: 'replace', path: '/extension/1/url', value: 'http://example.org/ward' },
      { op: 'remove', path: '/name/0/_family' },
    );
    expect(mended, String(mended)).to.include({ status: 200, version: 4 });
    expect((await put('patient', mended.json)).status).to.equal(200);
  });

  it('take patches that mend some of more faults than are listed, and none that adds one', async () => {
    expect(faultsOf(await put('many faults', JSON.parse(storedText(idOf('many faults')))))).to.have.length(
      101,
    );
    const mend = { op: 'remove', path: '/telecom/2/extension' };
    expect(await patch('many faults', mend)).to.include({ status: 200, version: 2 });
    const add = { op: 'add', path: '/telecom/2/extension', value: [{ url: 'bed', valueString: 'four' }] };
    expect(faultsOf(await patch('many faults', add))).to.deep.equal([
      'value Patient.telecom[2].extension[0].url',
    ]);
  });

  it('lose nulls that say nothing with the next version', async () => {
    expect(storedText(idOf('patient'))).to.contain('"_given":[null]');
    expect((await service.fhir(at('patient'))).text).to.not.contain('_given');
  });

  it('take writes of REST v1: new demographics, the content of a document', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const demographics = JSON.stringify({ given: 'Anna', family: 'van Old', gender: 'female' });
    const patient = `${service.url}/v1/patients/${idOf('patient')}`;
    const replaced = await service.fhir(patient, { method: 'PUT', body: demographics, headers });
    expect(replaced.status, String(replaced)).to.equal(200);
    const content = `${service.url}/v1/documents/${idOf('document')}/content`;
    const uploaded = await service.fhir(content, {
      method: 'PUT',
      body: 'Dear Ann',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect(uploaded.status, String(uploaded)).to.equal(200);
  });

  it('are deleted', async () => {
    for (const name of ['empty narrative', 'status without a code', 'excerpt', 'contained', 'directory'])
      expect((await service.fhir(at(name), { method: 'DELETE' })).status, name).to.equal(204);
  });

  it('come back by a PUT that repeats the last version, and by no other with their faults', async () => {
    for (const name of ['empty narrative', 'status without a code', 'excerpt', 'directory']) {
      const history = await service.fhir(`${at(name)}/_history/2`);
      const last: JsonObject = (
        history.status === 200 ? history : await service.fhir(`${at(name)}/_history/1`)
      ).json;
      expect((await put(name, { ...last, language: 'en' })).status, name).to.equal(422);
      const restored = await put(name, last);
      expect(restored.status, `${name}: ${restored}`).to.equal(201);
      expect((await put(name, last)).status, name).to.equal(422);
    }
  });
});
