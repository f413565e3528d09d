/** Describes FHIRPath Patch cases in a short form. */
import { expect } from 'chai';
import { applyFhirPathPatch } from '#src/fhir/patch/fhirpath-apply.ts';
import { parseFhirPathPatch } from '#src/fhir/patch/fhirpath-patch.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';

/** An operation; `value` contains the members of the part, such as `{ valueDate: '1930-01-01' }`. */
export interface Operation {
  readonly type: string;
  readonly path?: string;
  readonly name?: string;
  readonly index?: number;
  readonly source?: number;
  readonly destination?: number;
  readonly value?: JsonObject;
}

export function parameters(...operations: readonly Operation[]): JsonObject {
  return {
    resourceType: 'Parameters',
    parameter: operations.map((operation) => ({
      name: 'operation',
      part: Object.entries(operation).map(([name, given]: [string, Json]): JsonObject => {
        if (name === 'value') return { name, ...(given as JsonObject) };
        if (name === 'type') return { name, valueCode: given };
        return typeof given === 'number' ? { name, valueInteger: given } : { name, valueString: given };
      }),
    })),
  };
}

export function apply(resource: JsonObject, ...operations: readonly Operation[]): JsonObject {
  return atOnce(applyFhirPathPatch(resource, parseFhirPathPatch(parameters(...operations))));
}

export const patient = (members: JsonObject = {}): JsonObject => ({ resourceType: 'Patient', ...members });
export const observation = (members: JsonObject = {}): JsonObject => ({
  resourceType: 'Observation',
  ...members,
});
export const identifiers = (...values: readonly number[]): JsonObject =>
  patient({ identifier: values.map((n) => ({ system: 'http://example.org', value: `value ${n}` })) });
export const third: JsonObject = { valueIdentifier: { system: 'http://example.org', value: 'value 3' } };
export const note = (text: string): JsonObject => ({
  extension: [{ url: 'http://example.org/note', valueString: text }],
});

/** A resource, a patch, and the expected result. */
export type Case = readonly [
  name: string,
  before: JsonObject,
  operations: readonly Operation[],
  after: JsonObject,
];

/** Declares a test for each case, which checks the result, and that the given resource is unchanged. */
export function testCases(cases: readonly Case[]): void {
  for (const [name, before, operations, after] of cases) {
    it(name, () => {
      const copy = structuredClone(before);
      expect(apply(before, ...operations)).to.deep.equal(after);
      expect(before).to.deep.equal(copy);
    });
  }
}
