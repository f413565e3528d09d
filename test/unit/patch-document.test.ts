/** PATCH bodies and Bundle entries in both formats, what no patch may change, and the narrative after a patch. */
import { expect } from 'chai';
import { settleNarrative } from '#src/fhir/narrative.ts';
import { applyPatch, JSON_PATCH, parsePatch, parsePatchEntry } from '#src/fhir/patch/patch.ts';
import { type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { without } from '#src/shared/json/json-value.ts';
import { refusal } from '#test/support/refusal.ts';

const resource: JsonObject = { resourceType: 'Patient', id: 'p', gender: 'male' };
const female = '[{"op":"replace","path":"/gender","value":"female"}]';
const parameters: JsonObject = {
  resourceType: 'Parameters',
  parameter: [
    {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'replace' },
        { name: 'path', valueString: 'Patient.gender' },
        { name: 'value', valueCode: 'female' },
      ],
    },
  ],
};
const binary = (text: string, contentType = JSON_PATCH): JsonObject => ({
  resourceType: 'Binary',
  contentType,
  data: Buffer.from(text).toString('base64'),
});

describe('PATCH documents', () => {
  it('reads JSON Patch by its media type, whatever its case and parameters', () => {
    const patch = parsePatch('Application/JSON-Patch+json; charset=utf-8', parseJson(female));
    expect(applyPatch(resource, patch)).to.deep.equal({ ...resource, gender: 'female' });
  });

  for (const type of ['application/fhir+json', 'application/json;charset=UTF-8']) {
    it(`reads Parameters as ${type}`, () => {
      const patch = parsePatch(type, { value: parameters, exact: false });
      expect(applyPatch(resource, patch)).to.deep.equal({ ...resource, gender: 'female' });
    });
  }

  it('refuses other media types with the list of those it takes (415)', () => {
    const given = refusal(() => parsePatch('application/xml-patch+xml', parseJson('{}')));
    expect(given.status).to.equal(415);
    expect(given.headers['Accept-Patch']).to.contain(JSON_PATCH);
  });

  it('tells who sends JSON Patch as FHIR JSON what to do (400)', () => {
    const given = refusal(() => parsePatch('application/fhir+json', parseJson(female)));
    expect(given.status).to.equal(400);
    expect(given.message).to.contain(JSON_PATCH);
  });

  it('says whether it holds numbers with literals', () => {
    const patch = parsePatch(JSON_PATCH, parseJson('[{"op":"add","path":"/x","value":1.50}]'));
    expect(patch.exact).to.equal(true);
    expect(printJson(applyPatch({ resourceType: 'Basic' }, patch))).to.equal(
      '{"resourceType":"Basic","x":1.50}',
    );
  });

  it('reads a Bundle entry of either kind', () => {
    expect(applyPatch(resource, parsePatchEntry(parameters, false)).gender).to.equal('female');
    expect(applyPatch(resource, parsePatchEntry(binary(female), false)).gender).to.equal('female');
    expect(parsePatchEntry(binary('[{"op":"add","path":"/x","value":1.50}]'), false).exact).to.equal(true);
  });

  const entries: readonly [name: string, entry: JsonObject][] = [
    ['another resource', resource],
    ['a Binary of another content type', binary(female, 'application/json')],
    ['a Binary without data', { resourceType: 'Binary', contentType: JSON_PATCH }],
    ['data that is not base64', { resourceType: 'Binary', contentType: JSON_PATCH, data: 'a-b' }],
    ['data that is not UTF-8', { resourceType: 'Binary', contentType: JSON_PATCH, data: '/////w==' }],
    ['data that is not JSON', binary('[{')],
    ['data with a key twice', binary('[{"op":"remove","op":"remove","path":"/gender"}]')],
  ];
  for (const [name, entry] of entries) {
    it(`refuses a Bundle entry with ${name} (400)`, () => {
      expect(refusal(() => parsePatchEntry(entry, false)).status).to.equal(400);
    });
  }

  const forbidden: readonly [patch: string, element: string][] = [
    ['[{"op":"replace","path":"/id","value":"q"}]', 'Patient.id'],
    ['[{"op":"remove","path":"/id"}]', 'Patient.id'],
    ['[{"op":"replace","path":"/resourceType","value":"Person"}]', 'Patient.resourceType'],
    ['[{"op":"replace","path":"","value":{"resourceType":"Patient"}}]', 'Patient.id'],
    ['[{"op":"replace","path":"","value":["x"]}]', 'Patient'],
  ];
  for (const [patch, element] of forbidden) {
    it(`may not change ${element}: ${patch} (422)`, () => {
      const given = refusal(() => applyPatch(resource, parsePatch(JSON_PATCH, parseJson(patch))));
      expect(given.status).to.equal(422);
      expect(given.issues[0]?.expression).to.equal(element);
    });
  }

  it('may not change the id by FHIRPath Patch either (422)', () => {
    const text = printJson(parameters)
      .replace('Patient.gender', 'Patient.id')
      .replace('valueCode":"female', 'valueId":"q');
    const given = refusal(() => applyPatch(resource, parsePatch('application/fhir+json', parseJson(text))));
    expect(given.issues[0]?.expression).to.equal('Patient.id');
  });
});

describe('the narrative after a change', () => {
  const text = (status: string): JsonObject => ({
    status,
    div: '<div xmlns="http://www.w3.org/1999/xhtml">male</div>',
  });
  const original = (status: string): JsonObject => ({
    ...resource,
    meta: { versionId: '1' },
    text: text(status),
  });

  it('drops a generated one when data changed', () => {
    const after = { ...original('generated'), gender: 'female' };
    expect(settleNarrative(original('generated'), after)).to.deep.equal({
      ...resource,
      meta: { versionId: '1' },
      gender: 'female',
    });
  });

  for (const status of ['additional', 'extensions']) {
    it(`refuses the change under an ${status} one (422)`, () => {
      const given = refusal(() =>
        settleNarrative(original(status), { ...original(status), gender: 'female' }),
      );
      expect(given.status).to.equal(422);
      expect(given.issues[0]?.expression).to.equal('Patient.text');
    });
  }

  it('keeps an empty one', () => {
    const after = { ...original('empty'), gender: 'female' };
    expect(settleNarrative(original('empty'), after)).to.equal(after);
  });

  for (const status of ['generated', 'additional']) {
    it(`keeps an ${status} one when only meta changed`, () => {
      const after = { ...original(status), meta: { versionId: '1', tag: [{ code: 't' }] } };
      expect(settleNarrative(original(status), after)).to.equal(after);
    });
  }

  it('keeps what the change set itself, or removed', () => {
    const set = {
      ...original('additional'),
      gender: 'female',
      text: { status: 'generated', div: '<div>female</div>' },
    };
    expect(settleNarrative(original('additional'), set)).to.equal(set);
    const removed = without({ ...original('additional'), gender: 'female' }, 'text');
    expect(settleNarrative(original('additional'), removed)).to.equal(removed);
  });

  it('takes another literal of the same number for no change', () => {
    const one = parseJson('{"resourceType":"Observation","valueQuantity":{"value":1.50}}')
      .value as JsonObject;
    const two = parseJson('{"resourceType":"Observation","valueQuantity":{"value":1.5}}').value as JsonObject;
    const after = { ...two, text: text('generated') };
    expect(settleNarrative({ ...one, text: text('generated') }, after)).to.equal(after);
  });
});
