import { expect } from 'chai';
import fc from 'fast-check';
import { choose } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { typeEntry } from '#src/fhir/types.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { resourceOf, WRITABLE_TYPES, type WritableType } from '../support/samples.ts';

const BASE = 'https://annal.example/fhir/R4/';
const PROFILE = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips';
const RUNS = 40;

/** Returns an id for the n-th resource. */
const idOf = (n: number) => `01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`;
const PLACES = { Patient: 1, Practitioner: 2, Organization: 3, Location: 4, Encounter: 5 };
const REFS = {
  patient: `Patient/${idOf(PLACES.Patient)}`,
  practitioner: `Practitioner/${idOf(PLACES.Practitioner)}`,
  organization: `Organization/${idOf(PLACES.Organization)}`,
  location: `Location/${idOf(PLACES.Location)}`,
  encounter: `Encounter/${idOf(PLACES.Encounter)}`,
};

const stored = (type: WritableType, n: number, resource: JsonObject): Stored => {
  const id = idOf(n);
  return { type, id, body: printJson({ ...resource, id }) };
};

/**
 * Generates a record with a Patient, one resource of each type that the Patient's record refers to, and a few more of any
 * type.
 */
const records = fc
  .tuple(
    fc.tuple(...(Object.keys(PLACES) as WritableType[]).map((type) => resourceOf(type, REFS))),
    fc.array(
      fc
        .constantFrom(...WRITABLE_TYPES.filter((type) => type !== 'Patient'))
        .chain((type) => resourceOf(type, REFS).map((resource) => ({ type, resource }))),
      { maxLength: 12 },
    ),
  )
  .map(([fixed, further]) => [
    ...fixed.map((resource, n) => stored(resource.resourceType as WritableType, n + 1, resource)),
    ...further.map(({ type, resource }, n) => stored(type, n + 10, resource)),
  ]);

/** Returns literal references in entries that don't resolve to an entry. */
function dangling(bundle: JsonObject): string[] {
  const entries = Array.isArray(bundle.entry) ? bundle.entry.filter(isObject) : [];
  const urls = new Set(entries.map(({ fullUrl }) => fullUrl));
  const all = entries.flatMap(({ resource }) => [...printJson(resource).matchAll(/"reference":"([^"]*)"/g)]);
  return all
    .map(([, reference = '']) => reference)
    .filter((reference) => !reference.startsWith('#') && !urls.has(reference) && !urls.has(BASE + reference));
}

/** https://hl7.org/fhir/uv/ips/STU2/ */
describe('summaries of any record', () => {
  it('are valid, and lead nowhere outside', () => {
    fc.assert(
      fc.property(records, (all) => {
        const [patient, ...others] = all;
        if (patient === undefined) throw new Error('no Patient');
        const isDirectory = ({ type }: Stored) => typeEntry(type as WritableType).home === 'directory';
        const record = others.filter((each) => !isDirectory(each));
        const directory = others.filter(isDirectory);
        const now = 1_700_000_000_000_000;
        const chosen = choose({ base: BASE, patient, record });
        const text = summaryDocument(chosen, { id: idOf(0), now, directory });
        const { value } = parseJson(text);
        if (!isObject(value)) throw new Error('no Bundle');
        const issues = validateWithProfiles(value, [PROFILE]);
        expect(issues.filter(({ severity = 'error' }) => severity === 'error')).to.deep.equal([]);
        expect(dangling(value)).to.deep.equal([]);
      }),
      { numRuns: RUNS },
    );
  });
});
