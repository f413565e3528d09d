/**
 * The JSON interfaces for the person of a session, in the same process: a page does what a program of the same person
 * could do, by the same routes, with the same checks and answers. Rights are computed by each call. The session itself
 * opens none of the interfaces.
 */
import type { z } from 'zod';
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

/** Inputs of a call, as a program sends them. */
export interface OwnInputs {
  readonly params?: Readonly<Record<string, string>>;
  /** Members that are undefined or empty are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
}

/** A read of a record: its access-log entry if the person is a representative. */
export type ReadAs = Pick<AccessEntry, 'action' | 'resourceType'> & { readonly resourceId?: string };

const BY_OPERATION = new Map(ROUTES.map((route) => [route.operationId, route]));

/** The calls of one person during one request. */
export class OwnApi {
  constructor(
    readonly service: OwnApiService,
    readonly session: Session,
    readonly request: Pick<RequestContext, 'requestId' | 'incoming'>,
  ) {}

  /**
   * Runs a route of `/me`.
   * @param schema of the part of the answer that is used
   * @throws Refusal as the route does
   */
  async me<T>(operationId: string, inputs: OwnInputs, schema: z.ZodType<T>): Promise<T> {
    const route = routeNamed(operationId);
    if (route.credential !== 'identity') throw new TypeError(`${operationId} takes no ID token`);
    this.service.services.freshness.require(route.models);
    const run = route.accept(makeInputs(inputs));
    const result = await run({ ...this.#circumstances(), identity: this.session.person });
    await this.#shown(result, route);
    return schema.parse(resultBody(result));
  }

  /**
   * Runs a read of REST v1 in one of the person's records, which `linkTo` has returned in this request.
   * @param read null if the page shows nothing of the record itself
   * @throws Refusal as the route does; unavailable (503) if the access log can't be written
   */
  async read<T>(
    link: LinkRow,
    read: ReadAs | null,
    operationId: string,
    inputs: OwnInputs,
    schema: z.ZodType<T>,
  ): Promise<T> {
    return schema.parse(resultBody(await this.content(link, read, operationId, inputs)));
  }

  /** Runs a read like `read`, and returns its answer unchanged. */
  async content(
    link: LinkRow,
    read: ReadAs | null,
    operationId: string,
    inputs: OwnInputs,
  ): Promise<RouteResult> {
    const route = routeNamed(operationId);
    if (route.credential !== 'api_key' || route.method !== 'GET')
      throw new TypeError(`${operationId} doesn't read a record`);
    this.service.services.freshness.require(route.models);
    const run = route.accept(makeInputs(inputs));
    const caller = await this.callerFor(link);
    const result = await run({ ...this.#circumstances(), caller, factsOnly: true });
    if (read !== null) await this.noteRead(link, read, countItems(result));
    return result;
  }

  /** Returns the caller that reads a record in the name of the person. @throws Refusal not_found (404) */
  async callerFor({ record }: LinkRow): Promise<Caller> {
    const owner = await this.service.services.consentQueries.ownerOf(record);
    if (owner === undefined) throw notFound('Patient', record);
    const { issuer, subject } = this.session.person;
    return ownCaller(owner, { kind: 'person', issuer, subject }, ['read']);
  }

  /**
   * Writes a representative's read into the access log; a person's own reads aren't in it.
   * @param count of the resources that are shown; null if it isn't known
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

  /** Waits until the page that follows shows what was written. */
  async #shown({ position, awaited }: RouteResult, { models }: Route): Promise<void> {
    if (position === undefined) return;
    const { freshness } = this.service.services;
    await (awaited === true ? freshness.waitFor(position, models) : freshness.settle(position, models));
  }
}

function routeNamed(operationId: string): Route {
  const route = BY_OPERATION.get(operationId);
  if (route === undefined) throw new TypeError(`no route is called ${operationId}`);
  return route;
}

function makeInputs({ params = {}, query = {}, body }: OwnInputs) {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return { params, query: new URLSearchParams(given), body };
}

function resultBody({ body, text }: RouteResult): unknown {
  return text === undefined ? body : JSON.parse(text);
}

function countItems({ content, text, body }: RouteResult): number | null {
  if (content !== undefined) return 1;
  const shown: unknown = text === undefined ? body : JSON.parse(text);
  const data = typeof shown === 'object' && shown !== null && 'data' in shown ? shown.data : undefined;
  return Array.isArray(data) ? data.length : 1;
}
