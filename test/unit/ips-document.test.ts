import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { choose } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import { validateWithProfiles } from '#src/fhir/profiles/validate.ts';
import { rewriteReferences } from '#src/fhir/references/references.ts';
import { isResourceType, typeEntry } from '#src/fhir/types.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { syntheaFolder } from '#test/support/synthea.ts';

const BASE = 'https://annal.example/fhir/R4/';
const PROFILE = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips';

/** Returns a record from a Synthea file, with references as the service would write them. */
function recordOf(file: string): { patient: Stored; record: Stored[]; directory: Stored[] } {
  const { value } = parseJson(readFileSync(file, 'utf8'));
  const entries = isObject(value) && Array.isArray(value.entry) ? value.entry.filter(isObject) : [];
  const resources = entries.flatMap(({ fullUrl, resource }) =>
    isObject(resource) ? [{ fullUrl: String(fullUrl), resource }] : [],
  );
  const keys = new Map(
    resources.map(({ fullUrl, resource }) => [fullUrl, `${resource.resourceType}/${resource.id}`] as const),
  );
  const all: Stored[] = resources.flatMap(({ resource }) => {
    const type = String(resource.resourceType);
    if (!isResourceType(type)) return [];
    const body = printJson(rewriteReferences(resource, type, (text) => keys.get(text)));
    return [{ type, id: String(resource.id), body }];
  });
  const isDirectory = ({ type }: Stored) => isResourceType(type) && typeEntry(type).home === 'directory';
  const [patient] = all.filter(({ type }) => type === 'Patient');
  if (patient === undefined) throw new Error(`no Patient in ${file}`);
  return {
    patient,
    record: all.filter((stored) => stored !== patient && !isDirectory(stored)),
    directory: all.filter(isDirectory),
  };
}

/** 14 November 2023. */
const NOW = 1_700_000_000_000_000;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** https://hl7.org/fhir/uv/ips/STU2/ over real records */
describe('summaries of Synthea records', () => {
  const folder = syntheaFolder();
  for (const name of folder === undefined
    ? []
    : readdirSync(folder).filter((each) => each.endsWith('.json'))) {
    it(`are valid: ${name.split('_').slice(0, 2).join(' ')}`, () => {
      const { patient, record, directory } = recordOf(join(folder ?? '', name));
      const made = () =>
        summaryDocument(choose({ base: BASE, patient, record }), { id: ID, now: NOW, directory });
      const text = made();
      expect(made()).to.equal(text);
      const { value } = parseJson(text);
      const issues = validateWithProfiles(value as JsonObject, [PROFILE]);
      expect(issues.filter(({ severity = 'error' }) => severity === 'error')).to.deep.equal([]);
    });
  }
  if (folder === undefined) it('are valid (needs ANNAL_SYNTHEA_DIR)');
});
