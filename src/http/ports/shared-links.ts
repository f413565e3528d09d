/**
 * Defines the interfaces for shared links that HTTP needs (SMART Health Links, docs/spec/decisions.md, section 7); `src/shl/`
 * implements them.
 */
import type { Done, RequestContext } from '#commands/command.ts';
import type { Page, PageAsked } from '#queries/admin/page.ts';
import type { SharedLinkRow } from '#queries/consents/shared-links.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A person's new link. */
export interface SharedLinkAsked {
  /** The id of the record's Patient. */
  readonly record: string;
  readonly person: PersonId;
  /** At most 80 characters. */
  readonly label: string | null;
  /** `summary`, `everything` or `document/<id>`. */
  readonly content: string;
  /** If true, each opening shows the record as it is at that time; if false, always as it is now. */
  readonly longTerm: boolean;
  readonly passcode: string | undefined;
  /** Default: 30 days from now, 365 with `longTerm`. */
  readonly expiresAt: Micros | undefined;
}

/** A shared link with the strings that open it. */
export interface SharedLink extends Omit<SharedLinkRow, 'sealed_key' | 'long_term' | 'passcode'> {
  /** `L`, `P`, `LP` or empty. */
  readonly flag: string;
  /** `shlink:/…`; null if the link has ended. */
  readonly shlink: string | null;
  /** The same behind the URL of a page that shows it in any browser; null if the link has ended. */
  readonly viewer_url: string | null;
}

/** People's operations on a record's links. All of them throw `Refusal`. They don't check rights; callers must. */
export interface SharedLinkServices {
  /**
   * Creates a link. The same ids in `by` create the same link, however often this is called.
   * @returns its id
   * @throws Refusal when `Consents.share` does; not_found for an unknown document; too_large (413) for stored content that
   *   exceeds the limit on a response
   */
  readonly create: (by: RequestContext, asked: SharedLinkAsked) => Promise<Done<string>>;
  /**
   * Returns a record's links, newest first, including ended ones.
   * @throws Refusal invalid (422) for an invalid cursor
   */
  readonly list: (record: string, asked: PageAsked) => Promise<Page<SharedLink>>;
  /** Returns a link to a record; undefined if it doesn't exist. */
  readonly find: (record: string, id: string) => Promise<SharedLink | undefined>;
  /**
   * Ends a link, and deletes its key and content; a link that has already ended stays as it is.
   * @throws Refusal not_found
   */
  readonly revoke: (by: RequestContext, record: string, id: string) => Promise<Done>;
  /** Returns a QR code for the given text as SVG: for `viewer_url`, which any phone's camera opens. */
  readonly qrCode: (text: string) => Promise<string>;
  /** Ends links that have expired or are closed, and deletes the remains of ended links. */
  readonly sweep: () => Promise<void>;
}

/** An attempt to open a link. */
export interface OpeningAsked {
  readonly id: string;
  /** Last part of the manifest's URL; undefined if the URL ends with the link's id. */
  readonly secret: string | undefined;
  /** The name that the recipient gives. */
  readonly recipient: string;
  readonly passcode: string | undefined;
  /** Maximum length of an embedded file, in characters; the default suits most clients. */
  readonly embeddedLengthMax: number | undefined;
  readonly requestId: string;
  /** Creates the budget for the content, whose memory counts against `owner`. */
  readonly budget: (owner: string) => AnswerBudget;
  /**
   * Counts the attempt against the link's limit.
   * @throws Refusal throttled (429)
   */
  readonly count: (caller: Caller) => void | Promise<void>;
}

export interface ManifestFile {
  readonly contentType: string;
  /** The JWE. */
  readonly embedded?: string;
  /** URL from which the JWE can be fetched once, within an hour. */
  readonly location?: string;
}

/** The result of an attempt. */
export type Opened =
  | { readonly files: readonly ManifestFile[] }
  | { readonly fault: 'not_found' }
  /** The passcode is missing or wrong. */
  | { readonly fault: 'passcode'; readonly remainingAttempts: number }
  /** Other attempts with a passcode are being checked. */
  | { readonly fault: 'busy' };

/** Operations by recipients of links. Every attempt is in the access log before it resolves. */
export interface SharedLinkOpening {
  /** Opens a link. @throws Refusal unavailable (503), throttled (429), too_large (413) */
  readonly open: (asked: OpeningAsked) => Promise<Opened>;
  /**
   * Returns whether a JWE exists at a location, without using it up. It gets no access-log entry, because nothing from the
   * record is shown.
   * @throws Refusal unavailable (503)
   */
  readonly isThere: (
    asked: Pick<OpeningAsked, 'id' | 'count'> & { readonly ticket: string },
  ) => Promise<boolean>;
  /**
   * Returns the JWE at a location, which is then used up; undefined for an unknown or used-up location.
   * @throws Refusal unavailable (503)
   */
  readonly fetch: (
    asked: Pick<OpeningAsked, 'id' | 'requestId' | 'budget' | 'count'> & { readonly ticket: string },
  ) => Promise<AsyncIterable<Buffer> | undefined>;
}
