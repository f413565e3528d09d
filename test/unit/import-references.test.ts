/** How the importer rewrites references. */
import { expect } from 'chai';
import { makeEntry } from '#src/cli/import/entry.ts';
import { findLabel, listReferences, rewriteReferences, unresolved } from '#src/cli/import/references.ts';
import { pooledScope } from '#src/cli/import/scope.ts';
import { prepare, resolveIn, withoutServerElements } from '#src/cli/import/transaction.ts';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';

const report = {
  resourceType: 'DiagnosticReport',
  id: 'r1',
  subject: { reference: 'Patient/1' },
  basedOn: [{ reference: 'ServiceRequest/7', display: 'Lipids' }, { reference: 'ServiceRequest/8' }],
  result: [{ reference: 'Observation/o1' }],
  contained: [{ resourceType: 'Specimen', id: 's', subject: { reference: 'Patient/1' } }],
  specimen: [{ reference: '#s' }],
};

describe('references of an import', () => {
  it('are found wherever they stand, each once, contained ones too', () => {
    expect(listReferences(report)).to.deep.equal([
      'Patient/1',
      'ServiceRequest/7',
      'ServiceRequest/8',
      'Observation/o1',
    ]);
  });

  it('point to the new ids and to the entries of the same transaction', () => {
    const surroundings = {
      scope: pooledScope,
      together: new Map([['Observation/o1', 'urn:uuid:o']]),
      known: (key: string) => (key === 'Patient/1' ? 'Patient/new' : undefined),
    };
    const { resource, lost } = prepare(makeEntry('k', 'DiagnosticReport', report, 'here'), surroundings);
    expect(resource.subject).to.deep.equal({ reference: 'Patient/new' });
    expect(resource.result).to.deep.equal([{ reference: 'urn:uuid:o' }]);
    expect(resource.contained).to.deep.equal([
      { resourceType: 'Specimen', id: 's', subject: { reference: 'Patient/new' } },
    ]);
    expect(resource.specimen).to.deep.equal([{ reference: '#s' }]);
    expect(resource).not.to.have.property('id');
    expect(lost).to.deep.equal({ dropped: 2, missing: 0 });
  });

  it('become identifiers where their target was dropped; a display that was there stays', () => {
    const surroundings = { scope: pooledScope, together: new Map(), known: () => undefined };
    const { resource } = prepare(makeEntry('k', 'DiagnosticReport', report, 'here'), surroundings);
    expect(resource.basedOn).to.deep.equal([
      {
        display: 'Lipids',
        type: 'ServiceRequest',
        identifier: { system: 'urn:ietf:rfc:3986', value: 'ServiceRequest/7' },
      },
      {
        type: 'ServiceRequest',
        identifier: { system: 'urn:ietf:rfc:3986', value: 'ServiceRequest/8' },
        display: 'ServiceRequest, not imported',
      },
    ]);
  });

  it('keep an identifier that the source gave', () => {
    const own = { system: 'https://lab.example/orders', value: '42' };
    const { resource } = rewriteReferences(
      { basedOn: { reference: 'ServiceRequest/7', identifier: own } },
      unresolved,
    );
    expect((resource.basedOn as JsonObject).identifier).to.deep.equal(own);
  });

  it('lose the version of the old server', () => {
    const known = (key: string) => (key === 'Observation/1' ? 'Observation/new' : undefined);
    const surroundings = { scope: pooledScope, together: new Map(), known };
    expect(resolveIn('Observation/1/_history/3', surroundings)).to.deep.equal({
      kind: 'to',
      reference: 'Observation/new',
    });
  });

  it('that name nothing known are told apart', () => {
    expect(unresolved('Observation/o9').kind).to.equal('missing');
    expect(unresolved('urn:uuid:0b0e7d1c-0000-4000-8000-000000000000').kind).to.equal('missing');
    expect(unresolved('ServiceRequest/7').kind).to.equal('dropped');
    expect(unresolved('https://elsewhere.example/fhir/Patient/1').kind).to.equal('keep');
    expect(unresolved('Practitioner?identifier=npi|1').kind).to.equal('keep');
    expect(unresolved('Observation/018f3c6e-0000-7000-8000-000000000000').kind).to.equal('keep');
  });

  it('change nothing else: what is not touched is the same object, and decimals keep their literals', () => {
    const { value } = parseJson('{"valueQuantity":{"value":1.50},"subject":{"reference":"Patient/1"}}');
    if (!isObject(value)) throw new Error('an object was parsed');
    const { resource } = rewriteReferences(value, () => ({ kind: 'to', reference: 'Patient/2' }));
    expect(resource.valueQuantity).to.equal(value.valueQuantity);
    expect(printJson(resource)).to.equal(
      '{"valueQuantity":{"value":1.50},"subject":{"reference":"Patient/2"}}',
    );
    expect(printJson(value)).to.contain('Patient/1');
  });
});

describe('a resource that is sent', () => {
  it('has no id and no server meta, but its tags, profiles and source', () => {
    const meta = {
      versionId: '3',
      lastUpdated: '2020-01-01T00:00:00Z',
      source: 'urn:x',
      tag: [{ code: 'a' }],
    };
    expect(withoutServerElements({ resourceType: 'Patient', id: '1', meta })).to.deep.equal({
      resourceType: 'Patient',
      meta: { source: 'urn:x', tag: [{ code: 'a' }] },
    });
    const bare = { resourceType: 'Patient', meta: { versionId: '3' } };
    expect(withoutServerElements(bare)).to.deep.equal({ resourceType: 'Patient' });
  });

  it('names what is dropped by what people call it', () => {
    expect(findLabel({ resourceType: 'ServiceRequest', code: { text: 'Lipid panel' } })).to.equal(
      'Lipid panel',
    );
    expect(findLabel({ resourceType: 'Claim', type: { coding: [{ display: 'Institutional' }] } })).to.equal(
      'Institutional',
    );
    expect(findLabel({ resourceType: 'Claim' })).to.equal(undefined);
  });
});
