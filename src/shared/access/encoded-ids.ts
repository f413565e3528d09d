/** Percent-encoded ids in texts that may be decoded later (RFC 3986, section 2.1). */

/** A UUID at any place. */
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
const UUID_LENGTH = 36;

/** An encoded byte, or a percent sign that encodes nothing. */
const PERCENT = /%(?:[0-9a-f]{2})?/gi;
/** The encoded characters of ids. */
const ENCODED = /^%(?:3[0-9]|[46][1-6]|2d)$/i;

/**
 * Returns a text that decodes to the same, in which no character of a UUID is encoded. This holds for every UUID: if only
 * the ids of a Patient were decoded, a client could tell them from others.
 */
export function withPlainIds(text: string): string {
  if (!text.includes('%')) return text;
  const signs: { readonly raw: string; readonly at: number }[] = [];
  let saved = 0;
  // One character for each sign, so that a UUID is found whatever it is written with.
  const plain = text.replace(PERCENT, (raw, at: number) => {
    signs.push({ raw, at: at - saved });
    saved += raw.length - 1;
    return ENCODED.test(raw) ? String.fromCharCode(Number.parseInt(raw.slice(1), 16)) : '%';
  });
  if (!UUID.test(plain)) return text;
  let result = '';
  let done = 0;
  for (const { raw, at } of signs) {
    result +=
      plain.slice(done, at) + (raw === '%' ? sign(plain, at) : isOfId(plain, at) ? plain.charAt(at) : raw);
    done = at + 1;
  }
  return result + plain.slice(done);
}

/** Tells whether a character belongs to a UUID; UUIDs may overlap. */
function isOfId(plain: string, at: number): boolean {
  // A UUID in this part must have its middle.
  return UUID.test(plain.slice(Math.max(0, at - UUID_LENGTH + 1), at + UUID_LENGTH));
}

/** Returns a percent sign that encodes nothing, so that it doesn't with characters that are decoded after it either. */
function sign(plain: string, at: number): string {
  const isBefore = /^[0-9a-f]{2}$/i.test(plain.slice(at + 1, at + 3));
  return isBefore && (isOfId(plain, at + 1) || isOfId(plain, at + 2)) ? '%25' : '%';
}
