/** Ids: UUIDv7 for resources and events, prefixed ones for everything else (docs/spec/decisions.md, section 1). */
import { hash } from 'node:crypto';
import { v7 } from 'uuid';
import { random128 } from './random.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in the form that we assign: lower case, with hyphens. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Prefixes of ids that go over the wire. */
export type IdPrefix =
  | 'evt_'
  | 'whd_'
  | 'whe_'
  | 'proj_'
  | 'org_'
  | 'app_'
  | 'client_'
  | 'key_'
  | 'grant_'
  | 'req_';

/** A random id of 22 URL-safe characters (128 bits) behind its prefix. */
export function newId(prefix: IdPrefix): string {
  return prefix + random128().toString('base64url');
}

/** The id of a request: of its 128 bits the first 48 are its time in ms, so that what is indexed by it grows at one end. */
export function newRequestId(): string {
  const bits = random128();
  bits.writeUIntBE(Date.now(), 0, 6);
  return `req_${bits.toString('base64url')}`;
}

/** A random UUIDv7 of this moment. */
export function newUuid(): string {
  return v7({ msecs: Date.now(), random: random128() });
}

/**
 * Where a command takes its ids from: the same seed gives the same ids in the same order, so that a command
 * that is tried again after a crash writes the same events.
 */
export class IdSource {
  #drawn = 0;

  /**
   * @param seed the command's id, a UUID.
   * @param millis the command's time, which the ids bear.
   */
  constructor(
    readonly seed: string,
    readonly millis: number,
  ) {}

  /** The next UUIDv7. */
  next(): string {
    return this.at(this.#drawn++);
  }

  /** The one id of a kind that the command needs: 22 URL-safe characters behind the prefix, as `newId` gives. */
  prefixed(prefix: IdPrefix): string {
    return prefix + hash('sha256', `${this.seed}/${prefix}`, 'buffer').subarray(0, 16).toString('base64url');
  }

  /** The n-th UUIDv7 of a named series, without drawing from the sequence. */
  at(index: number, series = 'id'): string {
    const random = hash('sha256', `${this.seed}/${series}/${index}`, 'buffer');
    return v7({ msecs: this.millis, random: random.subarray(0, 16) });
  }
}
