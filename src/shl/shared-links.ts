/** Lets people create, see and end shared links: writes events, and the rows that belong to them. */

import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { toString as qrCodeOf } from 'qrcode';
import type { Consents } from '#commands/consent/consents.ts';
import { drawSecret } from '#commands/secret.ts';
import type { ConsentQueries } from '#queries/consents/consents.ts';
import type { SharedLinkRow } from '#queries/consents/shared-links.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { AccessLog } from '../http/ports/access-log.ts';
import type { SharedLink, SharedLinkServices } from '../http/ports/shared-links.ts';
import { installationKey } from '../operations/installation-key.ts';
import type { SharedLinks } from '../operations/shared-links.ts';
import { ownCaller, type Tenant } from '../shared/access/caller.ts';
import { seal, unseal } from '../shared/access/sealed.ts';
import { IdSource, newRequestId, newUuid } from '../shared/ids.ts';
import { AnswerBudget } from '../shared/load/answer-budget.ts';
import { notFound, Refusal } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time/time.ts';
import { atMost, type ContentDeps, inParts } from './content.ts';
import { encrypted } from './jwe.ts';
import { hashPasscode } from './passcode.ts';
import { joinFlags, makeShlink, manifestSecret } from './payload.ts';
import { recordContent } from './recorded.ts';

/** How many days a link works unless something else ends it (docs/spec/decisions.md, section 7). */
const DAYS = { once: 30, longTerm: 365 } as const;
const DAY = 86_400_000_000;

/** Size of a stored part, in bytes. */
const STORED_PART = 256 * 1024;

/** Media type of links' content. */
export const CONTENT_TYPE = 'application/fhir+json';

/** Returns a link's key; decryption requires the id with which the key was encrypted. */
export type KeyOf = (link: { readonly id: string; readonly sealed_key: string }) => Buffer;

/** Returns the functions that decrypt and encrypt links' keys. */
export async function openKeys(
  pool: Pool,
): Promise<{ keyOf: KeyOf; sealKey(key: Buffer, id: string): string }> {
  const sealing = await installationKey(pool, 'shared_link_key');
  return {
    keyOf: ({ id, sealed_key }) => Buffer.from(unseal(sealing, sealed_key, id), 'base64url'),
    sealKey: (key, id) => seal(sealing, key.toString('base64url'), id),
  };
}

/** Opens the services. */
export async function openSharedLinkServices(
  parts: ContentDeps & {
    readonly pool: Pool;
    readonly rows: SharedLinks;
    readonly consents: Pick<Consents, 'share' | 'endSharedLink'>;
    readonly consentQueries: ConsentQueries;
    readonly accessLog: Pick<AccessLog, 'given'>;
    readonly baseUrl: string;
    /** The maximum size of stored content, in bytes. */
    readonly mostBytes: number;
    /**
     * Returns a record's owner.
     * @throws Refusal not_found
     */
    readonly ownerOf: (record: string) => Promise<Tenant>;
    /**
     * Checks that the given read models don't lag.
     * @throws Refusal unavailable
     */
    readonly freshness: Freshness;
    readonly log: Logger;
  },
): Promise<SharedLinkServices> {
  const { pool, rows, consents, consentQueries, baseUrl, freshness, log } = parts;
  const { keyOf, sealKey } = await openKeys(pool);

  const renderLink = ({ sealed_key, long_term, passcode, ...row }: SharedLinkRow): SharedLink => {
    const flag = joinFlags({ longTerm: long_term, passcode });
    if (sealed_key === null || row.status !== 'active')
      return { ...row, flag, shlink: null, viewer_url: null };
    const key = keyOf({ id: row.id, sealed_key });
    const url = `${baseUrl}/shl/${row.id}/${manifestSecret(key)}`;
    const shlink = makeShlink({ url, key, expiresAt: row.expires_at, flag, label: row.label });
    return { ...row, flag, shlink, viewer_url: `${baseUrl}/shl/view#${shlink}` };
  };

  const end = async (
    id: string,
    record: string,
    reason: 'expired' | 'passcode' | 'platform',
  ): Promise<void> => {
    const by = {
      credential: { kind: 'system' as const },
      requestId: newRequestId(),
      ids: new IdSource(newUuid(), Date.now()),
      now: nowMicros,
    };
    await consents.endSharedLink(by, record, id, reason);
    await rows.remove([id]);
  };

  return {
    async create(by, asked) {
      const { record, person, label, content, longTerm, passcode } = asked;
      freshness.require(['consents', 'resources', 'history']);
      const id = by.ids.prefixed('shl_');
      const key = await drawSecret(by);
      const caller = ownCaller(await parts.ownerOf(record), { kind: 'shared_link', linkId: id }, ['read']);
      const made = await recordContent(parts, { caller, record, content, budget: new AnswerBudget() });
      if (made === undefined)
        throw content.startsWith('document/')
          ? notFound('DocumentReference', content.slice('document/'.length))
          : notFound('Patient', record);
      const hashed = passcode === undefined ? undefined : await hashPasscode(passcode);
      const begun = await rows.begin({
        id,
        record,
        sealedKey: sealKey(key, id),
        salt: hashed?.salt ?? null,
        passcode: hashed?.hash ?? null,
      });
      if (begun === 'missing') throw notFound('Patient', record);
      if (begun === 'confirmed') return { result: id, wrote: undefined };
      const days = longTerm ? DAYS.longTerm : DAYS.once;
      try {
        if (!longTerm) {
          const text = encrypted(key, CONTENT_TYPE, atMost(made.text, parts.mostBytes));
          await rows.keep(id, inParts(text, STORED_PART), () => parts.accessLog.given(made.give()));
        }
        const { wrote } = await consents.share(by, {
          linkId: id,
          record,
          person,
          label,
          content,
          longTerm,
          passcode: passcode !== undefined,
          expiresAt: asked.expiresAt ?? by.now() + days * DAY,
        });
        await rows.confirm(id);
        return { result: id, wrote };
      } catch (error) {
        // After any other error, the link's event may have been written; an hour later, the sweeper can tell.
        if (error instanceof Refusal && error.kind !== 'unavailable') await rows.remove([id]);
        throw error;
      }
    },
    async list(record, asked) {
      const page = await consentQueries.listSharedLinks(record, asked);
      return { ...page, rows: page.rows.map(renderLink) };
    },
    async find(record, id) {
      const row = await consentQueries.sharedLink(record, id);
      return row && renderLink(row);
    },
    async revoke(by, record, id) {
      const done = await consents.endSharedLink(by, record, id, 'patient');
      await rows.remove([id]);
      return done;
    },
    qrCode: (text) => qrCodeOf(text, { type: 'svg', errorCorrectionLevel: 'M', margin: 4 }),
    async sweep() {
      for (const { id, record, reason } of await consentQueries.sharedLinksToEnd()) {
        await end(id, record, reason).catch((error: unknown) =>
          log.warn({ err: error, link: id }, 'a shared link could not be ended; it will be tried again'),
        );
      }
      await rows.sweep();
    },
  };
}
