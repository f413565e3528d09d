/** Bodies designed to cost far more than their size. These bodies once took seconds, or overflowed the stack by recursion. */
import { expect } from 'chai';
import { LosslessNumber } from 'lossless-json';
import { applyPatch, JSON_PATCH, parsePatch, parsePatchEntry } from '#src/fhir/patch/patch.ts';
import { type Json, type JsonObject, MAX_DEPTH, parseJson, printJson } from '#src/shared/json/json.ts';
import { isDeeper, sameJson } from '#src/shared/json/json-equal.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { refusal } from '#test/support/refusal.ts';

const MANY = 200_000;

function said(given: Refusal): string {
  return given.issues.map((issue) => issue.diagnostics).join('\n');
}

function parameters(...operations: readonly (readonly JsonObject[])[]): JsonObject {
  return {
    resourceType: 'Parameters',
    parameter: operations.map((part): JsonObject => ({ name: 'operation', part: [...part] })),
  };
}

function fhirPath(resource: JsonObject, ...operations: readonly (readonly JsonObject[])[]): JsonObject {
  return applyPatch(
    resource,
    parsePatch('application/fhir+json', { value: parameters(...operations), exact: false }),
  );
}

function jsonPatch(resource: JsonObject, operations: Json): JsonObject {
  return applyPatch(resource, parsePatch(JSON_PATCH, { value: operations, exact: false }));
}

const deletion = (path: string): JsonObject[] => [
  { name: 'type', valueCode: 'delete' },
  { name: 'path', valueString: path },
];

