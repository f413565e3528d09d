/** Summaries of resources that contain other resources and have only the members that R4 requires: all are valid. */
import { expect } from 'chai';
import { choose, SUMMARIZED_TYPES } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';
import { typeDefinition } from '#src/fhir/definitions/tables.ts';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { EXAMPLES } from '#test/support/fhir-examples.ts';

const BASE = 'https://annal.example/fhir/R4/';
const PROFILE = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips';
const ID = '01890a5d-ac96-774b-bcce-000000000000';
const PATIENT = { type: 'Patient', id: 'p1', body: '{"resourceType":"Patient","id":"p1"}' };
const CATEGORIES = ['laboratory', 'imaging', 'vital-signs', 'social-history'];
/** Statuses with which a resource is included in a summary. */
const STATUS: Readonly<Record<string, string>> = {
  MedicationStatement: 'active',
  MedicationRequest: 'active',
  Immunization: 'completed',
};

/** Returns an example without the members that R4 doesn't require. */
function minimal(type: ResourceType): JsonObject {
  let { contained: _contained, ...kept } = structuredClone(EXAMPLES[type]);
  for (const name of Object.keys(kept)) {
    const { [name]: _member, ...less } = kept;
    if (name !== 'resourceType' && validateResource(less).length === 0) kept = less;
  }
  return kept;
}

function withCategory(resource: JsonObject, code: string | undefined): JsonObject {
  const system = 'http://terminology.hl7.org/CodeSystem/observation-category';
  return code === undefined ? resource : { ...resource, category: [{ coding: [{ system, code }] }] };
}

/** Yields, for each suitable element of a resource, the members with which that element refers to a contained resource. */
function* references(
  type: ResourceType,
): Generator<{ name: string; target: ResourceType; members: JsonObject }> {
  for (const { name, list, choice, types } of typeDefinition(type).elements) {
    const reference = types.find(({ code }) => code === 'Reference');
    if (reference === undefined || name === 'subject' || name === 'patient') continue;
    for (const target of TYPE_NAMES) {
      if (reference.targets?.has(target) === false) continue;
      const value = { reference: '#c' };
      yield { name, target, members: { [choice ? `${name}Reference` : name]: list ? [value] : value } };
    }
  }
}

function summaryOf(type: ResourceType, resource: JsonObject): string {
  const record = [{ type, id: 'x', body: printJson(resource) }];
  const chosen = choose({ base: BASE, patient: PATIENT, record });
  return summaryDocument(chosen, { id: ID, now: 1_700_000_000_000_000, directory: [] });
}

function errorsOf(type: ResourceType, resource: JsonObject): string[] {
  const { value } = parseJson(summaryOf(type, resource));
  if (!isObject(value)) throw new Error('no Bundle');
  const issues = validateWithProfiles(value, [PROFILE]);
  return issues
    .filter(({ severity = 'error' }) => severity === 'error')
    .map(({ diagnostics }) => diagnostics);
}

describe('summaries of resources that contain others', () => {
  let made = 0;
  const smallest = new Map(TYPE_NAMES.map((type) => [type, minimal(type)]));

  for (const type of SUMMARIZED_TYPES.filter(isResourceType)) {
    it(`are valid for ${type}`, () => {
      const owner = 'subject' in EXAMPLES[type] ? 'subject' : 'patient';
      const status = STATUS[type];
      const base: JsonObject = {
        ...smallest.get(type),
        id: 'x',
        [owner]: { reference: 'Patient/p1' },
        ...(status !== undefined && { status }),
      };
      for (const { name, target, members } of references(type)) {
        const chosen = Object.fromEntries(Object.entries(base).filter(([key]) => !key.startsWith(name)));
        const observed = type === 'Observation' || target === 'Observation';
        for (const category of [undefined, ...(observed ? CATEGORIES : [])]) {
          const inner = { ...smallest.get(target), id: 'c' };
          const contained = target === 'Observation' ? withCategory(inner, category) : inner;
          const outer = type === 'Observation' ? withCategory(chosen, category) : chosen;
          const resource = { ...outer, contained: [contained], ...members };
          if (validateResource(resource).length > 0) continue;
          made += 1;
          expect(errorsOf(type, resource), `${name} → ${target} ${category}`).to.deep.equal([]);
        }
      }
    });
  }

  it('are of as many ways to contain one as R4 has', () => {
    expect(made).to.be.greaterThan(400);
  });

  it('complete what is contained, and leave what it says as it is', () => {
    const { medicationCodeableConcept: _, ...statement } = EXAMPLES.MedicationStatement;
    const contained = [{ resourceType: 'Medication', id: 'm', form: { text: 'tablet' } }];
    const resource = { ...statement, id: 'x', contained, medicationReference: { reference: '#m' } };
    const text = summaryOf('MedicationStatement', resource);
    expect(text).to.contain('"form":{"text":"tablet"},"code":{"extension":[');
  });
});
