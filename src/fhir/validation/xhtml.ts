/**
 * Validates narrative markup: well-formed XHTML with only the elements and attributes that R4 allows (txt-1), and with some
 * content (txt-2). https://hl7.org/fhir/R4/narrative.html#Narrative. The namespace is optional, because many senders omit it.
 */
import { cut } from '#src/shared/cut.ts';

const ELEMENTS = new Set(
  (
    'a abbr acronym address area b bdo big blockquote br caption cite code col colgroup dd dfn div dl dt em h1 h2 h3 h4 h5 ' +
    'h6 hr i img kbd li map ol p pre q samp small span strong sub sup table tbody td tfoot th thead tr tt ul var'
  ).split(' '),
);

const ATTRIBUTES = new Set(
  (
    'abbr accesskey align alt axis bgcolor border cellpadding cellspacing char charoff charset cite class colspan compact ' +
    'coords dir frame headers height href hreflang id ismap lang longdesc name nohref nowrap rel rev rowspan rules scope ' +
    'shape space span src start style summary tabindex title type usemap valign value width xml:lang xml:space xmlns'
  ).split(' '),
);

/** Maximum number of elements in a narrative. */
const MOST_ELEMENTS = 100_000;
const NAMESPACE = 'http://www.w3.org/1999/xhtml';
const MARKUP =
  /<\/([A-Za-z][\w:.-]*)\s*>|<([A-Za-z][\w:.-]*)((?:\s+[A-Za-z_:][\w:.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*')){0,200})\s*(\/?)>/y;
const ATTRIBUTE = /([A-Za-z_:][\w:.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
/**
 * Matches an ampersand, unless it begins one of XML's own entities or an ordinary number. Those are excluded because
 * `matchAll` is slow for millions of matches. HTML's entities (`&nbsp;`) need a document type, which narratives do not have,
 * so R4 requires the characters instead.
 */
const SUSPECT =
  /&(?!(?:amp|lt|gt|quot|apos|#(?:3[2-9]|[4-9]\d|[1-9]\d{2,3}));)(?:#(\d{1,20}|x[0-9A-Fa-f]{1,20});|([A-Za-z][A-Za-z0-9]*);)?/g;

/** A fault in markup: it is malformed, or breaks one of R4's two rules. */
export interface MarkupFault {
  readonly rule: 'xml' | 'txt-1' | 'txt-2';
  readonly text: string;
}

/**
 * Checks a `div`; returns undefined if it is valid. The check stops at the first fault, because the rest cannot be
 * interpreted.
 */
export function checkXhtml(text: string): MarkupFault | undefined {
  const open: string[] = [];
  let at = 0;
  let content = false;
  for (let elements = 0; at < text.length; ) {
    const markup = text.indexOf('<', at);
    const end = markup < 0 ? text.length : markup;
    if (end > at) {
      const run = text.slice(at, end);
      if (open.length === 0) {
        // Whitespace is allowed around the root element of a well-formed document: https://www.w3.org/TR/xml/#sec-well-formed
        if (/[^ \t\r\n]/.test(run)) return malformed('has text outside its div');
        at = end;
        continue;
      }
      const fault = entityFault(run);
      if (fault !== undefined) return malformed(fault);
      content ||= /\S/.test(run);
      at = end;
      continue;
    }
    if (text.startsWith('<!--', at)) {
      const close = text.indexOf('--', at + 4);
      if (close < 0 || text[close + 2] !== '>')
        return malformed(`has a comment at character ${at + 1} that does not end`);
      at = close + 3;
      continue;
    }
    MARKUP.lastIndex = at;
    const match = MARKUP.exec(text);
    if (match === null) return malformed(`is not well-formed at character ${at + 1}`);
    at = MARKUP.lastIndex;
    const [, closing, opening, attributes = '', slash] = match;
    if (closing !== undefined) {
      if (open.pop() !== closing) return malformed(`closes ${closing} where it is not open`);
    } else if (opening !== undefined) {
      if (open.length === 0 && (opening !== 'div' || elements > 0)) return malformed('must be a single div');
      elements += 1;
      if (elements > MOST_ELEMENTS) return malformed(`has more than ${MOST_ELEMENTS} elements`);
      const fault = checkElement(opening, attributes);
      if (fault !== undefined) return fault;
      content ||= opening === 'img';
      if (slash === '') open.push(opening);
    }
  }
  if (open.length > 0) return malformed(`does not close ${open.at(-1)}`);
  return content ? undefined : { rule: 'txt-2', text: 'must have some content' };
}

function checkElement(name: string, attributes: string): MarkupFault | undefined {
  if (!ELEMENTS.has(name)) return { rule: 'txt-1', text: `must not have the element ${name}` };
  const seen = new Set<string>();
  for (const [, key = '', double, single] of attributes.matchAll(ATTRIBUTE)) {
    const value = double ?? single ?? '';
    if (!ATTRIBUTES.has(key)) return { rule: 'txt-1', text: `must not have the attribute ${key}` };
    if (seen.has(key)) return malformed(`has the attribute ${key} twice`);
    const fault = entityFault(value);
    if (fault !== undefined) return malformed(fault);
    if (key === 'xmlns' && value !== NAMESPACE)
      return { rule: 'txt-1', text: 'must be in the XHTML namespace' };
    seen.add(key);
  }
  return undefined;
}

/** Returns the error for the first invalid ampersand in a string. */
function entityFault(text: string): string | undefined {
  if (!text.includes('&')) return undefined;
  for (const [all, number, name] of text.matchAll(SUSPECT)) {
    if (all === '&') return 'has an unescaped ampersand; write &amp;';
    if (name !== undefined)
      return `has the entity &${cut(name, 32)};, which XML doesn't define; write the character itself, or its number, for example &#160;`;
    if (number !== undefined && !isCharacter(Number(number.replace('x', '0x'))))
      return `has &#${number};, which is not a character`;
  }
  return undefined;
}

/** Returns whether a code point is a Char as defined in https://www.w3.org/TR/xml/#charsets */
function isCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code < 0xd800 || (code > 0xdfff && code < 0xfffe) || (code > 0xffff && code <= 0x10ffff);
}

function malformed(text: string): MarkupFault {
  return { rule: 'xml', text };
}
