/**
 * Exchanges a Patient's real id and the id that an application knows, in both directions (docs/spec/decisions.md, section 1).
 *
 * In requests, the pairwise id becomes the real id. The real id becomes a third id, the hidden id. No resource has the hidden
 * id, so it behaves like any unknown id. In answers, the real id becomes the pairwise id. The hidden id becomes the real id
 * again, because it can only be there if the client sent the real id. So clients get their own texts back, and nothing reveals
 * that a text contained the real id. An answer never turns a pairwise id into the real id, because others may have written the
 * pairwise id into the record.
 *
 * All three ids have 36 characters, so lengths and limits are the same on both sides.
 *
 * The real id and the hidden id begin with the same two digits, which are left out of the exchange: where a text is encoded
 * (`%40`, `\u0010`), these digits may belong to the preceding character.
 */
import { createHmac, hkdfSync } from 'node:crypto';
import { withPlainIds } from './encoded-ids.ts';

/** The Patient's ids: the internal id, and the id that the application knows. Both are UUIDs in lower case. */
export interface PatientIds {
  readonly record: string;
  readonly patient: string;
}

/** Length of a UUID, in characters. */
const UUID_LENGTH = 36;
/** Number of digits at the beginning of an id that may belong to an encoded character. */
const HEAD = 2;
/** Length of the shortest text that is exchanged, in characters. */
export const SHORTEST = UUID_LENGTH - HEAD;
/** Length of the time and version of a UUIDv7, which are the same in the hidden id and the real id. */
const COMMON = 15;
/** Position of the variant (RFC 9562, section 4.1). */
const VARIANT = 19;
const [DIGITS, LETTERS] = ['0123456789', 'abcdef'];

/**
 * Returns the key for hidden ids.
 * @param key 32 bytes, the `pairwise_key` in `src/operations/installation-key.ts`
 */
export function deriveHiddenKey(key: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', 'annal hidden patient id', 32));
}

/** Exchanges one Patient's ids for one application. */
export class IdExchange {
  readonly #ids: PatientIds;
  readonly #hidden: string;
  readonly #upper: PatientIds;
  readonly #sent: RegExp;
  readonly #kept: RegExp;

  /** @param key 32 secret bytes that belong to the installation */
  constructor(ids: PatientIds, key: Buffer) {
    const { record, patient } = ids;
    this.#ids = ids;
    this.#hidden = hiddenId(ids, key);
    this.#upper = { record: record.toUpperCase(), patient: patient.toUpperCase() };
    this.#sent = new RegExp(`${patient}|${record.slice(HEAD)}`, 'gi');
    this.#kept = new RegExp(
      `(?:${record.slice(0, HEAD)})?${record.slice(HEAD, COMMON)}(?:${record.slice(COMMON)}|${this.#hidden.slice(COMMON)})`,
      'gi',
    );
  }

  /**
   * Converts decoded text from a request to the internal ids. The pairwise id is recognised in lower or upper case; mixed case
   * isn't used in practice.
   */
  readonly inward = (text: string): string =>
    text.length < SHORTEST ? text : text.replace(this.#sent, this.#sentId);

  /** Like `inward`, but for text that will be percent-decoded, such as the URL of a Bundle entry. */
  readonly inwardUrl = (text: string): string => this.inward(withPlainIds(text));

  /**
   * Converts text from an answer to the ids that the application may see, in any letter case; returns the same text if it
   * contains no ids.
   */
  outward(text: string): string {
    return text.length < SHORTEST ? text : text.replace(this.#kept, this.#keptId);
  }

  readonly #sentId = (found: string): string => {
    const { record, patient } = this.#ids;
    if (found.length < UUID_LENGTH) return likeCased(this.#hidden.slice(HEAD), found);
    if (found === patient) return record;
    return found === this.#upper.patient ? this.#upper.record : found;
  };

  readonly #keptId = (found: string): string => {
    const { record, patient } = this.#ids;
    if (found === record) return patient;
    const lower = found.toLowerCase();
    if (lower === record) return found === this.#upper.record ? this.#upper.patient : patient;
    return lower === record.slice(HEAD) ? found : likeCased(record.slice(-found.length), found);
  };
}

/**
 * Returns the id that replaces the real id in requests. It has digits, letters, time, version and variant in the same places
 * as the real id. So it is valid wherever the real id is valid, and it can be written in the same letter case.
 */
function hiddenId({ record, patient }: PatientIds, key: Buffer): string {
  const bytes = createHmac('sha256', key).update(`${patient} ${record}`).digest();
  return [...record]
    .map((character, place) => {
      if (place < COMMON || place === VARIANT || character === '-') return character;
      const alphabet = DIGITS.includes(character) ? DIGITS : LETTERS;
      // Always a different character than before.
      const step = 1 + (bytes.readUInt8(place % bytes.length) % (alphabet.length - 1));
      return alphabet.charAt((alphabet.indexOf(character) + step) % alphabet.length);
    })
    .join('');
}

/** Returns an id, in upper case wherever the other text is; both have letters in the same places. */
function likeCased(id: string, like: string): string {
  if (like === like.toLowerCase()) return id;
  return [...id]
    .map((character, place) => (/[A-F]/.test(like.charAt(place)) ? character.toUpperCase() : character))
    .join('');
}
