/** HL7's own examples: what validation says about them, and the summaries of their patients. */
import { expect } from 'chai';
import { choose } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { findOwner } from '#src/fhir/references/references.ts';
import { isResourceType, typeEntry } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { officialExamples } from '#test/support/official-examples.ts';

const BASE = 'https://annal.example/fhir/R4/';
const PROFILE = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips';
const ID = '01890a5d-ac96-774b-bcce-000000000000';

/** Examples that violate R4, and where they do. */
const FAULTY: Readonly<Record<string, string>> = {
  'ActivityDefinition-blood-tubes-supply': 'txt-2',
  'ActivityDefinition-heart-valve-replacement': 'txt-2',
  'DeviceMetric-example': 'DeviceMetric.parent must refer to Device',
  'DeviceUseStatement-example': 'reasonReference[0] must refer to Condition',
  'EventDefinition-example': 'txt-2',
  'MedicationRequest-medrx0301': 'dispenseRequest.performer must refer to Organization',
  'Observation-clinical-gender': 'performer[0] must refer to Practitioner',
  'Questionnaire-qs1': 'linkId is required',
  'Questionnaire-zika-virus-exposure-assessment': 'txt-2',
};

/** Returns an example's resources: the example itself, or the resources in a Bundle. */
function resourcesIn(resource: JsonObject): JsonObject[] {
  if (resource.resourceType !== 'Bundle') return [resource];
  const entries = Array.isArray(resource.entry) ? resource.entry.filter(isObject) : [];
  return entries.flatMap((entry) => (isObject(entry.resource) ? [entry.resource] : []));
}

describe('the official examples of R4', () => {
  const examples = officialExamples();

  it('are valid, but for those that HL7 got wrong', () => {
    expect(examples).to.have.length.greaterThan(500);
    const faults: Record<string, string> = {};
    for (const { name, resource } of examples) {
      // These contain `json` and `xml` where media types are required.
      if (name.startsWith('TestScript-') || name === 'Bundle-b0a5e4277-83c4-4adb-87e2-e3efe3369b6f') continue;
      const [issue] = validateResource(resource);
      if (issue !== undefined) faults[name] = issue.diagnostics;
    }
    expect(Object.keys(faults)).to.have.members(Object.keys(FAULTY));
    for (const [name, said] of Object.entries(FAULTY)) expect(faults[name], name).to.contain(said);
  });

  it('make valid summaries of every patient in them', () => {
    const directory: Stored[] = [];
    const patients = new Map<string, Stored>();
    const records = new Map<string, Map<string, Stored>>();
    let resources = 0;
    for (const resource of examples.flatMap((example) => resourcesIn(example.resource))) {
      const { resourceType: type, id } = resource;
      if (typeof type !== 'string' || typeof id !== 'string' || !isResourceType(type)) continue;
      if (validateResource(resource).length > 0) continue;
      const stored = { type, id, body: printJson(resource) };
      const owner = findOwner(resource, type, [BASE]);
      if (type === 'Patient') patients.set(id, stored);
      else if (typeEntry(type).home === 'directory' || ('kind' in owner && owner.kind === 'directory'))
        directory.push(stored);
      else if ('kind' in owner && owner.kind === 'patient') {
        resources += 1;
        const record = records.get(owner.id) ?? new Map<string, Stored>();
        records.set(owner.id, record.set(`${type}/${id}`, stored));
      }
    }
    expect(resources).to.be.greaterThan(250);
    for (const id of new Set([...patients.keys(), ...records.keys()])) {
      const unnamed = { type: 'Patient', id, body: printJson({ resourceType: 'Patient', id }) };
      const record = [...(records.get(id)?.values() ?? [])];
      const chosen = choose({ base: BASE, patient: patients.get(id) ?? unnamed, record });
      const { value } = parseJson(summaryDocument(chosen, { id: ID, now: 1_700_000_000_000_000, directory }));
      if (!isObject(value)) throw new Error('no Bundle');
      const errors = validateWithProfiles(value, [PROFILE]).filter(
        ({ severity = 'error' }) => severity === 'error',
      );
      expect(errors, `Patient/${id}`).to.deep.equal([]);
    }
  });
});
