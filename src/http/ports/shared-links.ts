/**
 * Defines the interfaces for shared links that HTTP uses (SMART Health Links, docs/spec/decisions.md, section 7); `src/shl/`
 * implements them.
 */
import type { Done, RequestContext } from '#commands/command.ts';
import type { Page, PageAsked } from '#queries/admin/page.ts';
import type { SharedLinkRow } from '#queries/consents/shared-links.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** The link that a person wants to create. */
export interface SharedLinkAsked {
  /** The id of the record's Patient. */
  readonly record: string;
  readonly person: PersonId;
  /** At most 80 characters. */
  readonly label: string | null;
  /** `summary`, `everything` or `document/<id>`. */
  readonly content: string;
  /**
   * If true, each opening shows the record as it is at the time of the opening; if false, every opening shows it as it was
   * when the link was created.
   */
  readonly longTerm: boolean;
  readonly passcode: string | undefined;
  /** Default: 30 days from now, or 365 days with `longTerm`. */
  readonly expiresAt: Micros | undefined;
}

/** A shared link with the strings that open it. */
export interface SharedLink extends Omit<SharedLinkRow, 'sealed_key' | 'long_term' | 'passcode'> {
  /** `L`, `P`, `LP` or empty. */
  readonly flag: string;
  /** `shlink:/…`; null if the link has ended. */
  readonly shlink: string | null;
  /**
   * The URL of a page that shows the link's content in any browser, with the same `shlink:/…` in it; null if the link has
   * ended.
   */
  readonly viewer_url: string | null;
}

/** The actions that people can take on a record's links. All methods throw `Refusal`. They don't check rights, so callers must. */
export interface SharedLinkServices {
  /**
   * Creates a link. The same ids in `by` create the same link, however often this is called.
   * @returns its id
   * @throws the same refusals as `Consents.share`; not_found for an unknown document; too_large (413) for stored content that
   *   exceeds the limit on a response
   */
  readonly create: (by: RequestContext, asked: SharedLinkAsked) => Promise<Done<string>>;
  /**
   * Returns a record's links, newest first, including ended ones.
   * @throws Refusal invalid (422) for an invalid cursor
   */
  readonly list: (record: string, asked: PageAsked) => Promise<Page<SharedLink>>;
  /** Returns a shared link to a record; undefined if it doesn't exist. */
  readonly find: (record: string, id: string) => Promise<SharedLink | undefined>;
  /**
   * Ends a link, and deletes its key and content. A link that has already ended stays unchanged.
   * @throws Refusal not_found
   */
  readonly revoke: (by: RequestContext, record: string, id: string) => Promise<Done>;
  /** Returns a QR code for the given text as SVG; used for `viewer_url`, which any phone's camera can open. */
  readonly qrCode: (text: string) => Promise<string>;
  /** Ends links that have expired or are closed, and deletes what is left of ended links. */
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
  /** Maximum length of an embedded file, in characters. The default suits most clients. */
  readonly embeddedLengthMax: number | undefined;
  readonly requestId: string;
  /** Creates the budget for the content. Its memory counts against `owner`. */
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
  /** Other attempts with a passcode are still being checked. */
  | { readonly fault: 'busy' };

/** The actions that recipients of links can take. Every attempt is recorded in the access log before it resolves. */
export interface SharedLinkOpening {
  /**
   * Opens a link.
   * @throws Refusal unavailable (503), throttled (429), too_large (413)
   */
  readonly open: (asked: OpeningAsked) => Promise<Opened>;
  /**
   * Returns whether there is a JWE at a location, without using it up. This isn't recorded in the access log, because nothing
   * from the record is shown.
   * @throws Refusal unavailable (503)
   */
  readonly isThere: (
    asked: Pick<OpeningAsked, 'id' | 'count'> & { readonly ticket: string },
  ) => Promise<boolean>;
  /**
   * Returns the JWE at a location and uses it up; undefined if the location is unknown or already used up.
   * @throws Refusal unavailable (503)
   */
  readonly fetch: (
    asked: Pick<OpeningAsked, 'id' | 'requestId' | 'budget' | 'count'> & { readonly ticket: string },
  ) => Promise<AsyncIterable<Buffer> | undefined>;
}
