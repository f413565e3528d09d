/** Decodes percent-encoded ids in text that may be decoded again later (RFC 3986, section 2.1). */

/** Matches a UUID anywhere in a text. */
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
const UUID_LENGTH = 36;

/** Matches an encoded byte, or a percent sign that encodes nothing. */
const PERCENT = /%(?:[0-9a-f]{2})?/gi;
/** Matches encoded characters that ids consist of. */
const ENCODED = /^%(?:3[0-9]|[46][1-6]|2d)$/i;

/**
 * Returns a text that decodes to the same result, but in which no character of a UUID is encoded. This applies to all UUIDs:
 * if only a Patient's ids were decoded, a client could distinguish them from other ids.
 */
export function withPlainIds(text: string): string {
  if (!text.includes('%')) return text;
  const signs: { readonly raw: string; readonly at: number }[] = [];
  let saved = 0;
  // Replaces each encoded character by a single character, so that a UUID is found regardless of how it is written.
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

/** Returns whether a character belongs to a UUID; UUIDs may overlap. */
function isOfId(plain: string, at: number): boolean {
  // Any UUID within this part of the text must contain the character in the middle.
  return UUID.test(plain.slice(Math.max(0, at - UUID_LENGTH + 1), at + UUID_LENGTH));
}

/** Returns a percent sign that encodes nothing, written so that it doesn't combine with decoded characters that follow it. */
function sign(plain: string, at: number): string {
  const isBefore = /^[0-9a-f]{2}$/i.test(plain.slice(at + 1, at + 3));
  return isBefore && (isOfId(plain, at + 1) || isOfId(plain, at + 2)) ? '%25' : '%';
}
