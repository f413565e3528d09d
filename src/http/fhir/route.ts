/**
 * Finds the interactions for a path in the FHIR interface. Requests and Bundles' GET entries use the same table.
 * https://hl7.org/fhir/R4/http.html#summary
 */
import { type Compartment, isCompartmentType } from '#src/fhir/compartments.ts';
import { isR4ResourceType } from '#src/fhir/definitions/tables.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { unsupportedType } from '#src/fhir/unsupported-type.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { routeFor } from '../pipeline.ts';
import { processBundle } from './bundle/bundle.ts';
import { historyOfSystem } from './history.ts';
import {
  bundles,
  declareType,
  forms,
  inCompartment,
  ofAll,
  operations,
  type Route,
  reads,
  readsOfPast,
  type TypeRoutes,
} from './interactions.ts';
import { metadata } from './metadata.ts';
import { type Operation, operationAt } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import type { FhirRequest, FindInteraction } from './request.ts';
import { searchCompartment, searchSystem, searchWholeCompartment } from './search.ts';

/**
 * Returns the route for a path below the base.
 * @param segments the path's decoded segments; empty for the base itself
 * @param table the known operations
 * @throws Refusal not_found (404): code `not-supported` for an unknown type or operation
 */
export function matchRoute(segments: readonly string[], table = OPERATIONS): Route {
  const [first, second, third, fourth] = segments;
  if (first === undefined) return BASE;
  if (segments.length === 1 && first === 'metadata') return METADATA;
  if (segments.length === 1 && first === '_history') return SYSTEM_HISTORY;
  if (segments.length === 1 && first === '_search') return SYSTEM_SEARCH;
  if (segments.length <= 3 && segments.at(-1)?.startsWith('$')) return operationRoute(segments, table);
  if (!isResourceType(first)) throw unsupported(unsupportedType(first));
  const type = first;
  const routes = makeRoutes(type);
  if (second === undefined) return routes.type;
  if (third === undefined) {
    if (second === '_history') return routes.history;
    return second === '_search' ? routes.form : routes.instance;
  }
  if (third === '_history') {
    if (fourth === undefined) return routes.instanceHistory;
    if (segments.length === 4) return routes.version;
  }
  if (isCompartmentType(type) && segments.length <= 4)
    return compartmentRoute({ type, id: second }, third, fourth);
  throw noSuchUrl();
}

/** Handles `$name`, `Type/$name` and `Type/id/$name`. */
function operationRoute(segments: readonly string[], table: readonly Operation[]): Route {
  const name = segments.at(-1) ?? '';
  const [type, id] = segments.slice(0, -1);
  const known = type === undefined || isResourceType(type) ? type : undefined;
  if (type !== known && !isR4ResourceType(type ?? '')) throw unsupported(unsupportedType(type ?? ''));
  const { methods, grantToken, run } = operationAt(table, name, known, id, type === known ? undefined : type);
  const place = ['', '/:type', '/:type/:id'][segments.length - 1];
  return {
    pattern: `${place}/${name}`,
    methods: {
      // The operation itself decides whether to accept `_asOf`, which may be in its Parameters.
      ...(methods.includes('GET')
        ? { GET: readsOfPast(grantToken, (request) => run(request, undefined)) }
        : {}),
      ...(methods.includes('POST') ? { POST: operations(grantToken, run) } : {}),
    },
  };
}

/** Finds the interaction for a Bundle's GET entry. */
const find: FindInteraction = (segments, method) => routeFor(matchRoute(segments).methods, method);

const BASE: Route = {
  pattern: '/',
  methods: {
    GET: reads(ofAll('search-system'), searchSystem),
    POST: bundles((request) => processBundle(request, find)),
  },
};
const SYSTEM_SEARCH: Route = {
  pattern: '/_search',
  methods: { POST: forms(ofAll('search-system'), searchSystem) },
};
const METADATA: Route = {
  pattern: '/metadata',
  methods: {
    GET: {
      kind: 'open',
      credential: 'none',
      scopes: [],
      models: [],
      logged: 'nothing',
      ahead: 'nothing',
      grantToken: 'ignored',
      run: metadata,
    },
  },
};
const SYSTEM_HISTORY: Route = {
  pattern: '/_history',
  methods: { GET: reads(ofAll('history-system'), historyOfSystem) },
};

const declared = new Map<ResourceType, TypeRoutes>();

function makeRoutes(type: ResourceType): TypeRoutes {
  const known = declared.get(type);
  if (known !== undefined) return known;
  const routes = declareType(type);
  declared.set(type, routes);
  return routes;
}

function compartmentRoute(compartment: Compartment, type: string, last: string | undefined): Route {
  const pattern = `/${compartment.type}/:id`;
  const all = (request: FhirRequest) => searchWholeCompartment(request, compartment);
  const ofWhole = inCompartment('search-compartment', compartment);
  if (type === '*' && last === undefined)
    return { pattern: `${pattern}/*`, methods: { GET: reads(ofWhole, all) } };
  if ((type === '*' && last === '_search') || (type === '_search' && last === undefined))
    return { pattern: `${pattern}/_search`, methods: { POST: forms(ofWhole, all) } };
  if (!isResourceType(type)) throw unsupported(unsupportedType(type));
  const run = (request: FhirRequest) => searchCompartment(request, compartment, type);
  const opening = inCompartment('search-compartment', compartment, type);
  if (last === undefined)
    return {
      pattern: `${pattern}/:type`,
      methods: { GET: (compartment.type === 'Patient' ? readsOfPast : reads)(opening, run) },
    };
  if (last === '_search')
    return { pattern: `${pattern}/:type/_search`, methods: { POST: forms(opening, run) } };
  throw noSuchUrl();
}

function unsupported(diagnostics: string): Refusal {
  return new Refusal('not_found', { code: 'not-supported', diagnostics });
}

function noSuchUrl(): Refusal {
  return new Refusal('not_found', { code: 'not-found', diagnostics: "this URL doesn't exist" });
}
