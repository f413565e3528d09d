/**
 * Determines whether an element matches a value, according to the parameter's type: https://hl7.org/fhir/R4/search.html#ptypes
 */
import { dateMatches } from './dates.ts';
import type { Json } from './published.ts';
import { quantityMatches } from './quantities.ts';
import { fold, plain, splitEscaped } from './text.ts';

/** A query's condition on an element. */
export interface Asked {
  readonly type: string;
  readonly modifier: string | undefined;
  /** One of the value's alternatives, still escaped. */
  readonly text: string;
  /** The service's base URL, with a trailing slash. */
  readonly base: string;
}

/** Returns whether a resource's element matches. */
export function matches(element: unknown, asked: Asked): boolean {
  switch (asked.type) {
    case 'token':
      return tokenMatches(element, asked.modifier, asked.text);
    case 'string':
      return stringsOf(element).some((text) => stringMatches(text, asked.modifier, plain(asked.text)));
    case 'date':
      return dateMatches(element, asked.text);
    case 'quantity':
      return quantityMatches(element as Json, asked.text);
    case 'uri':
      return urisOf(String(element)).some((uri) => uriMatches(uri, asked.modifier, plain(asked.text)));
    case 'reference':
      return referenceMatches(element, asked);
    default:
      throw new Error(`no matches for ${asked.type}`);
  }
}

interface Token {
  readonly system: string;
  readonly code: string | undefined;
}

const list = (value: unknown) => [value].flat().filter((item): item is Json => typeof item === 'object');
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

function tokensOf(element: unknown): Token[] {
  if (typeof element === 'boolean') {
    return [{ system: 'http://terminology.hl7.org/CodeSystem/special-values', code: String(element) }];
  }
  if (typeof element === 'string') return [{ system: '', code: element }];
  const { coding, code, value, system } = element as Json;
  if (coding !== undefined) return list(coding).flatMap(tokensOf);
  const own = textOf(code) ?? textOf(value);
  return own === undefined && system === undefined ? [] : [{ system: textOf(system) ?? '', code: own }];
}

function tokenMatches(element: unknown, modifier: string | undefined, text: string): boolean {
  const parts = splitEscaped(text, '|').map(plain);
  const same = (one: string | undefined, other: string) => one?.toLowerCase() === other.toLowerCase();
  if (modifier === 'of-type') {
    const [system = '', code = '', value = ''] = parts;
    const { type, value: own } = element as Json;
    const types = list(type).flatMap(({ coding }) => list(coding));
    return (
      same(textOf(own), value) &&
      types.some((each) => each.system === system && same(textOf(each.code), code))
    );
  }
  if (modifier === 'text') return textsOf(element).some((each) => fold(each).startsWith(fold(plain(text))));
  const [first = '', second] = parts;
  return tokensOf(element).some(({ system, code }) => {
    if (second === undefined) return same(code, first);
    return system === first && (second === '' || same(code, second));
  });
}

/** Returns the texts of a token, for `:text`. */
function textsOf(element: unknown): string[] {
  if (typeof element !== 'object' || element === null) return [];
  const { text, display, coding, type } = element as Json;
  return [
    ...[text, display].flatMap((value) => textOf(value) ?? []),
    ...list(coding).flatMap((each) => textOf(each.display) ?? []),
    ...list(type).flatMap((each) => textOf(each.text) ?? []),
  ];
}

function stringsOf(element: unknown): string[] {
  if (typeof element === 'string') return [element];
  const parts = element as Json;
  const names = ['text', 'family', 'given', 'prefix', 'suffix'];
  const addresses = ['line', 'city', 'district', 'state', 'postalCode', 'country'];
  return [...names, ...addresses].flatMap((name) => (parts[name] ?? []) as string | string[]);
}

function stringMatches(text: string, modifier: string | undefined, asked: string): boolean {
  if (modifier === 'exact') return text === asked;
  return modifier === 'contains' ? fold(text).includes(fold(asked)) : fold(text).startsWith(fold(asked));
}

/** Returns a canonical's URIs, with and without the version. */
function urisOf(text: string): string[] {
  const [url = ''] = text.split('|');
  return url === text ? [text] : [text, url];
}

function uriMatches(uri: string, modifier: string | undefined, asked: string): boolean {
  const within = (inner: string, outer: string) =>
    inner === outer || inner.startsWith(outer.replace(/\/?$/, '/'));
  if (modifier === 'below') return within(uri, asked);
  return modifier === 'above' ? within(asked, uri) : uri === asked;
}

function referenceMatches(element: unknown, { modifier, text, base }: Asked): boolean {
  if (modifier === 'identifier')
    return list((element as Json).identifier).some((each) => tokenMatches(each, undefined, text));
  const asked = plain(text);
  if (typeof element === 'string') return element === asked || element.split('|')[0] === asked;
  const whole = relative(textOf((element as Json).reference) ?? '', base);
  const wanted = relative(asked, base);
  const type = modifier === undefined ? '' : `${modifier}/`;
  if (wanted.includes('/')) return whole === wanted;
  return type === ''
    ? whole.split('/').length === 2 && whole.endsWith(`/${wanted}`)
    : whole === type + wanted;
}

/** Returns a reference without our own base URL and without a version. */
export function relative(reference: string, base: string): string {
  const own = reference.startsWith(base) ? reference.slice(base.length) : reference;
  return own.replace(/\/_history\/[^/]+$/, '');
}
