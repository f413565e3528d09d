/**
 * Compiled invariants of documents and profiles, compared with fhirpath.js: both give the same verdict on real and on changed
 * resources.
 */
import { expect } from 'chai';
import { typeDefinition } from '#src/fhir/definitions/tables.ts';
import { findProfile, type ProfileNode, profileUrls } from '#src/fhir/profiles/table.ts';
import { compileInvariant, holdsByEngine, isCompiled } from '#src/fhir/validation/invariants.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { changed, IPS_EXAMPLES, ipsExample } from '#test/support/ips.ts';

interface Rule {
  readonly key: string;
  readonly human: string;
  readonly expression: string;
}

function rulesIn(node: ProfileNode): Rule[] {
  const own = (node.rules ?? []).map(([key, human, expression]) => ({ key, human, expression }));
  const below = [...Object.values(node.children ?? {}), ...Object.values(node.slices ?? {})];
  return [...own, ...below.flatMap(rulesIn)];
}

/** The type of the element that a profile's rule applies to, if it isn't the resource itself. */
const ABOUT: Readonly<Record<string, string>> = {
  'ips-pat-1': 'HumanName',
  'ips-comp-1': 'Composition.section',
  'ips-1': 'dateTime',
  'vs-1': 'dateTime',
  'vs-3': 'Observation.component',
};

const documents = IPS_EXAMPLES.filter((name) => name.startsWith('Bundle-')).map(ipsExample);

/** Returns both verdicts on a rule at an element. */
function verdicts(rule: Rule, type: string, focus: Json, resource: JsonObject): [boolean, boolean] {
  const environment = { resource, rootResource: resource };
  return [
    compileInvariant(rule, type)([focus], environment),
    holdsByEngine(rule, type, [focus], environment),
  ];
}

describe('invariants of documents', () => {
  const [minimal] = documents;
  const variants = (document: JsonObject): JsonObject[] => [
    document,
    changed(document, 'type', 'searchset'),
    changed(document, 'type', 'message'),
    changed(document, 'total', 3),
    changed(document, 'entry[0]', undefined),
    changed(document, 'entry[1]', (document.entry as Json[])[0] ?? null),
    changed(document, 'entry[1].fullUrl', String((document.entry as JsonObject[])[0]?.fullUrl)),
    changed(document, 'entry[1].request', { method: 'GET', url: 'x' }),
    changed(document, 'entry[1].response', { status: '200' }),
    changed(document, 'timestamp', undefined),
    changed(document, 'identifier.system', undefined),
  ];
  const rules = typeDefinition('Bundle').invariants.filter(({ element }) => element === undefined);

  for (const rule of [
    ...rules,
    ...rulesIn(findProfile('http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips')?.root ?? {}),
  ]) {
    it(`${rule.key} is compiled, and judges as fhirpath.js does`, () => {
      expect(isCompiled(rule, 'Bundle')).to.equal(true);
      for (const document of documents) {
        for (const [index, variant] of (document === minimal ? variants(document) : [document]).entries()) {
          const [ours, theirs] = verdicts(rule, 'Bundle', variant, variant);
          expect(ours, `variant ${index}`).to.equal(theirs);
        }
      }
    });
  }
});

describe('invariants of profiles', () => {
  const all = profileUrls().flatMap((url) => {
    const { root = {}, type = '' } = findProfile(url) ?? {};
    return rulesIn(root).map((rule) => ({ rule, type: ABOUT[rule.key] ?? type }));
  });

  it('are all compiled', () => {
    expect(all.length).to.be.greaterThan(8);
    expect(all.filter(({ rule, type }) => !isCompiled(rule, type))).to.deep.equal([]);
  });

  it('judge times as fhirpath.js does', () => {
    const rules = all.filter(({ type }) => type === 'dateTime').map(({ rule }) => rule);
    expect(rules.map(({ key }) => key)).to.include.members(['ips-1', 'vs-1']);
    for (const rule of rules) {
      for (const time of ['2024', '2024-01', '2024-01-01', '2024-01-01T10:00:00Z']) {
        const observation: JsonObject = { resourceType: 'Observation', effectiveDateTime: time };
        const [ours] = verdicts(rule, 'dateTime', time, observation);
        expect(ours, `${rule.key} ${time}`).to.equal(time.length >= 8);
      }
    }
  });

  it('judge Observations as fhirpath.js does', () => {
    const value: JsonObject = { valueString: 'x' };
    const coded = { code: { text: 'x' } };
    const kinds: readonly JsonObject[] = [
      {},
      value,
      { dataAbsentReason: { text: 'x' } },
      { hasMember: [{ reference: 'Observation/1' }] },
      { component: [coded] },
      { component: [{ ...coded, ...value }, coded] },
      { component: [{ ...coded, ...value }], hasMember: [{ reference: 'Observation/1' }] },
    ];
    for (const { rule, type } of all.filter((one) => one.type === 'Observation')) {
      for (const members of kinds) {
        const observation = { resourceType: 'Observation', ...members };
        const [ours, theirs] = verdicts(rule, type, observation, observation);
        expect(ours, `${rule.key} ${Object.keys(members).join()}`).to.equal(theirs);
      }
    }
  });
});
