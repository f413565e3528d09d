/**
 * PATCH over HTTP, in both formats, alone and in Bundles, including everything that is refused.
 * https://hl7.org/fhir/R4/http.html#patch
 */
import { expect } from 'chai';
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { sample } from '../support/samples.ts';
import type { Answer } from '../support/service.ts';

const JSON_PATCH = 'application/json-patch+json';
const DIV = '<div xmlns="http://www.w3.org/1999/xhtml">text</div>';

function replacing(path: string, value: JsonObject): JsonObject {
  return {
    resourceType: 'Parameters',
    parameter: [
      {
        name: 'operation',
        part: [
          { name: 'type', valueCode: 'replace' },
          { name: 'path', valueString: path },
          { name: 'value', ...value },
        ],
      },
    ],
  };
}

describe('PATCH', () => {
  let service: InProcess;
  let patient: string;

  before(async () => {
    service = await startInProcess();
    patient = await created(sample('Patient'));
  });
  after(() => service.stop());

  async function created(resource: JsonObject): Promise<string> {
    const type = String(resource.resourceType);
    const answer = await service.fhir(`/${type}`, { method: 'POST', body: printJson(resource) });
    expect(answer.status, String(answer)).to.equal(201);
    return `${type}/${answer.json.id}`;
  }

  const observation = (text?: string): Promise<string> =>
    created({
      ...sample('Observation', { patient }),
      ...(text !== undefined && { text: { status: text, div: DIV } }),
    });

  const patch = (at: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    service.fhir(`/${at}`, { method: 'PATCH', headers, body: JSON.stringify(body) });
  const jsonPatch = (at: string, operations: object, headers = {}): Promise<Answer> =>
    patch(at, operations, { 'Content-Type': JSON_PATCH, ...headers });

  it('by JSON Patch makes the next version', async () => {
    const at = await observation();
    const answer = await jsonPatch(at, [{ op: 'replace', path: '/status', value: 'amended' }], {
      'If-Match': 'W/"1"',
    });
    expect(answer.status, String(answer)).to.equal(200);
    expect(answer.version).to.equal(2);
    expect(answer.json.status).to.equal('amended');
    expect((await service.fhir(`/${at}`)).text).to.equal(answer.text);
  });

  it('by FHIRPath Patch makes the next version, also when it changes the type of a choice', async () => {
    const at = await observation();
    const answer = await patch(
      at,
      replacing('Observation.effective', { valuePeriod: { start: '2024-01-01' } }),
    );
    expect(answer.status, String(answer)).to.equal(200);
    expect(answer.json).to.deep.include({ effectivePeriod: { start: '2024-01-01' } });
    expect(answer.json).not.to.have.property('effectiveDateTime');
  });

  it('drops a generated narrative, and leaves one that it sets', async () => {
    const at = await observation('generated');
    const dropped = await jsonPatch(at, [{ op: 'replace', path: '/status', value: 'amended' }]);
    expect(dropped.json).not.to.have.property('text');
    const set = await jsonPatch(at, [
      { op: 'replace', path: '/status', value: 'final' },
      { op: 'add', path: '/text', value: { status: 'additional', div: DIV } },
    ]);
    expect(set.json).to.deep.include({ text: { status: 'additional', div: DIV } });
  });

  const refused: readonly [name: string, operations: object, status: number, says: string][] = [
    ['a malformed document', [{ op: 'change' }], 400, 'operation 0'],
    ['a failing test', [{ op: 'test', path: '/status', value: 'amended' }], 422, 'operation 0 (test'],
    ['a path to nothing', [{ op: 'remove', path: '/valueString' }], 422, '"/valueString"'],
    ['a change of id', [{ op: 'replace', path: '/id', value: 'x' }], 422, 'Observation.id'],
    [
      'a change of type',
      [{ op: 'replace', path: '/resourceType', value: 'Patient' }],
      422,
      'Observation.resourceType',
    ],
    [
      'an outcome that is not valid',
      [{ op: 'replace', path: '/status', value: 'x' }],
      422,
      'Observation.status',
    ],
    ['an outcome without its patient', [{ op: 'remove', path: '/subject' }], 422, 'Observation.subject'],
    ['the prototype', [{ op: 'add', path: '/__proto__/x', value: 1 }], 422, "the path doesn't exist"],
  ];
  for (const [name, operations, status, says] of refused) {
    it(`refuses ${name} (${status}) and writes nothing`, async () => {
      const at = await observation();
      const answer = await jsonPatch(at, operations);
      expect(answer.status, String(answer)).to.equal(status);
      expect(answer.json.resourceType).to.equal('OperationOutcome');
      expect(answer.text.replaceAll('\\"', '"')).to.contain(says);
      expect((await service.fhir(`/${at}`)).version).to.equal(1);
    });
  }

  it('refuses to change data under a narrative that somebody wrote (422)', async () => {
    const at = await observation('additional');
    const answer = await jsonPatch(at, [{ op: 'replace', path: '/status', value: 'amended' }]);
    expect(answer.status, String(answer)).to.equal(422);
    expect(answer.text).to.contain('Observation.text');
  });

  it('by FHIRPath that changes nothing writes no version, whatever the order of members', async () => {
    const at = await observation();
    const before = await service.fhir(`/${at}`);
    const { code, status } = before.json;
    const same = [
      replacing('Observation.status', { valueCode: status ?? null }),
      replacing('Observation.code', { valueCodeableConcept: code ?? null }),
      { resourceType: 'Parameters' },
    ];
    for (const body of same) {
      const answer = await patch(at, body);
      expect(answer.status, String(answer)).to.equal(200);
      expect(answer.version).to.equal(1);
      expect(answer.text).to.equal(before.text);
    }
    const moved = await jsonPatch(at, [
      { op: 'remove', path: '/status' },
      { op: 'add', path: '/status', value: status },
    ]);
    expect(moved.version).to.equal(1);
  });

  it('of a decimal to another literal of the same value is a change', async () => {
    const at = await created({
      ...sample('Observation', { patient }),
      valueQuantity: { value: 1.5, unit: 'mg' },
    });
    const headers = { 'Content-Type': JSON_PATCH };
    const body = '[{"op":"replace","path":"/valueQuantity/value","value":1.50}]';
    const answer = await service.fhir(`/${at}`, { method: 'PATCH', headers, body });
    expect(answer.version, String(answer)).to.equal(2);
    expect(answer.text).to.contain('1.50');
  });

  it('with a stale If-Match is 412 before anything is said of its content; so is a PUT', async () => {
    const at = await observation();
    const stale = { 'If-Match': 'W/"7"' };
    const inapplicable = [{ op: 'remove', path: '/nowhere' }];
    const invalid = { resourceType: 'Observation', id: at.split('/')[1], status: 'x' };
    const answers = [
      await jsonPatch(at, inapplicable, stale),
      await patch(at, replacing('Observation.nowhere', { valueCode: 'x' }), stale),
      await service.fhir(`/${at}`, { method: 'PUT', headers: stale, body: JSON.stringify(invalid) }),
    ];
    for (const answer of answers) expect(answer.status, String(answer)).to.equal(412);
    const current = { 'If-Match': 'W/"1"' };
    expect((await jsonPatch(at, inapplicable, current)).status).to.equal(422);
    const put = await service.fhir(`/${at}`, {
      method: 'PUT',
      headers: current,
      body: JSON.stringify(invalid),
    });
    expect(put.status).to.equal(422);
  });

  it('refuses a stale If-Match (412), a deleted resource (410), an unknown one (404), other formats (415)', async () => {
    const at = await observation();
    const change = [{ op: 'replace', path: '/status', value: 'amended' }];
    await jsonPatch(at, change);
    expect((await jsonPatch(at, change, { 'If-Match': 'W/"1"' })).status).to.equal(412);
    expect((await patch(at, {}, { 'Content-Type': 'application/xml-patch+xml' })).status).to.equal(415);
    await service.fhir(`/${at}`, { method: 'DELETE' });
    expect((await jsonPatch(at, change)).status).to.equal(410);
    expect((await jsonPatch('Observation/01a1fc1f-c901-75f1-a60f-d3984af0e3db', change)).status).to.equal(
      404,
    );
  });

  it('works in a transaction, as Parameters and as a Binary with JSON Patch, or refuses it whole', async () => {
    const [first, second] = [await observation(), await observation()];
    const binary = (operations: object): JsonObject => ({
      resourceType: 'Binary',
      contentType: JSON_PATCH,
      data: Buffer.from(JSON.stringify(operations)).toString('base64'),
    });
    const transaction = (resource: JsonObject): Promise<Answer> =>
      service.fhir('/', {
        method: 'POST',
        body: JSON.stringify({
          resourceType: 'Bundle',
          type: 'transaction',
          entry: [
            {
              resource: replacing('Observation.status', { valueCode: 'amended' }),
              request: { method: 'PATCH', url: first },
            },
            { resource, request: { method: 'PATCH', url: second } },
          ],
        }),
      });
    const bad = await transaction(binary([{ op: 'test', path: '/status', value: 'amended' }]));
    expect(bad.status, String(bad)).to.equal(422);
    expect(bad.text).to.contain('Bundle.entry[1]');
    expect((await service.fhir(`/${first}`)).version).to.equal(1);
    const good = await transaction(binary([{ op: 'replace', path: '/status', value: 'corrected' }]));
    expect(good.status, String(good)).to.equal(200);
    expect((await service.fhir(`/${first}`)).json.status).to.equal('amended');
    expect((await service.fhir(`/${second}`)).json.status).to.equal('corrected');
  });

  it('finds its resource by criteria: one is patched, none is 404, several are 412', async () => {
    const marked = await created(sample('Observation', { patient }, { marker: 'one of its kind' }));
    const by = (marker: string): Promise<Answer> =>
      jsonPatch(`Observation?identifier=${encodeURIComponent(marker)}`, [
        { op: 'replace', path: '/status', value: 'amended' },
      ]);
    expect((await by('urn:annal:test|one of its kind')).json.id).to.equal(marked.split('/')[1]);
    expect((await by('urn:annal:test|no such')).status).to.equal(404);
    expect((await by('urn:annal:test|sample')).status).to.equal(412);
  });
});
