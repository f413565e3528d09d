/**
 * Messages between a process that has counted many matches and the process that runs the read model `search`: the first asks
 * the second for a tally of them.
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
  /** Hashes of texts that include the tenant and type (`keys.ts`), as an array literal, sorted as text. */
  readonly keys: string;
}

/** Returns a notification's payload. */
export function writeAsk(tenant: string, type: string, keys: readonly string[]): string {
  return `${tenant} ${type} {${keys.join()}}`;
}

const KEYS = /^\{-?\d{1,19}(?:,-?\d{1,19}){0,2}\}$/;

/** Parses a payload; returns undefined if the text isn't a valid payload. */
export function readAsk(text: string): AskedTally | undefined {
  const [tenant = '', type = '', keys = '', ...more] = text.split(' ');
  const isAsk = more.length === 0 && isUuid(tenant) && /^[A-Za-z]{1,64}$/.test(type) && KEYS.test(keys);
  return isAsk ? { tenant, type, keys } : undefined;
}
