/** The model that big tests rely on: it must notice every kind of fault that these tests look for. */
import { expect } from 'chai';
import { type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { Model, type ModelResource, type ShownVersion } from '../support/model.ts';

const body = (marker: string): JsonObject => ({
  resourceType: 'Observation',
  identifier: [{ value: marker }],
});
const shown = (version: number, operation: ShownVersion['operation'], marker?: string): ShownVersion => ({
  version,
  operation,
  ...(marker !== undefined && {
    body: {
      ...body(marker),
      id: 'o',
      meta: { versionId: String(version), lastUpdated: '2024-01-01T00:00:00Z' },
    },
  }),
});

describe('the model of big tests', () => {
  let model: Model;
  let resource: ModelResource;
  const faultsOf = (...history: readonly ShownVersion[]): string[] => [
    ...model.faults,
    ...model.compare(resource, history).faults,
  ];

  beforeEach(() => {
    model = new Model();
    resource = model.created('Observation', 'o', 'p', 1, body('a'));
  });

  it('agrees with a history of what was acknowledged', () => {
    model.updated(resource, 2, body('b'), 1);
    model.deleted(resource, 3);
    model.deleted(resource, 3);
    model.updated(resource, 4, body('c'));
    const history = [
      shown(1, 'CREATE', 'a'),
      shown(2, 'UPDATE', 'b'),
      shown(3, 'DELETE'),
      shown(4, 'UPDATE', 'c'),
    ];
    expect(faultsOf(...history)).to.deep.equal([]);
  });

  it('accepts acknowledgements in any order', () => {
    model.updated(resource, 3, body('c'));
    model.updated(resource, 2, body('b'));
    expect(resource).to.include({ latest: 3, deleted: false });
    expect(faultsOf(shown(1, 'CREATE', 'a'), shown(2, 'UPDATE', 'b'), shown(3, 'UPDATE', 'c'))).to.deep.equal(
      [],
    );
  });

  it('notices a lost version', () => {
    model.updated(resource, 2, body('b'));
    expect(faultsOf(shown(1, 'CREATE', 'a'))).to.have.length(1);
  });

  it('notices a version that nobody wrote', () => {
    expect(faultsOf(shown(1, 'CREATE', 'a'), shown(2, 'UPDATE', 'b'))).to.have.length(1);
  });

  it('notices a gap', () => {
    model.updated(resource, 3, body('b'));
    expect(faultsOf(shown(1, 'CREATE', 'a'), shown(3, 'UPDATE', 'b'))).not.to.deep.equal([]);
  });

  it('notices another body, be it by a literal', () => {
    const exact = parseJson('{"resourceType":"Observation","valueQuantity":{"value":1.50}}')
      .value as JsonObject;
    model.updated(resource, 2, exact);
    const rounded = {
      ...shown(2, 'UPDATE'),
      body: { resourceType: 'Observation', valueQuantity: { value: 1.5 } },
    };
    expect(faultsOf(shown(1, 'CREATE', 'a'), rounded)).to.have.length(1);
    expect(faultsOf(shown(1, 'CREATE', 'b'), { ...rounded, body: exact })).to.have.length(1);
  });

  it('notices an operation of another kind', () => {
    model.updated(resource, 2, body('b'));
    expect(faultsOf(shown(1, 'CREATE', 'a'), shown(2, 'DELETE'))).not.to.deep.equal([]);
  });

  it('notices two writes that were told one version', () => {
    model.updated(resource, 2, body('b'));
    model.updated(resource, 2, body('c'));
    expect(model.faults).to.have.length(1);
  });

  it('notices an If-Match that let another version through', () => {
    model.updated(resource, 5, body('b'), 3);
    expect(model.faults).to.have.length(1);
  });

  it('notices a 412 that no other write explains', () => {
    model.refusedMatch(resource, 1);
    expect(faultsOf(shown(1, 'CREATE', 'a'))).to.have.length(1);
    model.updated(resource, 2, body('b'));
    expect(faultsOf(shown(1, 'CREATE', 'a'), shown(2, 'UPDATE', 'b'))).to.deep.equal([]);
  });

  it('notices a create that happened twice, or is not version 1', () => {
    model.created('Observation', 'o', 'p', 1, body('a'));
    model.created('Observation', 'q', 'p', 2, body('a'));
    expect(model.faults).to.have.length(2);
  });

  it('lets a write without answer happen once or not at all', () => {
    model.lost(resource, 'UPDATE', body('b'));
    expect(faultsOf(shown(1, 'CREATE', 'a'))).to.deep.equal([]);
    expect(faultsOf(shown(1, 'CREATE', 'a'), shown(2, 'UPDATE', 'b'))).to.deep.equal([]);
    const twice = [shown(1, 'CREATE', 'a'), shown(2, 'UPDATE', 'b'), shown(3, 'UPDATE', 'b')];
    expect(faultsOf(...twice)).to.have.length(1);
  });

  it('tells which updates of a transaction without answer happened', () => {
    model.lost(resource, 'UPDATE', body('b'), 7);
    model.lost(resource, 'DELETE', undefined, 8);
    const history = [shown(1, 'CREATE', 'a'), shown(2, 'UPDATE', 'b'), shown(3, 'DELETE')];
    expect(model.compare(resource, history).happened).to.deep.equal([7]);
  });
});
