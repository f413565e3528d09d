/**
 * Gives a session's person access to the JSON interfaces within the same process. A page can do what a program of the same
 * person could do, using the same routes, with the same checks and responses. Each call determines the person's rights again.
 * The session itself gives access to none of the interfaces.
 */
import type * as Api from '#clients/typescript/src/generated/api.ts';
import type { LinkRow } from '#queries/consents/records.ts';
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import { type Caller, ownCaller } from '#src/shared/access/caller.ts';
import type { Session } from '#src/shared/access/session.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import { notFound } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import type { RequestContext, Route, RouteResult } from '../api/route.ts';
import type { AccessLog } from '../ports/access-log.ts';
import type { Services } from '../ports/services.ts';
import { ROUTES } from '../routes.ts';

/** The services that the calls need. */
export interface OwnApiService {
  readonly services: Services;
  readonly accessLog: Pick<AccessLog, 'written'>;
}

/** The types of responses, by their names in the OpenAPI document. */
export type { Api };

type Method = keyof Api.Operations;
type At<M extends Method, P extends keyof Api.Operations[M]> = Api.Operations[M][P] & {
  readonly path: object;
  readonly query: object;
  readonly body: unknown;
  readonly answer: unknown;
};
type Paths<M extends Method, Below extends string> = string & keyof Api.Operations[M] & `${Below}${string}`;
/** The path's parameters, the query's parameters (undefined ones are left out), and `body`. */
type Input<O extends { path: object; query: object; body: unknown }> = O['path'] & {
  readonly [K in keyof O['query']]: O['query'][K] | undefined;
} & ([O['body']] extends [undefined] ? unknown : { readonly body: O['body'] });

/** A read of REST v1. */
type ReadPath = Paths<'GET', '/v1/'>;

/** The access-log entry for a read of a record. It is written if the person is a representative. */
export type ReadAs = Pick<AccessEntry, 'action' | 'resourceType'> & { readonly resourceId?: string };

const BY_PATH = new Map(ROUTES.map((route) => [`${route.method} ${route.path}`, route]));

/** The calls that one person's request makes. */
export class OwnApi {
  constructor(
    readonly service: OwnApiService,
    readonly session: Session,
    readonly request: Pick<RequestContext, 'requestId' | 'incoming'>,
  ) {}

  /**
   * Runs a route below `/me`.
   * @throws Refusal in the same cases as the route
   */
  async me<M extends Method, P extends Paths<M, '/me/'>>(
    method: M,
    path: P,
    input: Input<At<M, P>>,
  ): Promise<At<M, P>['answer']> {
    const route = routeAt(method, path);
    if (route.credential !== 'identity') throw new TypeError(`${method} ${path} takes no ID token`);
    this.service.services.freshness.require(route.models);
    const run = route.accept(splitInput(path, input));
    const result = await run({ ...this.#circumstances(), identity: this.session.person });
    await this.#shown(result, route);
    return readAnswer(result);
  }

  /**
   * Runs a REST v1 read in one of the person's records; `linkTo` must have returned the link during this request.
   * @param read null if the page shows nothing from the record itself
   * @throws Refusal in the same cases as the route; unavailable (503) if the access log can't be written
   */
  async read<P extends ReadPath>(
    link: LinkRow,
    read: ReadAs | null,
    path: P,
    input: Input<At<'GET', P>>,
  ): Promise<At<'GET', P>['answer']> {
    return readAnswer(await this.content(link, read, path, input));
  }

  /** Runs a read like `read`, and returns its response unchanged. */
  async content<P extends ReadPath>(
    link: LinkRow,
    read: ReadAs | null,
    path: P,
    input: Input<At<'GET', P>>,
  ): Promise<RouteResult> {
    const route = routeAt('GET', path);
    if (route.credential !== 'api_key') throw new TypeError(`GET ${path} reads no record`);
    this.service.services.freshness.require(route.models);
    const run = route.accept(splitInput(path, input));
    const caller = await this.callerFor(link);
    const result = await run({ ...this.#circumstances(), caller, factsOnly: true });
    if (read !== null) await this.noteRead(link, read, countItems(result));
    return result;
  }

  /**
   * Returns the caller that reads a record on the person's behalf.
   * @throws Refusal not_found (404)
   */
  async callerFor({ record }: LinkRow): Promise<Caller> {
    const owner = await this.service.services.consentQueries.ownerOf(record);
    if (owner === undefined) throw notFound('Patient', record);
    const { issuer, subject } = this.session.person;
    return ownCaller(owner, { kind: 'person', issuer, subject }, ['read']);
  }

  /**
   * Writes a representative's read to the access log. A person's own reads aren't logged.
   * @param count the number of resources shown; null if unknown
   * @throws Refusal unavailable (503)
   */
  async noteRead({ record, relationship }: LinkRow, read: ReadAs, count: number | null): Promise<void> {
    if (relationship === 'self') return;
    const { issuer, subject } = this.session.person;
    const { action, resourceType, resourceId = null } = read;
    await this.service.accessLog.written([
      {
        record,
        action,
        actor: { kind: 'person', issuer, subject, role: 'representative' },
        resourceType,
        resourceId,
        purpose: null,
        status: 'ok',
        count,
        requestId: this.request.requestId,
      },
    ]);
  }

  #circumstances(): RequestContext {
    return {
      services: this.service.services,
      requestId: this.request.requestId,
      header: () => undefined,
      ids: new IdSource(newUuid(), Date.now()),
      now: nowMicros,
      incoming: this.request.incoming,
      concerns: () => undefined,
    };
  }

  /** Waits until the next page can show what was written. */
  async #shown({ position, awaited }: RouteResult, { models }: Route): Promise<void> {
    if (position === undefined) return;
    const { freshness } = this.service.services;
    await (awaited === true ? freshness.waitFor(position, models) : freshness.settle(position, models));
  }
}

function routeAt(method: string, path: string): Route {
  const route = BY_PATH.get(`${method} ${path}`);
  if (route === undefined) throw new TypeError(`unknown route: ${method} ${path}`);
  return route;
}

/**
 * Splits an input into the parts of a request, as a program would send it. Members that are undefined or empty are left out.
 */
function splitInput(path: string, input: object) {
  const { body, ...members } = input as { readonly body?: object };
  const given = Object.entries(members).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const isPart = ([name]: readonly [string, string]): boolean => path.includes(`{${name}}`);
  return {
    params: Object.fromEntries(given.filter(isPart)),
    query: new URLSearchParams(given.filter((each) => !isPart(each))),
    body,
  };
}

/** Returns the response. It has the shape that its route declares, because the type was generated from that declaration. */
function readAnswer<Shape>({ body, text }: RouteResult): Shape {
  return (text === undefined ? body : JSON.parse(text)) as Shape;
}

function countItems({ content, text, body }: RouteResult): number | null {
  if (content !== undefined) return 1;
  const shown: unknown = text === undefined ? body : JSON.parse(text);
  const data = typeof shown === 'object' && shown !== null && 'data' in shown ? shown.data : undefined;
  return Array.isArray(data) ? data.length : 1;
}
