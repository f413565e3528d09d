/** The text of a SMART Health Link: https://docs.smarthealthit.org/smart-health-links/spec/#construct-a-shlink-payload */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Micros } from '#src/shared/time/time.ts';

/** The content of a link, which anyone who has the link can read. */
export interface LinkPayload {
  /** The URL of its manifest. */
  readonly url: string;
  /** 32 bytes. */
  readonly key: Buffer;
  readonly expiresAt: Micros;
  readonly flag: string;
  /** At most 80 characters. */
  readonly label: string | null;
}

/** Returns the flags: `L` if each opening shows the current record, `P` for a passcode; in this order. */
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
 * Returns the last part of the URL of a link's manifest. The standard wants 256 bits that nobody can guess in that URL,
 * of which the link's id has 128. They follow from the key, so that nothing else has to be kept.
 */
export function manifestSecret(key: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('manifest '), key]), 'buffer').toString('base64url');
}

/** Compares the last part of a manifest's URL in constant time. */
export function isManifestSecret(key: Buffer, given: string): boolean {
  const [own, other] = [manifestSecret(key), given].map((text) => hash('sha256', text, 'buffer'));
  return own !== undefined && other !== undefined && timingSafeEqual(own, other);
}
