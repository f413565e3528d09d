/**
 * Declares the FHIR interactions: what each requires of a caller and of a grant, and which function it runs. The interactions
 * for a type are created once; they receive the ids in a path as arguments.
 */
import type { Compartment } from '#src/fhir/compartments.ts';
import { type ResourceType, typeEntry } from '#src/fhir/types.ts';
import type { ParsedJson } from '#src/shared/json/json.ts';
import type { Answer } from '../answer/answer.ts';
import type { GrantToken, Opening } from '../grant/opening.ts';
import type { Found } from '../pipeline.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { historyOfInstance, historyOfType } from './history.ts';
import { patch } from './patch.ts';
import { read } from './read.ts';
import type { FhirRequest, FhirWrite, Interaction } from './request.ts';
import { search } from './search.ts';
import { update } from './update.ts';
import { vread } from './vread.ts';

/** A path, understood. */
export type Route = Found<Interaction>;

/** Interactions check the read models themselves, because it depends on their parameters which models they read. */
const models: readonly string[] = [];
const READ = ['read'] as const;
const WRITE = ['write'] as const;

type ReadInteraction = Extract<Interaction, { kind: 'read' }>;
type Run = (request: FhirRequest, segments: readonly string[]) => Promise<Answer>;

/** Declares a read via GET. */
export const reads = (grantToken: GrantToken, run: Run, ofInstance = false): ReadInteraction => ({
  kind: 'read',
  credential: 'api_key',
  scopes: READ,
  models,
  logged: 'whole',
  ahead: 'read',
  grantToken,
  ofInstance,
  run,
});

/** Declares a read via GET that supports reading as of an earlier time. */
export const readsOfPast = (grantToken: GrantToken, run: Run, ofInstance = false): Interaction => ({
  ...reads(grantToken, run, ofInstance),
  takesAsOf: true,
});

/** Declares a search via POST with a form. */
export const forms = (grantToken: GrantToken, run: Run): Interaction => ({
  kind: 'form',
  credential: 'api_key',
  scopes: READ,
  models,
  logged: 'whole',
  ahead: 'nothing',
  grantToken,
  run,
});

/** Declares an operation via POST, with a resource or without a body. */
export const operations = (
  grantToken: GrantToken,
  run: (request: FhirRequest, body: ParsedJson | undefined) => Promise<Answer>,
): Interaction => ({
  kind: 'operation',
  credential: 'api_key',
  scopes: READ,
  models,
  logged: 'whole',
  ahead: 'nothing',
  // Each operation checks this itself, because its Parameters may contain `_asOf`.
  takesAsOf: true,
  grantToken,
  run,
});

/** Declares a transaction or batch. Scopes are checked and access is logged for each entry separately. */
export const bundles = (run: (request: FhirWrite) => Promise<Answer>): Interaction => ({
  kind: 'write',
  takes: 'bundle',
  credential: 'api_key',
  scopes: [],
  models,
  logged: 'parts',
  ahead: 'nothing',
  grantToken: { ...ofAll('bundle'), inParts: true },
  run,
});

/** The letter that a write needs, by interaction. */
const LETTERS = { create: 'c', update: 'u', patch: 'u', delete: 'd' } as const;

/**
 * Declares a write to a type, or to one of its resources; a change without an id is conditional. A grant never lets an
 * application create a Patient or write to the directory.
 */
const writes = (
  action: keyof typeof LETTERS,
  type: ResourceType,
  takes: 'nothing' | 'resource' | 'patch',
  run: (request: FhirWrite, segments: readonly string[]) => Promise<Answer>,
  ofInstance = false,
): Interaction => {
  const letters = LETTERS[action] + (ofInstance || action === 'create' ? '' : 's');
  const needs = [{ type, letters }];
  const closed = typeEntry(type).home === 'directory' || (type === 'Patient' && action === 'create');
  return {
    kind: 'write',
    takes,
    credential: 'api_key',
    scopes: WRITE,
    models,
    logged: 'nothing',
    ahead: takes === 'resource' ? 'write' : 'nothing',
    grantToken: closed ? 'refused' : { action, needs, type, id: null, writes: true },
    needs,
    ofInstance,
    run,
  };
};

/** Returns what a request for all types requires: it leaves out the types for which a letter is missing. */
export const ofAll = (action: string): Opening => ({ action, needs: [], type: null, id: null });
/** Returns what a compartment search requires: the caller must be able to read the compartment's resource. */
export const inCompartment = (
  action: string,
  { type, id }: Compartment,
  searched?: ResourceType,
): Opening => ({
  action,
  needs: [{ type, letters: 'r' }, ...(searched === undefined ? [] : [{ type: searched, letters: 's' }])],
  type: searched ?? null,
  id,
});

/** The routes for a type's paths. */
export interface TypeRoutes {
  readonly type: Route;
  readonly history: Route;
  readonly form: Route;
  readonly instance: Route;
  readonly instanceHistory: Route;
  readonly version: Route;
}

/** Declares which interactions a type's paths support. Types in the shared terminology are read-only. */
export function declareType(type: ResourceType): TypeRoutes {
  const readOnly = typeEntry(type).home === 'terminology';
  const ofType = (action: string, letters: 'r' | 's'): Opening => ({
    action,
    needs: [{ type, letters }],
    type,
    id: null,
  });
  const readOne = readOnly ? reads : readsOfPast;
  const searches = readOne(ofType('search-type', 's'), (r) => search(r, type));
  const ofOne = readOne(ofType('read', 'r'), (r, [, id = '']) => read(r, type, id), true);
  const versions = readsOfPast(
    ofType('history-instance', 'r'),
    (r, [, id = '']) => historyOfInstance(r, type, id),
    true,
  );
  const ofVersion = reads(
    ofType('vread', 'r'),
    (r, [, id = '', , vid = '']) => vread(r, type, id, vid),
    true,
  );
  const ofTypeHistory = reads(ofType('history-type', 's'), (r) => historyOfType(r, type));
  return {
    type: {
      pattern: '/:type',
      methods: readOnly
        ? { GET: searches }
        : {
            GET: searches,
            POST: writes('create', type, 'resource', (r) => create(r, type)),
            PUT: writes('update', type, 'resource', (r) => update(r, type)),
            PATCH: writes('patch', type, 'patch', (r) => patch(r, type)),
            DELETE: writes('delete', type, 'nothing', (r) => remove(r, type)),
          },
    },
    history: { pattern: '/:type/_history', methods: readOnly ? {} : { GET: ofTypeHistory } },
    form: {
      pattern: '/:type/_search',
      methods: { POST: forms(ofType('search-type', 's'), (r) => search(r, type)) },
    },
    instance: {
      pattern: '/:type/:id',
      methods: readOnly
        ? { GET: ofOne }
        : {
            GET: ofOne,
            PUT: writes('update', type, 'resource', (r, [, id]) => update(r, type, id), true),
            PATCH: writes('patch', type, 'patch', (r, [, id]) => patch(r, type, id), true),
            DELETE: writes('delete', type, 'nothing', (r, [, id]) => remove(r, type, id), true),
          },
    },
    instanceHistory: { pattern: '/:type/:id/_history', methods: readOnly ? {} : { GET: versions } },
    version: { pattern: '/:type/:id/_history/:vid', methods: { GET: ofVersion } },
  };
}
