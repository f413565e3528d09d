/** Reading references, replacing them, and finding the record that a resource belongs to. */
import { expect } from 'chai';
import fc from 'fast-check';
import { findOwner, parseReference, rewriteReferences } from '#src/fhir/references/references.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { EXAMPLES } from '#test/support/fhir-examples.ts';

const BASES = ['https://annal.test/fhir/R4/', 'http://localhost:3000/fhir/R4/'];

describe('parseReference', () => {
  const CASES: readonly (readonly [string, object])[] = [
    ['Patient/p1', { kind: 'local', type: 'Patient', id: 'p1' }],
    ['Patient/p1/_history/3', { kind: 'local', type: 'Patient', id: 'p1', version: '3' }],
    ['https://annal.test/fhir/R4/Patient/p1', { kind: 'local', type: 'Patient', id: 'p1' }],
    ['http://localhost:3000/fhir/R4/Claim/7', { kind: 'foreign-type', type: 'Claim', id: '7' }],
    ['https://annal.test/fhir/R4', { kind: 'absolute' }],
    ['https://annal.test/fhir/R4/Nonsense/1', { kind: 'absolute' }],
    ['https://elsewhere.test/fhir/R4/Patient/p1', { kind: 'absolute' }],
    ['https://annal.test/fhir/R40/Patient/p1', { kind: 'absolute' }],
    ['ServiceRequest/7', { kind: 'foreign-type', type: 'ServiceRequest', id: '7' }],
    ['#med', { kind: 'contained', id: 'med' }],
    ['#', { kind: 'contained', id: '' }],
    ['urn:uuid:05efabf0-4be2-4561-91ce-51548425acb9', { kind: 'urn' }],
    ['urn:oid:1.2.3', { kind: 'urn' }],
    ['Patient?identifier=a|b', { kind: 'conditional', type: 'Patient', query: 'identifier=a|b' }],
    [
      'https://annal.test/fhir/R4/Patient?identifier=a|b',
      { kind: 'conditional', type: 'Patient', query: 'identifier=a|b' },
    ],
    ...[
      '',
      'p1',
      'patient/p1',
      'Patient/',
      'Patient/a b',
      'Patient/p1/x',
      'Nonsense/1',
      'Patient?',
      '/Patient/1',
      '../Patient/1',
    ].map((text): [string, object] => [text, { kind: 'malformed' }]),
  ];
  for (const [text, expected] of CASES) {
    it(`reads "${text}"`, () => {
      expect(parseReference(text, BASES)).to.deep.equal(expected);
    });
  }

  it('reads any text without throwing', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof parseReference(text, BASES).kind === 'string'));
  });
});

