/** Every route and interaction states whether it accepts a grant's access token, and at least one does. */
import { expect } from 'chai';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { type Route as ApiRoute, route } from '#src/http/api/route.ts';
import type { Operation } from '#src/http/fhir/operation.ts';
import { OPERATIONS } from '#src/http/fhir/operations.ts';
import type { Interaction } from '#src/http/fhir/request.ts';
import { matchRoute } from '#src/http/fhir/route.ts';
import type { Opening } from '#src/http/grant/opening.ts';
import { FHIR_SHAPES } from '#src/http/openapi/fhir-texts.ts';
import { ROUTES } from '#src/http/routes.ts';

const answer = async (..._: readonly unknown[]) => ({ status: 204, headers: {} });
const OPENING: Opening = {
  action: 'read',
  needs: [{ type: 'Observation', letters: 'r' }],
  type: 'Observation',
  id: 'x',
};
const described = { summary: '', tag: 'Service', answers: {}, run: async () => ({ status: 204 }) } as const;

describe('the statement whether a grant’s token is taken', () => {
  it('is part of a route: one without it doesn’t compile', () => {
    const stated: ApiRoute = route({
      ...described,
      method: 'GET',
      path: '/v1/stated',
      operationId: 'stated',
      credential: 'api_key',
      grantToken: 'refused',
    });
    // @ts-expect-error it says nothing of grants
    const unstated: ApiRoute = route({
      ...described,
      method: 'GET',
      path: '/v1/unstated',
      operationId: 'unstated',
      credential: 'api_key',
    });
    expect([stated, unstated].map((each) => 'grantToken' in each)).to.deep.equal([true, false]);
  });

  it('is part of an interaction and of an operation: one without it doesn’t compile', () => {
    const declared = {
      credential: 'api_key',
      scopes: [],
      models: [],
      logged: 'nothing',
      ahead: 'nothing',
    } as const;
    const all: Interaction[] = [
      { ...declared, kind: 'read', grantToken: 'refused', run: answer },
      { ...declared, kind: 'read', grantToken: OPENING, run: answer },
      // @ts-expect-error it says nothing of grants
      { ...declared, kind: 'read', run: answer },
      // @ts-expect-error it says nothing of grants
      { ...declared, kind: 'form', run: answer },
      // @ts-expect-error it says nothing of grants
      { ...declared, kind: 'operation', run: answer },
      // @ts-expect-error it says nothing of grants
      { ...declared, kind: 'write', takes: 'nothing', run: answer },
      // @ts-expect-error it doesn't say what it needs
      { ...declared, kind: 'read', grantToken: 'accepted', run: answer },
      // @ts-expect-error it states no letters
      { ...declared, kind: 'read', grantToken: { action: 'read', type: null, id: null }, run: answer },
    ];
    const common = { name: 'look', definition: 'x', parameters: [], run: answer };
    // @ts-expect-error it says nothing of grants
    const operation: Operation = { ...common, methods: ['GET'] };
    expect([all.length, 'grantToken' in operation]).to.deep.equal([8, false]);
  });

  it('is taken by routes of REST v1 (test/http/grant-gate.test.ts lists them), operations, reads and the writes that a letter allows', () => {
    const open = ROUTES.filter(({ grantToken }) => grantToken !== 'refused');
    expect(open.map(({ operationId }) => operationId)).to.include.members([
      'getPatient',
      'createObservation',
    ]);
    expect(OPERATIONS.filter(({ grantToken }) => grantToken === 'refused')).to.deep.equal([]);
    const stated = statedAt(TYPE_NAMES);
    const refused = [...stated].flatMap(([place, token]) => (token === 'refused' ? [place] : []));
    const directory = TYPE_NAMES.filter((type) => typeEntry(type).home === 'directory');
    const places = (type: string) =>
      ['POST', 'PUT', 'PATCH', 'DELETE'].flatMap((method) =>
        [`${method} /${type}`, `${method} /${type}/x`].filter((place) => place !== `POST /${type}/x`),
      );
    expect(refused.filter((place) => !place.includes('$'))).to.have.members([
      'POST /Patient',
      ...directory.flatMap(places),
    ]);
    expect([...stated].filter(([, token]) => token === 'ignored').map(([place]) => place)).to.deep.equal([
      'GET /metadata',
    ]);
  });

  it('says which letters of which type a request needs', () => {
    const stated = statedAt(['Observation']);
    const needs = [...stated].flatMap(([place, token]) =>
      token === 'refused' || token === 'ignored' || place.includes('$')
        ? []
        : [
            `${place} ${token.action} ${token.needs.map(({ type, letters }) => `${type}.${letters}`).join(' ')}`,
          ],
    );
    expect(needs).to.deep.equal([
      'GET / search-system ',
      'POST / bundle ',
      'GET /_history history-system ',
      'POST /_search search-system ',
      'GET /Observation search-type Observation.s',
      'POST /Observation create Observation.c',
      'PUT /Observation update Observation.us',
      'PATCH /Observation patch Observation.us',
      'DELETE /Observation delete Observation.ds',
      'POST /Observation/_search search-type Observation.s',
      'GET /Observation/_history history-type Observation.s',
      'GET /Observation/x read Observation.r',
      'PUT /Observation/x update Observation.u',
      'PATCH /Observation/x patch Observation.u',
      'DELETE /Observation/x delete Observation.d',
      'GET /Observation/x/_history history-instance Observation.r',
      'GET /Observation/x/_history/1 vread Observation.r',
      'GET /Patient/x/* search-compartment Patient.r',
      'POST /Patient/x/_search search-compartment Patient.r',
      'POST /Patient/x/*/_search search-compartment Patient.r',
      'GET /Patient/x/Observation search-compartment Patient.r Observation.s',
      'POST /Patient/x/Observation/_search search-compartment Patient.r Observation.s',
      'GET /Encounter/x/* search-compartment Encounter.r',
      'POST /Encounter/x/_search search-compartment Encounter.r',
      'POST /Encounter/x/*/_search search-compartment Encounter.r',
      'GET /Encounter/x/Observation search-compartment Encounter.r Observation.s',
      'POST /Encounter/x/Observation/_search search-compartment Encounter.r Observation.s',
      'GET /RelatedPerson/x/* search-compartment RelatedPerson.r',
      'POST /RelatedPerson/x/_search search-compartment RelatedPerson.r',
      'POST /RelatedPerson/x/*/_search search-compartment RelatedPerson.r',
      'GET /RelatedPerson/x/Observation search-compartment RelatedPerson.r Observation.s',
      'POST /RelatedPerson/x/Observation/_search search-compartment RelatedPerson.r Observation.s',
      'GET /Practitioner/x/* search-compartment Practitioner.r',
      'POST /Practitioner/x/_search search-compartment Practitioner.r',
      'POST /Practitioner/x/*/_search search-compartment Practitioner.r',
      'GET /Practitioner/x/Observation search-compartment Practitioner.r Observation.s',
      'POST /Practitioner/x/Observation/_search search-compartment Practitioner.r Observation.s',
      'GET /Device/x/* search-compartment Device.r',
      'POST /Device/x/_search search-compartment Device.r',
      'POST /Device/x/*/_search search-compartment Device.r',
      'GET /Device/x/Observation search-compartment Device.r Observation.s',
      'POST /Device/x/Observation/_search search-compartment Device.r Observation.s',
    ]);
  });
});

/** Returns what every place in the FHIR interface states, for the given types. */
function statedAt(types: readonly string[]): ReadonlyMap<string, Interaction['grantToken']> {
  const places = ['/', ...FHIR_SHAPES.filter((shape) => shape !== '')].flatMap((shape) =>
    types.map((type) => shape.replace('{resource_type}', type).replace('{rid}', 'x').replace('{vid}', '1')),
  );
  return new Map(
    [...new Set(places)].flatMap((place) =>
      Object.entries(matchRoute(place.split('/').slice(1).filter(Boolean)).methods).map(
        ([method, { grantToken }]) => [`${method} ${place}`, grantToken] as const,
      ),
    ),
  );
}
