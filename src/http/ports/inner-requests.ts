/** Defines requests to the service's own interfaces that another request makes on behalf of its caller, as `/mcp` tools do. */
import type { Context } from 'koa';
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import type { Answer } from '../answer/answer.ts';

/** A request to one of the interfaces. */
export interface InnerRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly url: string;
  /** JSON. */
  readonly body?: string | undefined;
}

/** The caller on whose behalf such requests are made. */
export interface InnerCaller {
  readonly caller: Caller;
  /** The action in the access log: the tool's name. */
  readonly action: string;
  /**
   * Receives the access-log entries, which then aren't written automatically. The code that gathers them must write them
   * before anything is sent.
   */
  readonly gather: Gather;
}

/** A response inside the service, with its access-log entries. */
export interface Gathered {
  readonly entries: readonly AccessEntry[];
  readonly answer: Answer;
  /** Ids that the edge removed from the response under a grant; undefined without a grant. */
  readonly foreign: readonly string[] | undefined;
}

/** Gathers the responses that another response is built from. */
export type Gather = (found: Gathered) => void;

/** Makes such requests. */
export interface InnerRequests {
  /**
   * Returns the caller for an access token that is restricted to a resource, and counts the request.
   * @throws Refusal unauthenticated (401), throttled (429)
   */
  readonly admit: (ctx: Context, credential: string, resource: string) => Promise<Caller>;
  /**
   * Answers a request as the interface does. Refusals are also returned as responses.
   * @throws errors that are the service's fault
   */
  readonly answer: (
    ctx: Context,
    credential: string,
    request: InnerRequest,
    by: InnerCaller,
  ) => Promise<Answer>;
}
