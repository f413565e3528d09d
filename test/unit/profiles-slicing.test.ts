/** Discriminators of every kind (https://hl7.org/fhir/R4/profiling.html#discriminator), and how slices are distinguished. */
import { expect } from 'chai';
import { ProfileCheck } from '#src/fhir/profiles/check.ts';
import { makeMatch, openReach } from '#src/fhir/profiles/discriminators.ts';
import type { Item } from '#src/fhir/profiles/items.ts';
import { listItems } from '#src/fhir/profiles/items.ts';
import { matchesPattern } from '#src/fhir/profiles/match.ts';
import type { Discriminator, ProfileNode } from '#src/fhir/profiles/table.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

const IPS = 'http://hl7.org/fhir/uv/ips/StructureDefinition/';

/** Returns the indexes of the element's items that belong to a slice, according to the discriminator. */
function taken(
  resource: JsonObject,
  name: string,
  discriminator: Discriminator,
  slice: ProfileNode,
): number[] {
  const { root } = new ProfileCheck(resource);
  const itself = (item: Item) => ({ ...root, resource: item.value as JsonObject });
  const conforms = (place: { resource: JsonObject }, profiles: readonly string[]): boolean =>
    profiles.some((url) => url.includes(String(place.resource.resourceType)));
  const match = makeMatch(discriminator, slice, conforms, itself, openReach(itself));
  const items = listItems(resource, String(resource.resourceType), name, String(resource.resourceType));
  return items.flatMap((item, index) => (match(item, root) ? [index] : []));
}

const observation = (members: JsonObject): JsonObject => ({ resourceType: 'Observation', ...members });
const concept = (...codes: string[]): JsonObject => ({
  coding: codes.map((code) => ({ system: 's', code })),
});

describe('discriminators', () => {
  const category = [concept('a'), concept('b', 'a'), { text: 'a' }];

  it('by value take what is fixed below the path, in one of several', () => {
    const slice: ProfileNode = { children: { coding: { children: { code: { fixed: 'a' } } } } };
    const by: Discriminator = { type: 'value', path: 'coding.code' };
    expect(taken(observation({ category }), 'category', by, slice)).to.deep.equal([0, 1]);
  });

  it('by value and pattern take a pattern at the path, or above it', () => {
    const slice: ProfileNode = { pattern: concept('b') };
    for (const type of ['value', 'pattern'] as const) {
      for (const path of ['$this', 'coding.code']) {
        expect(taken(observation({ category }), 'category', { type, path }, slice), path).to.deep.equal([1]);
      }
    }
  });

  it('by value take a required binding', () => {
    const valueSet = `${IPS.replace('StructureDefinition', 'ValueSet')}edd-method-uv-ips`;
    const slice: ProfileNode = { binding: { strength: 'required', valueSet } };
    const coded = { coding: [{ system: 'http://loinc.org', code: '11778-8' }] };
    const by: Discriminator = { type: 'value', path: '$this' };
    expect(taken(observation({ category: [...category, coded] }), 'category', by, slice)).to.deep.equal([3]);
  });

  it('by value take an extension by the url of its profile', () => {
    const slice: ProfileNode = { types: [{ code: 'Extension', profiles: ['http://x.org/e|2.0'] }] };
    const extension = ['http://x.org/d', 'http://x.org/e'].map((url) => ({ url, valueString: 'x' }));
    const by: Discriminator = { type: 'value', path: 'url' };
    expect(taken(observation({ extension }), 'extension', by, slice)).to.deep.equal([1]);
  });

  it('by value take what a nested slice says', () => {
    const nested: ProfileNode = { min: 1, children: { code: { fixed: 'b' } } };
    const slice: ProfileNode = { children: { coding: { slices: { one: nested } } } };
    const by: Discriminator = { type: 'value', path: 'coding.code' };
    expect(taken(observation({ category }), 'category', by, slice)).to.deep.equal([1]);
  });

  it('by existence take what has the element, or has it not', () => {
    const by: Discriminator = { type: 'exists', path: 'text' };
    const without: ProfileNode = { children: { text: { max: 0 } } };
    expect(taken(observation({ category }), 'category', by, without)).to.deep.equal([0, 1]);
    const having: ProfileNode = { children: { text: { min: 1 } } };
    expect(taken(observation({ category }), 'category', by, having)).to.deep.equal([2]);
  });

  it('by type take a choice of that type, a resource, or what a reference names', () => {
    const by: Discriminator = { type: 'type', path: '$this' };
    const slice: ProfileNode = { types: [{ code: 'Quantity' }] };
    expect(taken(observation({ valueQuantity: { value: 1 } }), 'value', by, slice)).to.deep.equal([0]);
    expect(taken(observation({ valueString: 'x' }), 'value', by, slice)).to.deep.equal([]);
    const entry = [{ resource: { resourceType: 'Patient' } }, { resource: { resourceType: 'Group' } }];
    const ofGroup: ProfileNode = { children: { resource: { types: [{ code: 'Group' }] } } };
    const inside: Discriminator = { type: 'type', path: 'resource' };
    expect(taken({ resourceType: 'Bundle', entry }, 'entry', inside, ofGroup)).to.deep.equal([1]);
    const contained = [
      { resourceType: 'Practitioner', id: 'p' },
      { resourceType: 'Organization', id: 'o' },
    ];
    const performer = [{ reference: '#p' }, { reference: '#o' }, { reference: 'Organization/elsewhere' }];
    const resolved: Discriminator = { type: 'type', path: 'resolve()' };
    const target: ProfileNode = { types: [{ code: 'Reference', targets: [`${IPS}Organization-uv-ips`] }] };
    expect(taken(observation({ contained, performer }), 'performer', resolved, target)).to.deep.equal([1]);
  });

  it('by profile take what conforms', () => {
    const entry = [{ resource: { resourceType: 'Patient' } }, { resource: { resourceType: 'Group' } }];
    const slice: ProfileNode = {
      children: { resource: { types: [{ code: 'Group', profiles: ['x/Group'] }] } },
    };
    const by: Discriminator = { type: 'profile', path: 'resource' };
    expect(taken({ resourceType: 'Bundle', entry }, 'entry', by, slice)).to.deep.equal([1]);
  });

  it('take nothing for a slice that says nothing at the path', () => {
    const by: Discriminator = { type: 'value', path: 'coding.code' };
    expect(taken(observation({ category }), 'category', by, {})).to.deep.equal([]);
  });
});

describe('patterns', () => {
  it('match what has more, in any order', () => {
    const pattern = { coding: [{ system: 's', code: 'b' }] };
    expect(matchesPattern({ text: 'x', ...concept('a', 'b') }, pattern)).to.equal(true);
    expect(matchesPattern(concept('a'), pattern)).to.equal(false);
    expect(matchesPattern({ coding: [{ system: 's' }, { code: 'b' }] }, pattern), 'in two codings').to.equal(
      false,
    );
    expect(matchesPattern(undefined, pattern)).to.equal(false);
    expect(matchesPattern(false, false)).to.equal(true);
  });
});
