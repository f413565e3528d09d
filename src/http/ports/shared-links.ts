/**
 * The interfaces of shared links that HTTP needs (SMART Health Links, docs/spec/decisions.md, section 7);
 * `src/shl/` implements it.
 */
import type { Done, RequestContext } from '#commands/command.ts';
import type { Page, PageAsked } from '#queries/admin/page.ts';
import type { SharedLinkRow } from '#queries/consents/shared-links.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A new link of a person. */
export interface SharedLinkAsked {
  /** The id of the record's Patient. */
  readonly record: string;
  readonly person: PersonId;
  /** At most 80 characters. */
  readonly label: string | null;
  /** `summary`, `everything` or `document/<id>`. */
  readonly content: string;
  /** True: each opening shows the record at that time; false: always as it is now. */
  readonly longTerm: boolean;
  readonly passcode: string | undefined;
  /** Default: 30 days from now, 365 with `longTerm`. */
  readonly expiresAt: Micros | undefined;
}

/** A shared link with the texts that open it. */
export interface SharedLink extends Omit<SharedLinkRow, 'sealed_key' | 'long_term' | 'passcode'> {
  /** `L`, `P`, `LP` or empty. */
  readonly flag: string;
  /** `shlink:/…`; null if it has ended. */
  readonly shlink: string | null;
  /** The same behind the URL of a page that shows it in any browser; null if it has ended. */
  readonly viewer_url: string | null;
}

/** The operations of people on the links of a record. All throw `Refusal`. They don't check rights: callers do. */
export interface SharedLinkServices {
  /**
   * Makes a link. The same ids of `by` make one link, however often it is asked for.
   * @returns its id
   * @throws Refusal as `Consents.share`; not_found for an unknown document; too_large (413) for a content that is stored and
   *   exceeds the limit of an answer
   */
  readonly create: (by: RequestContext, asked: SharedLinkAsked) => Promise<Done<string>>;
  /** Reads a record's links, the newest first, ended ones too. @throws Refusal invalid (422) for a wrong cursor */
  readonly list: (record: string, asked: PageAsked) => Promise<Page<SharedLink>>;
  /** Reads a link of a record; undefined if there is none. */
  readonly find: (record: string, id: string) => Promise<SharedLink | undefined>;
  /**
   * Ends a link, and deletes its key and content; a link that has already ended stays as it is. @throws Refusal
   * not_found
   */
  readonly revoke: (by: RequestContext, record: string, id: string) => Promise<Done>;
  /** Returns a QR code of a text as SVG: of `viewer_url`, which the camera of any phone opens. */
  readonly qrCode: (text: string) => Promise<string>;
  /** Ends links whose time is over or that are closed, and deletes the remains of ended ones. */
  readonly sweep: () => Promise<void>;
}

/** An attempt to open a link. */
export interface OpeningAsked {
  readonly id: string;
  /** Last part of the manifest's URL; undefined if the URL ends with the id. */
  readonly secret: string | undefined;
  /** The name that the recipient gives. */
  readonly recipient: string;
  readonly passcode: string | undefined;
  /** The maximum length of an embedded file, in characters; the default suits most clients. */
  readonly embeddedLengthMax: number | undefined;
  readonly requestId: string;
  /** Makes the budget of the content, whose memory `owner` answers for. */
  readonly budget: (owner: string) => AnswerBudget;
  /** Counts the attempt for the link. @throws Refusal throttled (429) */
  readonly count: (caller: Caller) => void | Promise<void>;
}

export interface ManifestFile {
  readonly contentType: string;
  /** The JWE. */
  readonly embedded?: string;
  /** URL at which the JWE can be fetched once, within an hour. */
  readonly location?: string;
}

/** The result of an attempt. */
export type Opened =
  | { readonly files: readonly ManifestFile[] }
  | { readonly fault: 'not_found' }
  /** No passcode, or a wrong one. */
  | { readonly fault: 'passcode'; readonly remainingAttempts: number }
  /** Other attempts with a passcode are being checked. */
  | { readonly fault: 'busy' };

/** The operations of recipients of links. Every attempt is in the access log before it resolves. */
export interface SharedLinkOpening {
  /** Opens a link. @throws Refusal unavailable (503), throttled (429), too_large (413) */
  readonly open: (asked: OpeningAsked) => Promise<Opened>;
  /**
   * Tells whether there is a JWE at a location, which stays. The access log has no entry: nothing of the record is shown.
   * @throws Refusal unavailable (503)
   */
  readonly isThere: (
    asked: Pick<OpeningAsked, 'id' | 'count'> & { readonly ticket: string },
  ) => Promise<boolean>;
  /**
   * Returns the JWE at a location, which is then used up; undefined for an unknown or used one.
   * @throws Refusal unavailable (503)
   */
  readonly fetch: (
    asked: Pick<OpeningAsked, 'id' | 'requestId' | 'budget' | 'count'> & { readonly ticket: string },
  ) => Promise<AsyncIterable<Buffer> | undefined>;
}
