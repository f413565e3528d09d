/** Reads text from queries and elements. */

/** Splits at a separator that isn't escaped with a backslash. */
export function splitEscaped(text: string, separator: string): string[] {
  const parts = [''];
  for (let at = 0; at < text.length; at += 1) {
    const c = text.charAt(at);
    if (c === '\\') {
      parts[parts.length - 1] += c + text.charAt(at + 1);
      at += 1;
    } else if (c === separator) parts.push('');
    else parts[parts.length - 1] += c;
  }
  return parts;
}

/** Returns an escaped part with its escapes resolved. */
export function plain(part: string): string {
  return part.replaceAll(/\\(.)/g, '$1');
}

/** Returns a text with case and accents removed: https://hl7.org/fhir/R4/search.html#string */
export function fold(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Diacritic}/gu, '')
    .toLowerCase()
    .replaceAll(/[æœøßłđðþıς]/g, (letter) => TYPED[letter] ?? letter);
}

/** Replacements that people type for letters missing from their keyboards. */
const TYPED: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
};
