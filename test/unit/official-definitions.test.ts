/** The generated table contains exactly the elements of HL7's StructureDefinitions. */
import { expect } from 'chai';
import { type ElementDefinition, isTypeName, typeDefinition } from '#src/fhir/definitions/tables.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { officialStructures } from '#test/support/official-examples.ts';

/** Returns `min..max types` according to HL7's definition. */
function official({ min, max, type, contentReference }: JsonObject, path: string): string {
  const types = (Array.isArray(type) ? type : []).filter(isObject).map(({ code }) => String(code));
  const codes = typeof contentReference === 'string' ? [contentReference.slice(1)] : types;
  const own = codes.map((code) => (/^(?:Backbone)?Element$/.test(code) ? path : plain(code)));
  return `${Number(min) > 0 ? 1 : 0}..${max === '1' ? 1 : '*'} ${[...own].sort().join(',')}`;
}

function ours({ required, list, types }: ElementDefinition): string {
  const codes = types.map(({ code }) => plain(code.replace('SimpleQuantity', 'Quantity')));
  return `${required ? 1 : 0}..${list ? '*' : 1} ${codes.sort().join(',')}`;
}

/** Returns a type's usual name. In HL7's definitions, ids and similar elements have FHIRPath's own types. */
function plain(code: string): string {
  return code.replace('http://hl7.org/fhirpath/System.String', 'string').replace(/^(?:id|uri)$/, 'string');
}

describe('the tables of types', () => {
  it('have every element of R4, as often and of the types that HL7 says, and no others', () => {
    let elements = 0;
    for (const { resource } of officialStructures()) {
      const { kind, derivation, name, snapshot } = resource;
      if ((kind !== 'resource' && kind !== 'complex-type') || derivation === 'constraint') continue;
      const list =
        isObject(snapshot) && Array.isArray(snapshot.element) ? snapshot.element.filter(isObject) : [];
      const byType = new Map<string, string[]>();
      for (const element of list) {
        const path = String(element.path);
        const at = path.lastIndexOf('.');
        if (at < 0) continue;
        const [type, step] = [path.slice(0, at), path.slice(at + 1).replace('[x]', '')];
        byType.set(type, [...(byType.get(type) ?? []), step]);
        const found = isTypeName(type)
          ? typeDefinition(type).elements.find((one) => one.name === step)
          : undefined;
        expect(found && ours(found), path).to.equal(official(element, path));
        elements += 1;
      }
      for (const [type, steps] of byType)
        expect(
          typeDefinition(type).elements.map((one) => one.name),
          String(name),
        ).to.have.members(steps);
    }
    expect(elements).to.be.greaterThan(7000);
  });
});
