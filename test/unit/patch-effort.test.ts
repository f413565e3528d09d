/** The cost of patches to large resources: steps are counted, and no step takes long. */
import { expect } from 'chai';
import { findExpressionFault } from '#src/fhir/patch/expression.ts';
import { applyFhirPathPatch } from '#src/fhir/patch/fhirpath-apply.ts';
import { parseFhirPathPatch } from '#src/fhir/patch/fhirpath-patch.ts';
import { JSON_PATCH, parsePatch, patchInSteps } from '#src/fhir/patch/patch.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { atOnce, type Steps } from '#src/shared/load/slices.ts';
import { parameters } from '#test/support/fhirpath-patch.ts';
import { refusal } from '#test/support/refusal.ts';
import { everyNth } from '#test/support/scale.ts';

const patient = (names: number): JsonObject => ({
  resourceType: 'Patient',
  name: Array.from({ length: names }, (_, n) => ({ family: `F${n}` })),
});
const deleting = (path: string, times = 1) =>
  parseFhirPathPatch(parameters(...Array.from({ length: times }, () => ({ type: 'delete', path }))));

function stepsOf(work: Steps<unknown>): number {
  let steps = 0;
  while (work.next().done !== true) steps += 1;
  return steps;
}

describe('the effort of a patch', () => {
  const CRITERIA = "Patient.name.where(family.lower().contains('zzz'))";

  it('is bounded for each path, and for all of them together', () => {
    const large = patient(20_000);
    const few = patient(1_000);
    const costly = [
      [large, CRITERIA, 150],
      [patient(3_000), CRITERIA, 200],
      [large, '(Patient.name.family | Patient.name.given).first()', 1],
      [large, `Patient.name${'.where(true)'.repeat(50)}`, 1],
    ] as const;
    for (const [resource, path, times] of everyNth(costly, 4, 3)) {
      const given = refusal(() => atOnce(applyFhirPathPatch(resource, deleting(path, times))));
      expect(given.status, path).to.equal(413);
      expect(given.issues[0]?.code).to.equal('too-costly');
    }
    expect(atOnce(applyFhirPathPatch(few, deleting(CRITERIA, 100)))).to.deep.equal(few);
  });

  it('does not grow with the resource where paths have names and positions', () => {
    const operations = Array.from({ length: 1_000 }, (_, n) => ({
      type: 'replace',
      path: `Patient.name[${n}].family`,
      value: { valueString: 'New' },
    }));
    const patch = parseFhirPathPatch(parameters(...operations));
    const patched = atOnce(applyFhirPathPatch(patient(30_000), patch));
    expect((patched.name as JsonObject[])[999]).to.deep.equal({ family: 'New' });
    expect((patched.name as JsonObject[])[1_000]).to.deep.equal({ family: 'F1000' });
  });

  it('has no comparison that takes the square of its collections', () => {
    for (const operator of ['~', '!~'])
      expect(findExpressionFault(`Patient.name.where((family | given) ${operator} family)`)).to.match(
        /~ or !~/,
      );
    expect(findExpressionFault('Patient.name.where(family = given)')).to.equal(undefined);
  });

  it('is divided into a step for each operation', () => {
    const removals = Array.from({ length: 500 }, () => ({ op: 'remove', path: '/name/0' }));
    const patch = parsePatch(JSON_PATCH, { value: removals, exact: false });
    expect(stepsOf(patchInSteps(patient(1_000), patch))).to.be.above(500);
    expect(stepsOf(applyFhirPathPatch(patient(10), deleting('Patient.birthDate', 200)))).to.be.above(200);
  });

  it('leaves no resource of more values than one may have', () => {
    const value = Array.from({ length: 60_000 }, () => 'a');
    const patch = parsePatch(JSON_PATCH, {
      value: [
        { op: 'add', path: '/a', value },
        { op: 'copy', from: '/a', path: '/b' },
      ],
      exact: false,
    });
    expect(refusal(() => atOnce(patchInSteps(patient(1), patch))).status).to.equal(413);
  });
});