describe('rewriteReferences', () => {
  const map = new Map([
    ['urn:uuid:1', 'Patient/new'],
    ['http://old.test/Organization/2', 'Organization/new'],
  ]);
  const rewrite = (resource: JsonObject): JsonObject =>
    rewriteReferences(resource, String(resource.resourceType), (text) => map.get(text));

  it('replaces references, uris, urls and links, never canonicals', () => {
    const narrative = (first: string, second: string): JsonObject => ({
      status: 'generated',
      div: `<div><a href="${first}">x</a><img src='${second}' alt="urn:uuid:1"/>urn:uuid:1</div>`,
    });
    const observation = (to: (text: string) => string): JsonObject => ({
      resourceType: 'Observation',
      meta: { profile: ['urn:uuid:1'] },
      text: narrative(to('urn:uuid:1'), to('http://old.test/Organization/2')),
      contained: [{ resourceType: 'Condition', id: 'c', subject: { reference: to('urn:uuid:1') } }],
      extension: [
        { url: 'http://x.org', valueUri: to('urn:uuid:1') },
        { url: 'http://x.org', valueUrl: to('urn:uuid:1') },
        { url: 'http://x.org', valueUuid: to('urn:uuid:1') },
        { url: 'http://x.org', valueOid: to('urn:uuid:1') },
        { url: 'http://x.org', valueCanonical: 'urn:uuid:1' },
        { url: 'http://x.org', valueString: 'urn:uuid:1' },
        {
          url: 'http://x.org',
          valueReference: { reference: to('http://old.test/Organization/2'), display: 'urn:uuid:1' },
        },
      ],
      _status: { extension: [{ url: 'http://x.org', valueUri: to('urn:uuid:1') }] },
      instantiatesUri: 'urn:uuid:1',
      subject: { reference: to('urn:uuid:1'), type: 'Patient' },
      performer: [{ reference: 'urn:uuid:12' }, { reference: to('http://old.test/Organization/2') }],
    });
    const original = observation((text) => text);
    const copy = structuredClone(original);
    expect(rewrite(original)).to.deep.equal(observation((text) => map.get(text) ?? text));
    expect(original, 'the original is kept').to.deep.equal(copy);
  });

  it('gives the resource itself when nothing matches', () => {
    for (const example of Object.values(EXAMPLES)) expect(rewrite(example)).to.equal(example);
  });

  it('leaves what is not as R4 defines it', () => {
    const odd = {
      resourceType: 'Patient',
      name: 'urn:uuid:1',
      contained: [{ resourceType: 'X', subject: { reference: 'urn:uuid:1' } }, 5],
    };
    expect(rewrite(odd)).to.equal(odd);
  });
});

describe('findOwner', () => {
  const owner = (type: ResourceType, members: JsonObject): unknown =>
    findOwner({ resourceType: type, ...members }, type, BASES);
  const issue = (code: string, expression: string): object => ({ code, expression });

  it('reads the patient from the defining element', () => {
    const patient = { kind: 'patient', id: 'p1' };
    expect(owner('Observation', { subject: { reference: 'Patient/p1' } })).to.deep.equal(patient);
    expect(owner('Observation', { subject: { reference: `${BASES[0]}Patient/p1` } })).to.deep.equal(patient);
    expect(owner('Immunization', { patient: { reference: 'Patient/p1/_history/2' } })).to.deep.equal(patient);
    expect(owner('Device', { patient: { reference: 'Patient/p1' } })).to.deep.equal(patient);
  });

  it('knows what needs none', () => {
    expect(owner('Patient', {})).to.deep.equal({ kind: 'self' });
    expect(owner('Organization', {})).to.deep.equal({ kind: 'directory' });
    expect(owner('Device', {})).to.deep.equal({ kind: 'directory' });
  });

  it('names what hides the patient', () => {
    const fault = (members: JsonObject): object => {
      const found = findOwner({ resourceType: 'Observation', ...members }, 'Observation', BASES);
      return 'issue' in found ? issue(found.issue.code, found.issue.expression ?? '') : found;
    };
    expect(fault({})).to.deep.equal(issue('required', 'Observation.subject'));
    expect(fault({ subject: { display: 'Jane' } })).to.deep.equal(issue('required', 'Observation.subject'));
    for (const reference of [
      'Group/g',
      'Location/l',
      '#p',
      'https://elsewhere.test/Patient/p',
      'urn:uuid:1',
      'Patient?x=y',
      'x',
    ]) {
      expect(fault({ subject: { reference } }), reference).to.deep.equal(
        issue('value', 'Observation.subject'),
      );
    }
  });

  it('lists the targets of a Provenance', () => {
    const target = [{ reference: 'Observation/o/_history/2' }, { reference: 'Patient/p1' }];
    expect(owner('Provenance', { target })).to.deep.equal({
      kind: 'targets',
      targets: [
        { type: 'Observation', id: 'o', version: '2' },
        { type: 'Patient', id: 'p1' },
      ],
    });
    expect(owner('Provenance', {})).to.have.nested.property('issue.code', 'required');
    const foreign = owner('Provenance', { target: [...target, { reference: 'Claim/1' }] });
    expect(foreign).to.have.nested.property('issue.expression', 'Provenance.target[2]');
  });
});
