/** How a process that counted many matches asks the runner of the read model `search` for a tally of them. */
import { isUuid } from '#src/shared/ids.ts';

/** NOTIFY channel. */
export const TALLIES = 'annal_tallies';

/** The maximum number of keys of a tally. */
export const MOST_KEYS = 3;

/** A tally: the number of entries that have all of some keys. */
export interface AskedTally {
  readonly tenant: string;
  readonly type: string;
  /** Hashes that include tenant and type (`keys.ts`), as an array literal in the order of their texts. */
  readonly keys: string;
}

/** Returns the payload of a notification. */
export function writeAsk(tenant: string, type: string, keys: readonly string[]): string {
  return `${tenant} ${type} {${keys.join()}}`;
}

const KEYS = /^\{-?\d{1,19}(?:,-?\d{1,19}){0,2}\}$/;

/** Reads a payload; undefined if it isn't one. */
export function readAsk(text: string): AskedTally | undefined {
  const [tenant = '', type = '', keys = '', ...more] = text.split(' ');
  const isAsk = more.length === 0 && isUuid(tenant) && /^[A-Za-z]{1,64}$/.test(type) && KEYS.test(keys);
  return isAsk ? { tenant, type, keys } : undefined;
}
