/** References to other records are left out of responses (docs/spec/decisions.md, section 1). */
import { expect } from 'chai';
import fc from 'fast-check';
import { foreignTypes, withoutForeignDocuments } from '#src/fhir/references/foreign.ts';
import { withoutReferences } from '#src/fhir/references/reference-edits.ts';
import { isObject, type Json } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';

const BASE = 'https://annal.example/fhir/R4/';
const RECORD = '01932f5e-7a3b-7c4d-8e5f-0a1b2c3d4e5f';

/** Removes the references whose text begins with `Other`. */
const edit = (text: string): string =>
  atOnce(withoutReferences(text, (reference) => (reference.startsWith('Other') ? 'Patient' : undefined)));

/** Does the same to a parsed value. */
function editedValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(editedValue);
  if (!isObject(value)) return value;
  const { reference } = value;
  const isOther = typeof reference === 'string' && reference.startsWith('Other');
  const kept = Object.entries(value).filter(([name]) => !(isOther && /^_?reference$/.test(name)));
  if (isOther && kept.length === 0) return { type: 'Patient' };
  return Object.fromEntries(kept.map(([name, member]) => [name, editedValue(member)]));
}

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.constantFrom('Other/1', 'Patient/1', '{"reference":"Other/1"}', 'a\\"b,}]', ''),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .array(
      fc.tuple(
        fc.constantFrom('reference', '_reference', 'display', 'type', 'identifier', 'a"b'),
        fc.oneof(tie('value'), fc.constantFrom('Other/1', 'Other/2', 'Patient/1')),
      ),
      { maxLength: 5 },
    )
    .map((members) => Object.fromEntries(members)),
}));

describe('references into other records', () => {
  it('are left out of a text as of the parsed value', () => {
    fc.assert(
      fc.property(json.value, (value) => {
        const text = JSON.stringify(value);
        expect(edit(text)).to.equal(JSON.stringify(editedValue(JSON.parse(text))));
      }),
      { numRuns: 500 },
    );
  });

  it('leave digits of numbers, other members and spaces as they are', () => {
    for (const [text, expected] of [
      ['{"a":1.50,"b":{"reference":"Other/1","display":"x"}}', '{"a":1.50,"b":{"display":"x"}}'],
      ['{"b":{"display":"x","reference":"Other/1"}}', '{"b":{"display":"x"}}'],
      ['{"b":{"type":"T","reference":"Other/1","display":"x"}}', '{"b":{"type":"T","display":"x"}}'],
      ['{"b":{"reference":"Other/1","_reference":{"id":"r"}}}', '{"b":{"type":"Patient"}}'],
      ['{ "b" : { "reference" : 1.50 } }', '{ "b" : { "reference" : 1.50 } }'],
      ['"\\"reference\\":\\"Other/1\\""', '"\\"reference\\":\\"Other/1\\""'],
    ])
      expect(edit(String(text)), text).to.equal(expected);
  });

  it('are left out of some entries of a Bundle, whatever is around them', () => {
    const entry = '{"resource":{"subject":{"reference":"Other/1"}}}';
    const without = '{"resource":{"subject":{"type":"Patient"}}}';
    expect(edit(`,${entry},${entry}`)).to.equal(`,${without},${without}`);
    expect(edit(`{"entry":[${entry}`)).to.equal(`{"entry":[${without}`);
    expect(edit(`,${entry}],"link":[]}`)).to.equal(`,${without}],"link":[]}`);
  });

  describe('are found', () => {
    let asked: string[][] = [];
    const near = '01932f5e-7a3b-7c4d-8e5f-000000000001';
    const far = '01932f5e-7a3b-7c4d-8e5f-000000000002';
    const find = (...references: string[]) => {
      asked = [];
      return foreignTypes(JSON.stringify(references.map((reference) => ({ reference }))), {
        record: RECORD,
        base: BASE,
        async within(_record, ids) {
          asked.push([...ids]);
          return new Set([near]);
        },
      });
    };

    it('without a look-up if all name the Patient, the directory, other servers or nothing', async () => {
      const found = await find(
        `Patient/${RECORD}`,
        `${BASE}Patient/${RECORD}`,
        `Patient/${RECORD}/_history/3`,
        `Practitioner/${far}`,
        'https://other.example/Patient/7',
        '#contained',
        'urn:uuid:1',
        'ServiceRequest/7',
        'no reference',
        'ü'.repeat(40),
      );
      expect([[...found], asked]).to.deep.equal([[], []]);
    });

    it('with one look-up for all of them', async () => {
      const found = await find(
        `Observation/${near}`,
        `Observation/${far}`,
        `${BASE}Condition/${far}/_history/2`,
        `Patient/${far}`,
        `Observation/${far}`,
      );
      expect(asked).to.deep.equal([[near, far]]);
      expect([...found]).to.have.deep.members([
        [`Observation/${far}`, 'Observation'],
        [`${BASE}Condition/${far}/_history/2`, 'Condition'],
        [`Patient/${far}`, 'Patient'],
      ]);
    });
  });

  it('leave the ids of other records’ documents out of Observations of REST v1, with one look-up', async () => {
    const [near, far] = ['01932f5e-7a3b-7c4d-8e5f-000000000001', '01932f5e-7a3b-7c4d-8e5f-000000000002'];
    const asked: string[][] = [];
    const shown = (text: string) =>
      withoutForeignDocuments(text, {
        record: RECORD,
        base: BASE,
        async within(_record, ids) {
          asked.push([...ids]);
          return new Set([near]);
        },
      });
    const note = JSON.stringify({ note: `"derived_from":["${far}"]` });
    const page = (...lists: string[][]) =>
      `[${lists.map((derived_from) => JSON.stringify({ value: 1.5, derived_from })).join()},${note}]`;
    expect(await shown(page([far, near], [far], []))).to.equal(page([near], [], []));
    expect(asked).to.deep.equal([[far, near]]);
    expect(await shown(page([]))).to.equal(page([]));
    expect(asked).to.have.length(1);
  });
});
