/**
 * The FHIR interface's URLs: which interactions a path has. One table for requests and for the GET entries of Bundles.
 * https://hl7.org/fhir/R4/http.html#summary
 */
import { type Compartment, isCompartmentType } from '#src/fhir/compartments.ts';
import { isR4ResourceType } from '#src/fhir/definitions/tables.ts';
import { isResourceType, type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { unsupportedType } from '#src/fhir/unsupported-type.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import type { GrantToken, Opening } from '../grant/opening.ts';
import { type Found, routeFor } from '../pipeline.ts';
import { processBundle } from './bundle/bundle.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { historyOfInstance, historyOfSystem, historyOfType } from './history.ts';
import { metadata } from './metadata.ts';
import { type Operation, operationAt } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { patch } from './patch.ts';
import { read } from './read.ts';
import type { FhirRequest, FhirWrite, FindInteraction, Interaction } from './request.ts';
import { search, searchCompartment, searchSystem, searchWholeCompartment } from './search.ts';
import { update } from './update.ts';
import { vread } from './vread.ts';

/** A path, understood. */
export type Route = Found<Interaction>;

/** Interactions look at the read models themselves: which ones they read depends on their parameters. */
const models: readonly string[] = [];
const READ = ['read'] as const;
const WRITE = ['write'] as const;

const reads = (grantToken: GrantToken, run: (request: FhirRequest) => Promise<Answer>): Interaction => ({
  kind: 'read',
  credential: 'api_key',
  scopes: READ,
  models,
  logged: 'whole',
  ahead: 'read',
  grantToken,
  run,
});
const forms = (grantToken: GrantToken, run: (request: FhirRequest) => Promise<Answer>): Interaction => ({
  kind: 'form',
  credential: 'api_key',
  scopes: READ,
  models,
  logged: 'whole',
  ahead: 'nothing',
  grantToken,
  run,
});
const writes = (
  of: Pick<Extract<Interaction, { kind: 'write' }>, 'grantToken' | 'needs'>,
  takes: 'nothing' | 'resource' | 'patch',
  run: (request: FhirWrite) => Promise<Answer>,
): Interaction => ({
  kind: 'write',
  credential: 'api_key',
  scopes: WRITE,
  models,
  logged: 'nothing',
  ahead: takes === 'resource' ? 'write' : 'nothing',
  ...of,
  takes,
  run,
});

/** Returns the requirements on a grant of a request about one type, or one resource of it. */
const ofType = (
  action: string,
  type: ResourceType,
  letters: 'r' | 's',
  id: string | null = null,
): Opening => ({
  action,
  needs: [{ type, letters }],
  type,
  id,
});
/** The letter that a write needs, by its interaction. */
const LETTERS = { create: 'c', update: 'u', patch: 'u', delete: 'd' } as const;

/**
 * Returns the requirements of a write of a type, or of one resource of it. Without an id a change is conditional. No
 * grant lets an application create a Patient, or write to the directory.
 */
const ofWrite = (
  action: keyof typeof LETTERS,
  type: ResourceType,
  id: string | null = null,
): Pick<Extract<Interaction, { kind: 'write' }>, 'grantToken' | 'needs'> => {
  const letters = LETTERS[action] + (id === null && action !== 'create' ? 's' : '');
  const needs = [{ type, letters }];
  if (typeEntry(type).home === 'directory' || (type === 'Patient' && action === 'create'))
    return { grantToken: 'refused', needs };
  return { grantToken: { action, needs, type, id, writes: true }, needs };
};
/** Returns the requirements of a request about all types: those that lack a letter are left out. */
const ofAll = (action: string): Opening => ({ action, needs: [], type: null, id: null });
/** Returns the requirements of a search of a compartment: its resource must be readable. */
const inCompartment = (action: string, { type, id }: Compartment, searched?: ResourceType): Opening => ({
  action,
  needs: [{ type, letters: 'r' }, ...(searched === undefined ? [] : [{ type: searched, letters: 's' }])],
  type: searched ?? null,
  id,
});

/**
 * Returns the route of a path below the base.
 * @param segments of the path, decoded; none for the base itself
 * @param operations the known operations
 * @throws Refusal not_found (404): code `not-supported` for an unknown type or operation
 */
export function matchRoute(segments: readonly string[], operations = OPERATIONS): Route {
  const [first, second, third, fourth] = segments;
  if (first === undefined) return BASE;
  if (segments.length === 1 && first === 'metadata') return METADATA;
  if (segments.length === 1 && first === '_history') return SYSTEM_HISTORY;
  if (segments.length === 1 && first === '_search') return SYSTEM_SEARCH;
  if (segments.length <= 3 && segments.at(-1)?.startsWith('$')) return operationRoute(segments, operations);
  if (!isResourceType(first)) throw unsupported(unsupportedType(first));
  const type = first;
  const readOnly = typeEntry(type).home === 'terminology';
  if (second === undefined) return typeRoute(type, readOnly);
  if (third === undefined) {
    if (second === '_history') {
      const GET = reads(ofType('history-type', type, 's'), (r) => historyOfType(r, type));
      return { pattern: '/:type/_history', methods: readOnly ? {} : { GET } };
    }
    if (second === '_search')
      return {
        pattern: '/:type/_search',
        methods: { POST: forms(ofType('search-type', type, 's'), (r) => search(r, type)) },
      };
    return instanceRoute(type, second, readOnly);
  }
  if (third === '_history') {
    if (fourth === undefined) {
      const GET = reads(ofType('history-instance', type, 'r', second), (r) =>
        historyOfInstance(r, type, second),
      );
      return { pattern: '/:type/:id/_history', methods: readOnly ? {} : { GET } };
    }
    if (segments.length === 4) {
      return {
        pattern: '/:type/:id/_history/:vid',
        methods: { GET: reads(ofType('vread', type, 'r', second), (r) => vread(r, type, second, fourth)) },
      };
    }
  }
  if (isCompartmentType(type) && segments.length <= 4)
    return compartmentRoute({ type, id: second }, third, fourth);
  throw noSuchUrl();
}

/** `$name`, `Type/$name`, `Type/id/$name`. */
function operationRoute(segments: readonly string[], operations: readonly Operation[]): Route {
  const name = segments.at(-1) ?? '';
  const [type, id] = segments.slice(0, -1);
  const known = type === undefined || isResourceType(type) ? type : undefined;
  if (type !== known && !isR4ResourceType(type ?? '')) throw unsupported(unsupportedType(type ?? ''));
  const { methods, grantToken, run } = operationAt(
    operations,
    name,
    known,
    id,
    type === known ? undefined : type,
  );
  const POST: Interaction = {
    kind: 'operation',
    credential: 'api_key',
    scopes: READ,
    models,
    logged: 'whole',
    ahead: 'nothing',
    grantToken,
    run,
  };
  const place = ['', '/:type', '/:type/:id'][segments.length - 1];
  return {
    pattern: `${place}/${name}`,
    methods: {
      ...(methods.includes('GET') ? { GET: reads(grantToken, (request) => run(request, undefined)) } : {}),
      ...(methods.includes('POST') ? { POST } : {}),
    },
  };
}

/** Finds the interaction of a Bundle's GET entry. */
const find: FindInteraction = (segments, method) => routeFor(matchRoute(segments).methods, method);

const BASE: Route = {
  pattern: '/',
  methods: {
    GET: reads(ofAll('search-system'), searchSystem),
    POST: {
      kind: 'write',
      takes: 'bundle',
      credential: 'api_key',
      models,
      // Its entries need scopes, and are logged one by one.
      scopes: [],
      logged: 'parts',
      ahead: 'nothing',
      grantToken: { ...ofAll('bundle'), inParts: true },
      run: (request) => processBundle(request, find),
    },
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
      models,
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

function typeRoute(type: ResourceType, readOnly: boolean): Route {
  const GET = reads(ofType('search-type', type, 's'), (request) => search(request, type));
  if (readOnly) return { pattern: '/:type', methods: { GET } };
  return {
    pattern: '/:type',
    methods: {
      GET,
      POST: writes(ofWrite('create', type), 'resource', (request) => create(request, type)),
      PUT: writes(ofWrite('update', type), 'resource', (request) => update(request, type)),
      PATCH: writes(ofWrite('patch', type), 'patch', (request) => patch(request, type)),
      DELETE: writes(ofWrite('delete', type), 'nothing', (request) => remove(request, type)),
    },
  };
}

function instanceRoute(type: ResourceType, id: string, readOnly: boolean): Route {
  const GET = reads(ofType('read', type, 'r', id), (request) => read(request, type, id));
  if (readOnly) return { pattern: '/:type/:id', methods: { GET } };
  return {
    pattern: '/:type/:id',
    methods: {
      GET,
      PUT: writes(ofWrite('update', type, id), 'resource', (request) => update(request, type, id)),
      PATCH: writes(ofWrite('patch', type, id), 'patch', (request) => patch(request, type, id)),
      DELETE: writes(ofWrite('delete', type, id), 'nothing', (request) => remove(request, type, id)),
    },
  };
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
  if (last === undefined) return { pattern: `${pattern}/:type`, methods: { GET: reads(opening, run) } };
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
