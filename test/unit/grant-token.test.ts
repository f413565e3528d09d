/** Every route and interaction states whether it takes an access token of a grant, and one of them does. */
import { expect } from 'chai';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { type Route as ApiRoute, route } from '#src/http/api/route.ts';
import type { Operation } from '#src/http/fhir/operation.ts';
import { OPERATIONS } from '#src/http/fhir/operations.ts';
import type { Interaction } from '#src/http/fhir/request.ts';
import { routeOf } from '#src/http/fhir/route.ts';
import { FHIR_SHAPES } from '#src/http/openapi/fhir-texts.ts';
import { ROUTES } from '#src/http/routes.ts';

const answer = async (..._: readonly unknown[]) => ({ status: 204, headers: {} });
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
    const all: Interaction[] = [
      { kind: 'read', grantToken: 'refused', run: answer },
      { kind: 'read', grantToken: 'accepted', run: answer, underGrant: answer },
      // @ts-expect-error it says nothing of grants
      { kind: 'read', run: answer },
      // @ts-expect-error it says nothing of grants
      { kind: 'form', run: answer },
      // @ts-expect-error it says nothing of grants
      { kind: 'operation', run: answer },
      // @ts-expect-error it says nothing of grants
      { kind: 'write', takes: 'nothing', run: answer },
      // @ts-expect-error it has no answer for a grant
      { kind: 'read', grantToken: 'accepted', run: answer },
      // @ts-expect-error writes take no grant
      { kind: 'write', grantToken: 'accepted', takes: 'nothing', run: answer },
    ];
    const common = { name: 'look', definition: 'x', parameters: [], run: answer };
    // @ts-expect-error it says nothing of grants
    const operation: Operation = { ...common, methods: ['GET'] };
    expect([all.length, 'grantToken' in operation]).to.deep.equal([8, false]);
  });

  it('says yes once: read of Patient', () => {
    expect(ROUTES.filter(({ grantToken }) => grantToken !== 'refused')).to.deep.equal([]);
    expect(OPERATIONS.filter(({ grantToken }) => grantToken !== 'refused')).to.deep.equal([]);
    const places = ['/', ...FHIR_SHAPES].flatMap((shape) =>
      TYPE_NAMES.map((type) =>
        shape.replace('{resource_type}', type).replace('{rid}', 'x').replace('{vid}', '1'),
      ),
    );
    const stated = new Map<string, Set<string>>();
    for (const place of new Set(places)) {
      for (const [method, { grantToken }] of Object.entries(
        routeOf(place.split('/').slice(1).filter(Boolean)).methods,
      ))
        stated.set(grantToken, (stated.get(grantToken) ?? new Set()).add(`${method} ${place}`));
    }
    expect([...(stated.get('accepted') ?? [])]).to.deep.equal(['GET /Patient/x']);
    expect([...(stated.get('ignored') ?? [])]).to.deep.equal(['GET /metadata']);
    expect(stated.get('refused')?.size).to.be.greaterThan(200);
  });
});
