/** How the importer sorts the resources that it finds: by patient, into the directory, or not at all. */
import { expect } from 'chai';
import { isSelfContained, namedResources } from '#src/cli/import/bundle.ts';
import { findHome, pooledOwner } from '#src/cli/import/home.ts';
import { planBundle } from '#src/cli/import/plan.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

const urn = (n: number): string => `urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const post = (n: number, resource: JsonObject): JsonObject => ({
  fullUrl: urn(n),
  resource,
  request: { method: 'POST', url: resource.resourceType as string },
});

const bundle = (...entry: JsonObject[]): JsonObject => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry,
});

describe('the plan of a bundle', () => {
  it('puts each patient with all that is theirs into a unit of its own', () => {
    const plan = planBundle(
      bundle(
        post(3, { resourceType: 'Observation', subject: { reference: urn(1) } }),
        post(1, { resourceType: 'Patient', id: 'a' }),
        post(2, { resourceType: 'Patient', id: 'b' }),
        post(4, { resourceType: 'Condition', subject: { reference: 'Patient/b' } }),
        post(5, { resourceType: 'Organization', name: 'Clinic' }),
        post(6, { resourceType: 'Device', type: { text: 'scale' } }),
        post(7, { resourceType: 'Device', patient: { reference: urn(2) } }),
        post(8, { resourceType: 'Provenance', target: [{ reference: urn(3) }] }),
      ),
      'hash',
      'file.json',
    );
    expect(plan.faults).to.deep.equal([]);
    expect(plan.directory.map(({ type }) => type)).to.deep.equal(['Organization', 'Device']);
    const units = plan.records.map(({ entries }) => entries.map(({ type }) => type).sort());
    expect(units).to.deep.equal([
      ['Observation', 'Patient', 'Provenance'],
      ['Condition', 'Device', 'Patient'],
    ]);
  });

  it('drops and counts what the service does not keep, and knows what it was called', () => {
    const plan = planBundle(
      bundle(
        post(1, { resourceType: 'Patient' }),
        post(2, { resourceType: 'ServiceRequest', code: { text: 'Lipids' }, subject: { reference: urn(1) } }),
        post(3, { resourceType: 'ValueSet' }),
        post(4, { resourceType: 'ServiceRequest' }),
      ),
      'hash',
      'file.json',
    );
    expect([...plan.skipped]).to.deep.equal([
      ['ServiceRequest', 2],
      ['ValueSet', 1],
    ]);
    expect(plan.scope(urn(2))).to.deep.equal({
      kind: 'dropped',
      uri: urn(2),
      type: 'ServiceRequest',
      display: 'Lipids',
    });
  });

  it('names the place of what has no place in a record', () => {
    const plan = planBundle(
      bundle(
        post(1, { resourceType: 'Patient' }),
        post(2, { resourceType: 'Observation' }),
        post(3, { resourceType: 'Observation', subject: { reference: urn(9) } }),
        { resource: { resourceType: 'Patient' }, request: { method: 'DELETE', url: 'Patient/1' } },
        post(5, {}),
      ),
      'hash',
      'file.json',
    );
    expect(plan.faults.map(({ place }) => place).sort()).to.deep.equal([
      'file.json, entry 2',
      'file.json, entry 3',
      'file.json, entry 4',
      'file.json, entry 5',
    ]);
  });

  it('refuses Bundles that are no set of current resources', () => {
    const plan = planBundle({ resourceType: 'Bundle', type: 'history', entry: [] }, 'hash', 'file.json');
    expect(plan.faults).to.have.length(1);
  });

  it('keeps keys of different files apart', () => {
    const one = planBundle(bundle(post(1, { resourceType: 'Patient' })), 'one', 'a.json');
    const two = planBundle(bundle(post(1, { resourceType: 'Patient' })), 'two', 'b.json');
    expect(one.records[0]?.patient).not.to.equal(two.records[0]?.patient);
  });
});

describe('bundles whose ids mean something across files', () => {
  const put = (id: string, resource: JsonObject): JsonObject => ({
    fullUrl: `https://old.example/fhir/${id}`,
    resource,
    request: { method: 'PUT', url: id },
  });

  it('are told from self-contained ones', () => {
    expect(isSelfContained([put('Patient/1', { resourceType: 'Patient' })])).to.equal(false);
    expect(isSelfContained([post(1, { resourceType: 'Patient' })])).to.equal(true);
    expect(isSelfContained([{ fullUrl: 'https://old.example/fhir/Patient/1', resource: {} }])).to.equal(
      false,
    );
    expect(isSelfContained([{ fullUrl: urn(1), resource: {} }])).to.equal(true);
  });

  it('give their resources by Type/id, with absolute links made relative', () => {
    const { resources } = namedResources(
      bundle(
        put('Patient/1', { resourceType: 'Patient' }),
        put('Observation/2', {
          resourceType: 'Observation',
          subject: { reference: 'https://old.example/fhir/Patient/1' },
        }),
      ),
      'file.json',
    );
    expect(resources.map(({ key }) => key)).to.deep.equal(['Patient/1', 'Observation/2']);
    expect(resources[1]?.resource.subject).to.deep.equal({ reference: 'Patient/1' });
  });
});

describe('the home of a resource', () => {
  it('comes from the table of types', () => {
    expect(findHome({ resourceType: 'Claim' })).to.deep.equal({ kind: 'skipped', why: 'unsupported' });
    expect(findHome({ resourceType: 'CodeSystem' })).to.deep.equal({ kind: 'skipped', why: 'read-only' });
    expect(findHome({ resourceType: 'Location' }).kind).to.equal('directory');
    expect(findHome({ resourceType: 'Immunization', patient: { reference: 'Patient/1' } })).to.deep.equal({
      kind: 'record',
      owner: 'Patient/1',
    });
    expect(findHome({ resourceType: 'Observation', subject: { display: 'somebody' } }).kind).to.equal(
      'fault',
    );
  });

  it('in the pool is the patient that the owner names', () => {
    const record = findHome({ resourceType: 'Observation', subject: { reference: 'Patient/1/_history/2' } });
    expect(pooledOwner(record, 'Observation/1')).to.deep.equal({ owner: 'Patient/1' });
    const group = findHome({ resourceType: 'Observation', subject: { reference: 'Group/1' } });
    expect(pooledOwner(group, 'Observation/1')).to.have.property('diagnostics');
  });
});
