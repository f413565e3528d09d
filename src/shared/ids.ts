/**
 * Creates ids: UUIDv7 for resources and events, prefixed ids for everything else (docs/spec/decisions.md, section 1). Random
 * bits are drawn from the system in bulk, because each draw costs microseconds.
 */
import { hash, randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns whether a text is a UUID in the form that the service assigns: lower case, with hyphens. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Prefixes for ids in the API. */
type IdPrefix =
  | 'evt_'
  | 'whd_'
  | 'whe_'
  | 'proj_'
  | 'org_'
  | 'app_'
  | 'client_test_'
  | 'client_live_'
  | 'key_'
  | 'grant_'
  | 'areq_'
  | 'inv_'
  | 'link_'
  | 'shl_'
  | 'prop_'
  | 'minv_'
  | 'preq_'
  | 'job_'
  | 'tb_'
  | 'chk_'
  | 'inst_'
  | 'req_';

/** Returns a prefix followed by 22 random URL-safe characters (128 bits). */
export function newId(prefix: IdPrefix): string {
  return prefix + random128().toString('base64url');
}

/**
 * Returns a request id. The first 48 of its 128 bits are the time in ms, so that an index on request ids grows only at one
 * end.
 */
export function newRequestId(): string {
  const bits = random128();
  bits.writeUIntBE(Date.now(), 0, 6);
  return `req_${bits.toString('base64url')}`;
}

/** Returns a random UUIDv7 with the current time. */
export function newUuid(): string {
  return v7({ msecs: Date.now(), random: random128() });
}

/**
 * The source of a command's ids. The same seed results in the same ids in the same order, so that a command that is retried
 * after a crash writes the same events.
 */
export class IdSource {
  #drawn = 0;

  /**
   * @param seed the command's id, a UUID
   * @param millis the command's time, which is part of the ids
   */
  constructor(
    readonly seed: string,
    readonly millis: number,
  ) {}

  /** Returns the next UUIDv7. */
  next(): string {
    return this.at(this.#drawn++);
  }

  /** Returns the command's only id with the given prefix. The prefix is followed by 22 URL-safe characters, as in `newId`. */
  prefixed(prefix: IdPrefix): string {
    return prefix + hash('sha256', `${this.seed}/${prefix}`, 'buffer').subarray(0, 16).toString('base64url');
  }

  /** Returns the n-th UUIDv7 in a named series, without advancing the sequence. */
  at(index: number, series = 'id'): string {
    const random = hash('sha256', `${this.seed}/${series}/${index}`, 'buffer');
    return v7({ msecs: this.millis, random: random.subarray(0, 16) });
  }
}

const SIZE = 16;
const drawn = Buffer.allocUnsafeSlow(SIZE * 256);
let next = drawn.length;

/**
 * Returns 128 random bits from a CSPRNG. The buffer is reused in the next turn of the event loop, so copy or encode it at
 * once.
 */
function random128(): Buffer {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  next += SIZE;
  return drawn.subarray(next - SIZE, next);
}

/**
 * Returns the time in a UUIDv7, which is when a command created the resource, in microseconds since 1970; undefined for other
 * ids.
 */
export function createdAt(id: string): number | undefined {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1000 : undefined;
}
