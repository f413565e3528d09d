/** Requests that a request makes to the service's own interfaces for its caller, as the tools of `/mcp` do. */
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

/** The caller of such requests. */
export interface InnerCaller {
  readonly caller: Caller;
  /** The action in the access log: the name of the tool. */
  readonly action: string;
  /** Gets the entries of the access log instead of it: who gathers them writes them before anything is sent. */
  readonly gather: Gather;
}

/** An answer inside of the service, and its entries of the access log. */
export interface Gathered {
  readonly entries: readonly AccessEntry[];
  readonly answer: Answer;
  /** Ids that the edge of a grant left out of it; undefined without a grant. */
  readonly foreign: readonly string[] | undefined;
}

/** Gathers the answers that another one is made of. */
export type Gather = (found: Gathered) => void;

/** Makes such requests. */
export interface InnerRequests {
  /**
   * Returns the caller of an access token that names a resource, and counts the request.
   * @throws Refusal unauthenticated (401), throttled (429)
   */
  readonly admit: (ctx: Context, credential: string, resource: string) => Promise<Caller>;
  /** Answers a request as the interface does; errors are answers, too. @throws errors of the service */
  readonly answer: (
    ctx: Context,
    credential: string,
    request: InnerRequest,
    by: InnerCaller,
  ) => Promise<Answer>;
}
