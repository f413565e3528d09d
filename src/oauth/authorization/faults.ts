/** Faults that end an authorization request, with either a page for the person or a redirect to the application. */
import type { OAuthError } from '../error.ts';

/** Faults that can't be sent to the application, because its redirect URI can't be trusted. */
export type PageFaultKind = 'client' | 'guest' | 'redirect' | 'organization' | 'parameter';

/** Thrown when a request ends on a page (RFC 6749, section 4.1.2.1; docs/spec/decisions.md, section 9). */
export class PageFault extends Error {
  override readonly name = 'PageFault';

  /**
   * @param detail advice for the developer, in English; it never quotes the request
   * @param parameter the parameter at fault
   */
  constructor(
    readonly kind: PageFaultKind,
    readonly status: 400 | 403 | 422,
    readonly detail: string,
    readonly parameter?: string,
  ) {
    super(detail);
  }
}

/** How an answer is sent: in a redirect's query, or in a form that a page submits (OAuth 2.0 Form Post Response Mode 1.0). */
export type ResponseMode = 'query' | 'form_post';

/** Where an answer is sent. */
export interface AnswerTo {
  /** As registered. */
  readonly redirectUri: string;
  /** As in the request. */
  readonly state: string;
  readonly mode: ResponseMode;
}

/** Thrown when an error is sent to a request's redirect URI. */
export class RedirectFault extends Error {
  override readonly name = 'RedirectFault';

  /** @param silent whether the request asked for an answer without showing a page (`prompt=none`) */
  constructor(
    readonly answerTo: AnswerTo,
    readonly error: OAuthError,
    readonly silent: boolean,
  ) {
    super(error.message);
  }
}
