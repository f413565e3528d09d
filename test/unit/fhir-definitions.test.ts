/** The committed tables match HL7's definitions. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import { isR4ResourceType, typeDefinition, valueSet } from '#src/fhir/definitions/tables.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { GENERATED, generateTables } from '../../tools/definitions/generate.ts';

describe('generated definitions', () => {
  it('are the bytes that the generator gives', () => {
    for (const [name, text] of Object.entries(generateTables())) {
      expect(
        readFileSync(join(GENERATED, name), 'utf8') === text,
        `npm run generate changes ${name}`,
      ).to.equal(true);
    }
  });

  it('are small', () => {
    const sizes = ['structures.json', 'search-parameters.json'].map(
      (name) => statSync(join(GENERATED, name)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size)).to.be.lessThan(600_000);
  });

  it('have the 146 resource types of R4 and nothing later', () => {
    const codes = valueSet('resource-types')['http://hl7.org/fhir/resource-types'] ?? [];
    expect(codes.filter(isR4ResourceType)).to.have.length(146);
    for (const later of [
      'SubscriptionStatus',
      'Citation',
      'Bot',
      'Resource',
      'DomainResource',
      'HumanName',
      'toString',
    ]) {
      expect(isR4ResourceType(later), later).to.equal(false);
    }
    const names = (type: string): string[] => typeDefinition(type).elements.map(({ name }) => name);
    expect(names('Meta')).to.deep.equal([
      'id',
      'extension',
      'versionId',
      'lastUpdated',
      'source',
      'profile',
      'security',
      'tag',
    ]);
    expect(names('Binary')).to.not.include('url');
    expect(names('ResearchStudy')).to.not.include('label');
    expect(names('EvidenceVariable.characteristic'))
      .to.include('definition')
      .and.not.include('definitionByCombination');
  });

  it('have what an Observation says', () => {
    const element = (name: string): unknown =>
      typeDefinition('Observation').elements.find((found) => found.name === name);
    expect(element('status')).to.deep.equal({
      name: 'status',
      choice: false,
      required: true,
      list: false,
      summary: true,
      modifier: true,
      types: [{ code: 'code' }],
      binding: 'observation-status',
    });
    expect(element('value')).to.deep.include({ choice: true, required: false, list: false });
    expect(element('note')).to.deep.include({ list: true, summary: false, modifier: false });
    expect(element('subject')).to.deep.include({
      types: [{ code: 'Reference', targets: new Set(['Patient', 'Group', 'Device', 'Location']) }],
    });
    expect(typeDefinition('Observation.component').elements.map(({ name }) => name)).to.include(
      'modifierExtension',
    );
  });

  it('hold no SNOMED CT codes', () => {
    expect(readFileSync(join(GENERATED, 'structures.json'), 'utf8')).to.not.include('snomed.info/sct');
  });

  it('have the search parameters of the types, with the operands about each alone', () => {
    expect(searchParameter('Observation', '_id')).to.deep.include({
      type: 'token',
      expression: 'Resource.id',
    });
    expect(searchParameter('Condition', 'patient')).to.deep.include({
      id: 'clinical-patient',
      type: 'reference',
    });
    expect(searchParameter('Condition', 'patient')?.expression).to.equal(
      'Condition.subject.where(resolve() is Patient)',
    );
    expect(searchParameter('Observation', 'value-quantity')?.expression).to.equal(
      '(Observation.value as Quantity) | (Observation.value as SampledData)',
    );
    expect(searchParameter('Observation', 'code-value-quantity')?.component).to.have.length(2);
    expect(searchParameter('Patient', 'constructor')).to.equal(undefined);
    for (const type of TYPE_NAMES)
      expect(searchParameter(type, '_lastUpdated'), type).to.not.equal(undefined);
  });
});
