/**
 * Messages with which a process that counted many matches requests a tally of them from the process that runs the read model
 * `search`.
 */
import { isUuid } from '#src/shared/ids.ts';

/** NOTIFY channel. */
export const TALLIES = 'annal_tallies';

/** The maximum number of keys in a tally. */
export const MOST_KEYS = 3;

/** A tally: the number of entries that have all the given keys. */
export interface AskedTally {
  readonly tenant: string;
  readonly type: string;
  /** Hashes that include tenant and type (`keys.ts`), as an array literal, sorted as text. */
  readonly keys: string;
}

/** Returns a notification's payload. */
export function writeAsk(tenant: string, type: string, keys: readonly string[]): string {
  return `${tenant} ${type} {${keys.join()}}`;
}

const KEYS = /^\{-?\d{1,19}(?:,-?\d{1,19}){0,2}\}$/;

/** Parses a payload; undefined if it isn't one. */
export function readAsk(text: string): AskedTally | undefined {
  const [tenant = '', type = '', keys = '', ...more] = text.split(' ');
  const isAsk = more.length === 0 && isUuid(tenant) && /^[A-Za-z]{1,64}$/.test(type) && KEYS.test(keys);
  return isAsk ? { tenant, type, keys } : undefined;
}
