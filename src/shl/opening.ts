/** Opens shared links for their recipients: passcodes, manifests, files, and an access log entry for each attempt. */

import { hash, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { OpenedLinkRow } from '#queries/consents/shared-links.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { AccessLog } from '../http/ports/access-log.ts';
import type {
  ManifestFile,
  Opened,
  OpeningAsked,
  SharedLinkOpening,
  SharedLinkServices,
} from '../http/ports/shared-links.ts';
import { MOST_ATTEMPTS, type SharedLinks } from '../operations/shared-links.ts';
import type { AccessStatus } from '../shared/access/access-entry.ts';
import { type Caller, ownCaller, turnKey } from '../shared/access/caller.ts';
import type { GivenReceipt } from '../shared/access/receipt.ts';
import { notFound } from '../shared/refusal.ts';
import type { ContentDeps } from './content.ts';
import { encrypted } from './jwe.ts';
import { isPasscode } from './passcode.ts';
import { isManifestSecret } from './payload.ts';
import { recordContent } from './recorded.ts';
import { CONTENT_TYPE, openKeys } from './shared-links.ts';

/** The maximum length of an embedded file, in characters: `most` if the client specifies a limit, `unasked` if it doesn't. */
const EMBEDDED = { most: 1_000_000, unasked: 100_000 } as const;

/** Creates the operations for recipients. */
export async function openOpening(
  parts: ContentDeps & {
    readonly pool: Pool;
    readonly rows: SharedLinks;
    readonly consentQueries: Pick<ConsentQueries, 'openedLink'>;
    readonly accessLog: AccessLog;
    readonly baseUrl: string;
    readonly freshness: Freshness;
    /** Ends links that have just closed; the next sweep ends any that this call misses. */
    readonly sweep: SharedLinkServices['sweep'];
  },
): Promise<SharedLinkOpening> {
  const { pool, rows, consentQueries, accessLog, baseUrl, freshness } = parts;
  const { keyOf } = await openKeys(pool);

  const find = async (id: string): Promise<OpenedLinkRow | undefined> => {
    freshness.require(['consents', 'resources', 'history', 'projects']);
    return id.length > 64 ? undefined : consentQueries.openedLink(id);
  };

  /** Returns the file; undefined if there is nothing left to show. */
  const openFile = async (
    link: OpenedLinkRow & { readonly sealed_key: string },
    { budget }: Pick<OpeningAsked, 'budget'>,
  ): Promise<LinkFile | undefined> => {
    if (link.length !== null) return { text: rows.content(link.id), stored: link.receipt ?? undefined };
    const caller = makeLinkCaller(link);
    const content = {
      caller,
      record: link.record,
      content: link.content,
      budget: budget(turnKey(caller.calls)),
    };
    const made = await recordContent(parts, content);
    return made && { text: encrypted(keyOf(link), CONTENT_TYPE, made.text), give: made.give };
  };

  const checkPasscode = async (
    link: OpenedLinkRow,
    passcode: string | undefined,
  ): Promise<Opened | undefined> => {
    const { id, salt, passcode: hashed } = link;
    if (salt === null || hashed === null) return undefined;
    // An empty passcode is a form field that wasn't filled in, so it doesn't count as an attempt.
    if (passcode === undefined || passcode === '')
      return { fault: 'passcode', remainingAttempts: Math.max(0, MOST_ATTEMPTS - link.attempts) };
    if (!(await rows.attempt(id))) return { fault: 'busy' };
    if (await isPasscode(passcode, { salt, hash: hashed })) {
      await rows.wasRight(id);
      return undefined;
    }
    const remainingAttempts = await rows.wasWrong(id);
    return { fault: 'passcode', remainingAttempts };
  };

  const manifest = async (
    link: OpenedLinkRow & { readonly sealed_key: string },
    asked: OpeningAsked,
  ): Promise<Outcome> => {
    const file = await openFile(link, asked);
    if (file === undefined) return { opened: { fault: 'not_found' } };
    const most = Math.min(asked.embeddedLengthMax ?? EMBEDDED.unasked, EMBEDDED.most);
    const isTooLong = link.length !== null && link.length > most;
    const embedded = isTooLong ? undefined : await shortText(file.text, most);
    if (embedded !== undefined)
      return {
        opened: { files: [{ contentType: CONTENT_TYPE, embedded }] },
        receipt: file.stored ?? file.give?.(),
      };
    const ticket = randomBytes(32).toString('base64url');
    await rows.locate(link.id, sha256(ticket), asked.recipient);
    const located: ManifestFile = {
      contentType: CONTENT_TYPE,
      location: `${baseUrl}/shl/${link.id}/files/${ticket}`,
    };
    return { opened: { files: [located] } };
  };

  const openLink = async (link: OpenedLinkRow, asked: OpeningAsked): Promise<Outcome> => {
    const { sealed_key } = link;
    if (!link.open || sealed_key === null) return { opened: { fault: 'not_found' } };
    const known = { ...link, sealed_key };
    if (asked.secret !== undefined && !isManifestSecret(keyOf(known), asked.secret))
      return { opened: { fault: 'not_found' } };
    const refused = await checkPasscode(link, asked.passcode);
    return refused === undefined ? manifest(known, asked) : { opened: refused };
  };

  return {
    async open(asked) {
      const { id, recipient, requestId } = asked;
      const link = await find(id);
      if (link === undefined) return { fault: 'not_found' };
      await asked.count(makeLinkCaller(link));
      const note = (status: AccessStatus, receipt?: Outcome['receipt']): Promise<void> =>
        accessLog.written([makeLogEntry(link, 'open-link', recipient, status, requestId, receipt)]);
      let outcome: Outcome;
      try {
        outcome = await openLink(link, asked);
      } catch (error) {
        await note('error');
        throw error;
      }
      const { opened: result, receipt } = outcome;
      await note(accessStatus(result), receipt);
      if ('fault' in result && result.fault === 'passcode' && result.remainingAttempts === 0)
        await parts.sweep().catch(() => undefined);
      return result;
    },
    async isThere({ id, ticket, count }) {
      const link = await find(id);
      if (link === undefined) return false;
      await count(makeLinkCaller(link));
      return link.open && link.sealed_key !== null && rows.isLocated(id, sha256(ticket));
    },
    async fetch({ id, ticket, requestId, budget, count }) {
      const link = await find(id);
      if (link === undefined) return undefined;
      await count(makeLinkCaller(link));
      const recipient = await rows.fetch(id, sha256(ticket));
      if (recipient === undefined) return undefined;
      const { sealed_key } = link;
      const note = (
        status: AccessStatus,
        action = 'open-link-file',
        receipt?: Outcome['receipt'],
      ): Promise<void> =>
        accessLog.written([makeLogEntry(link, action, recipient, status, requestId, receipt)]);
      try {
        const file =
          link.open && sealed_key !== null ? await openFile({ ...link, sealed_key }, { budget }) : undefined;
        await note(file === undefined ? 'not_found' : 'ok', 'open-link-file', file?.stored);
        const { give } = file ?? {};
        if (file === undefined || give === undefined) return file?.text;
        const requireOpen = async (): Promise<void> => {
          const now = await find(id);
          if (now?.open !== true || now.sealed_key === null) throw notFound('shared link', id);
        };
        return holdLast(file.text, requireOpen, () => note('ok', 'link-file-sent', give()));
      } catch (error) {
        await note('error');
        throw error;
      }
    },
  };
}

/** A link's encrypted content. */
interface LinkFile {
  readonly text: AsyncIterable<Buffer>;
  /** The id of the receipt for stored content. */
  readonly stored?: string | undefined;
  /** Returns the receipt for content that is being created now; must be called after the content has been read to its end. */
  readonly give?: () => GivenReceipt;
}

/** The result of an attempt, and the receipt for the content in that result. */
interface Outcome {
  readonly opened: Opened;
  readonly receipt?: GivenReceipt | string | undefined;
}

/** Interval between two checks that a link is still open while its content is being sent, in ms. */
const ASKED_MS = 500;

/**
 * Passes on a text while its link is open. The last piece is passed on only after `before` has resolved. That piece contains
 * the tag, so nobody can decrypt the file without it.
 * @param requireOpen rejects once the link has ended
 * @throws the errors from `requireOpen` and `before`; no further piece is then passed on
 */
async function* holdLast(
  source: AsyncIterable<Buffer>,
  requireOpen: () => Promise<void>,
  before: () => Promise<void>,
): AsyncGenerator<Buffer, undefined> {
  let held: Buffer | undefined;
  let asked = performance.now();
  for await (const part of source) {
    if (performance.now() - asked > ASKED_MS) {
      await requireOpen();
      asked = performance.now();
    }
    if (held !== undefined) yield held;
    held = part;
  }
  await requireOpen();
  await before();
  if (held !== undefined) yield held;
}

/** Returns the caller in whose name a link's content is read: it sees what the record's project sees. */
function makeLinkCaller({ id, owner_project: project, environment }: OpenedLinkRow): Caller {
  return ownCaller({ project, environment }, { kind: 'shared_link', linkId: id }, ['read']);
}

function makeLogEntry(
  { id, record, content }: OpenedLinkRow,
  action: string,
  recipient: string,
  status: AccessStatus,
  requestId: string,
  receipt?: Outcome['receipt'],
) {
  const document = content.startsWith('document/') ? content.slice('document/'.length) : null;
  return {
    record,
    action,
    actor: { kind: 'link' as const, id, recipient },
    resourceType: document === null ? null : 'DocumentReference',
    resourceId: document,
    purpose: null,
    status,
    count: null,
    requestId,
    ...(receipt === undefined ? {} : { receipt }),
  };
}

function accessStatus(opened: Opened): AccessStatus {
  if ('files' in opened) return 'ok';
  return opened.fault === 'not_found' ? 'not_found' : 'denied';
}

/** Returns a text if it isn't longer than a limit; otherwise undefined, and the rest of the text isn't read. */
async function shortText(parts: AsyncIterable<Buffer>, most: number): Promise<string | undefined> {
  const read: Buffer[] = [];
  let length = 0;
  for await (const part of parts) {
    length += part.length;
    if (length > most) return undefined;
    read.push(part);
  }
  return Buffer.concat(read).toString('ascii');
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