/** Returns nested objects, with `levels` levels. */
function nest(levels: number): JsonObject {
  let value: JsonObject = { end: true };
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

describe('Hostile input', function () {
  // Without the limits, this input would take minutes.
  this.timeout(60_000);

  const patient: JsonObject = { resourceType: 'Patient', id: 'p' };

  describe('a path of a FHIRPath Patch', () => {
    it('of many quotes is refused by its length before anything else reads it', () => {
      const given = refusal(() => fhirPath(patient, deletion(`'${"\\'".repeat(MANY)}`)));
      expect(given.status).to.equal(400);
      expect(said(given)).to.contain('is longer than 1000 characters');
    });

    it('cannot walk the resource once for each of its elements', () => {
      const before = { ...patient, name: [{ given: Array.from({ length: 2_000 }, (_, n) => `g${n}`) }] };
      const path =
        'Patient.name.given.where(%resource.name.given.where(%resource.name.given.count() = 3).exists())';
      const given = refusal(() => fhirPath(before, deletion(path)));
      expect(given.status).to.equal(400);
      expect(said(given)).to.match(/nests criteria|uses a variable/);
      expect(
        said(refusal(() => fhirPath(before, deletion('name.given.where(%resource.id = $this)')))),
      ).to.contain('uses a variable');
    });
  });

  it('a Binary of blanks is refused as base64', () => {
    const resource = { resourceType: 'Binary', contentType: JSON_PATCH, data: `${' '.repeat(MANY)}!` };
    const given = refusal(() => parsePatchEntry(resource, false));
    expect(given.status).to.equal(400);
    expect(said(given)).to.contain('in base64');
  });

  it('a Binary may hold its base64 in lines', () => {
    const text = Buffer.from('[{"op":"test","path":"/id","value":"p"}]').toString('base64');
    const data = `${text.replace(/.{8}/g, '$& \r\n')}\n`;
    const patch = parsePatchEntry({ resourceType: 'Binary', contentType: JSON_PATCH, data }, false);
    expect(applyPatch(patient, patch)).to.deep.equal(patient);
  });

  describe('a number', () => {
    const numbers: readonly [name: string, literal: string, says: RegExp][] = [
      ['of many digits', `1${'0'.repeat(MANY)}1`, /number at line 2, column 5 has 200002 characters/],
      ['of 1,001 characters', `0.${'1'.repeat(999)}`, /has 1001 characters/],
      ['with an exponent of many digits', `1e${'9'.repeat(MANY)}`, /has 200002 characters/],
      ['with an exponent of 7 digits', '1e1000000', /exponent of more than 6 digits/],
      ['with a signed exponent of 7 digits', '-2.50E-0000001', /exponent of more than 6 digits/],
    ];
    for (const [name, literal, says] of numbers) {
      it(`${name} is refused`, () => {
        const given = refusal(() => parseJson(`{\n"a":${literal}}`));
        expect(given.status).to.equal(400);
        expect(said(given)).to.match(says);
      });
    }

    it('of 1,000 characters, or with an exponent of 6 digits, keeps its literal', () => {
      for (const literal of [`0.${'1'.repeat(998)}`, '1e999999', '-1.50E-999999']) {
        expect(printJson(parseJson(`[${literal}]`).value)).to.equal(`[${literal}]`);
      }
    });

    it('is compared by its value, zeros inside and at the end', () => {
      const number = (literal: string): Json => parseJson(literal).value;
      expect(sameJson(number(`1${'0'.repeat(990)}1.0`), number(`1${'0'.repeat(990)}1`))).to.equal(true);
      const long = (end: string): Json => new LosslessNumber(`1${'0'.repeat(MANY)}${end}`);
      expect(sameJson(long('1'), long('1.0'))).to.equal(true);
      expect(sameJson(number('1.500e3'), number('150000e-2'))).to.equal(true);
      expect(sameJson(number('0.00'), number('-0.0e5'))).to.equal(true);
      expect(sameJson(number('100.0'), number('10.0'))).to.equal(false);
    });
  });

  describe('a JSON Patch', () => {
    const wrap: readonly Json[] = [
      { op: 'add', path: '/b', value: { a: 1 } },
      { op: 'move', from: '/a', path: '/b/a' },
      { op: 'move', from: '/b', path: '/a' },
    ];
    const wraps = (times: number): Json[] => Array.from({ length: times }, () => [...wrap]).flat();
    const before: JsonObject = { ...patient, a: { end: true } };

    it('may nest as deep as a body may be, and what it leaves can be read again', () => {
      const patched = jsonPatch(before, wraps(MAX_DEPTH - 2));
      expect(isDeeper(patched, MAX_DEPTH - 1)).to.equal(true);
      expect(parseJson(printJson(patched)).value).to.deep.equal(patched);
    });

    for (const times of [MAX_DEPTH - 1, 3_332]) {
      it(`that wraps a member ${times} times is refused`, () => {
        const given = refusal(() => jsonPatch(before, wraps(times)));
        expect(given.status).to.equal(422);
        expect(said(given)).to.contain('nested more than 100 levels deep');
      });
    }

    it('cannot copy what moves have made too deep', () => {
      const copy: Json = { op: 'copy', from: '/a', path: '/c' };
      const given = refusal(() => jsonPatch(before, [...wraps(3_332), copy]));
      expect(given.status).to.equal(422);
      expect(said(given)).to.match(/operation 9996 \(copy "\/c"\): .*nested more than 100/);
    });

    it('may make deep what it makes flat again', () => {
      const removed: Json = { op: 'remove', path: '/a' };
      expect(jsonPatch(before, [...wraps(3_332), removed])).to.deep.equal(patient);
    });

    it('that adds deep values one in another is refused at the one that is too deep', () => {
      const add = (path: string): Json => ({ op: 'add', path, value: nest(60) });
      const given = refusal(() => jsonPatch(patient, [add('/a'), add(`${'/a'.repeat(60)}/b`)]));
      expect(given.status).to.equal(422);
      expect(said(given)).to.match(/operation 1 .*nested more than 100/);
    });
  });

  it('a FHIRPath Patch that adds extensions one in another is refused at the one that is too deep', () => {
    const add = (level: number): JsonObject[] => [
      { name: 'type', valueCode: 'add' },
      { name: 'path', valueString: `Patient${'.extension'.repeat(level)}` },
      { name: 'name', valueString: 'extension' },
      { name: 'value', valueExtension: { url: 'http://example.org/x' } },
    ];
    // Each extension adds two levels, an array and an object, below the resource itself.
    const fit = Math.floor((MAX_DEPTH - 1) / 2);
    const whole = Array.from({ length: fit }, (_, level) => add(level));
    expect(isDeeper(fhirPath(patient, ...whole), MAX_DEPTH)).to.equal(false);
    const given = refusal(() => fhirPath(patient, ...whole, add(fit)));
    expect(given.status).to.equal(422);
    expect(said(given)).to.match(/parameter\[49\] .*nested more than 100 levels deep/);
  });
});
