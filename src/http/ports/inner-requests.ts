/** Defines requests that a request makes to the service's own interfaces on behalf of its caller, as `/mcp` tools do. */
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
  /** The action in the access log: the tool's name. */
  readonly action: string;
  /**
   * Receives the access-log entries, which are then not written to the access log: the code that gathers them must write them
   * before anything is sent.
   */
  readonly gather: Gather;
}

/** A response inside the service, with its access-log entries. */
export interface Gathered {
  readonly entries: readonly AccessEntry[];
  readonly answer: Answer;
  /** Ids that a grant's edge removed from the response; undefined without a grant. */
  readonly foreign: readonly string[] | undefined;
}

/** Gathers the responses from which another response is made. */
export type Gather = (found: Gathered) => void;

/** Makes such requests. */
export interface InnerRequests {
  /**
   * Returns the caller for an access token that names a resource, and counts the request.
   * @throws Refusal unauthenticated (401), throttled (429)
   */
  readonly admit: (ctx: Context, credential: string, resource: string) => Promise<Caller>;
  /**
   * Answers a request like the interface does; errors are also returned as responses.
   * @throws errors of the service
   */
  readonly answer: (
    ctx: Context,
    credential: string,
    request: InnerRequest,
    by: InnerCaller,
  ) => Promise<Answer>;
}
