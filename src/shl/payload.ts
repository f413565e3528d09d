/**
 * Creates the text of a SMART Health Link: https://docs.smarthealthit.org/smart-health-links/spec/#construct-a-shlink-payload
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Micros } from '#src/shared/time/time.ts';

/** The content of a link, which anyone who has the link can read. */
export interface LinkPayload {
  /** The URL of the link's manifest. */
  readonly url: string;
  /** 32 bytes. */
  readonly key: Buffer;
  readonly expiresAt: Micros;
  readonly flag: string;
  /** At most 80 characters. */
  readonly label: string | null;
}

/** Returns the flags, in this order: `L` if each opening shows the current record, `P` if there is a passcode. */
export function joinFlags({
  longTerm,
  passcode,
}: {
  readonly longTerm: boolean;
  readonly passcode: boolean;
}): string {
  return `${longTerm ? 'L' : ''}${passcode ? 'P' : ''}`;
}

/** Returns the link, `shlink:/…`. */
export function makeShlink({ url, key, expiresAt, flag, label }: LinkPayload): string {
  const payload = {
    url,
    key: key.toString('base64url'),
    exp: Math.floor(expiresAt / 1_000_000),
    ...(flag === '' ? {} : { flag }),
    ...(label === null ? {} : { label }),
    v: 1,
  };
  return `shlink:/${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
}

/**
 * Returns the last part of the URL of a link's manifest. The standard requires that this URL contain 256 bits that nobody can
 * guess; the link's id provides 128 of them. The others are derived from the key, so that nothing else has to be stored.
 */
export function manifestSecret(key: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('manifest '), key]), 'buffer').toString('base64url');
}

/** Compares, in constant time, the last part of a manifest's URL with the given text. */
export function isManifestSecret(key: Buffer, given: string): boolean {
  const [own, other] = [manifestSecret(key), given].map((text) => hash('sha256', text, 'buffer'));
  return own !== undefined && other !== undefined && timingSafeEqual(own, other);
}
