/** Parses Bundle requests: https://hl7.org/fhir/R4/http.html#transaction, docs/spec/decisions.md, section 5. Pure. */
import { cut } from '#src/shared/cut.ts';
import type { Issue } from '../shared/issue.ts';
import type { JsonObject } from '../shared/json/json.ts';
import { isObject } from '../shared/json/json.ts';
import { didYouMean } from '../shared/nearest.ts';
import { parseQuery } from '../shared/query-text.ts';
import { Refusal } from '../shared/refusal.ts';
import { findLink, findUntaken, listOwnUrls } from './bundle-conditions.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from './types.ts';

/** A write that an entry requests. */
export interface WriteEntry {
  /** Index of the entry in the Bundle as sent. */
  readonly index: number;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly fullUrl?: string;
  readonly type: ResourceType;
  /** The id in `Type/id`; never set for POST. */
  readonly id?: string;
  /** The criteria in `Type?criteria` (conditional PUT, PATCH, DELETE), or the value of `ifNoneExist` (POST). */
  readonly criteria?: string;
  /** Required for POST, PUT and PATCH. */
  readonly resource?: JsonObject;
  readonly ifMatch?: IfMatch;
  /** The stored version from which the service derived `resource`; never set in a client's Bundle. */
  readonly madeOf?: JsonObject;
}

/** The value of `If-Match`: a version, or `*` for any existing version. */
export type IfMatch = number | '*';

/**
 * A read that an entry requests. A search by POST is represented as a search by GET. The HTTP layer carries the read out after
 * the writes.
 */
export interface ReadEntry {
  readonly index: number;
  readonly method: 'GET' | 'HEAD';
  /** Relative to the base URL: `Patient/1`, `Observation?patient=1`, `Patient/1/_history`. */
  readonly url: string;
  readonly ifNoneMatch?: string;
  readonly ifModifiedSince?: string;
}

/** An entry that can't be parsed. In a batch, only this entry fails; in a transaction, the whole Bundle is refused. */
export interface FaultyEntry {
  readonly index: number;
  readonly refusal: Refusal;
}

export interface ParsedBundle {
  readonly type: 'transaction' | 'batch';
  readonly writes: readonly WriteEntry[];
  readonly reads: readonly ReadEntry[];
  readonly faulty: readonly FaultyEntry[];
  readonly size: number;
}

const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Maximum number of GET and HEAD entries in a Bundle. */
const MAX_READS = 200;

/** Returns an entry's FHIRPath, for diagnostics. */
export const entryPath = (index: number): string => `Bundle.entry[${index}]`;

/**
 * Parses a Bundle of type transaction or batch.
 * @param bases base URLs (with a trailing slash) that `request.url` in entries may begin with.
 * @throws Refusal for a different resource type or Bundle type (422), or more than `maxEntries` or `MAX_READS` (413).
 */
export function parseBundle(value: JsonObject, bases: readonly string[], maxEntries: number): ParsedBundle {
  if (value.resourceType !== 'Bundle') {
    throw new Refusal('malformed', {
      code: 'invalid',
      diagnostics: 'POST to the base URL requires a Bundle',
      expression: 'Bundle.resourceType',
    });
  }
  const type = value.type;
  if (type !== 'transaction' && type !== 'batch') {
    const shown =
      typeof type === 'string' ? `is ${type}` : type === undefined ? 'is missing' : 'is not a string';
    throw new Refusal('invalid', {
      code: 'value',
      diagnostics: `Bundle.type ${shown}; it must be transaction or batch`,
      expression: 'Bundle.type',
    });
  }
  const entries = value.entry ?? [];
  if (!Array.isArray(entries)) {
    throw new Refusal('invalid', {
      code: 'structure',
      diagnostics: 'Bundle.entry must be an array',
      expression: 'Bundle.entry',
    });
  }
  if (entries.length > maxEntries) {
    throw new Refusal('too_large', {
      code: 'too-long',
      diagnostics: `a Bundle can have at most ${maxEntries} entries; this one has ${entries.length}`,
    });
  }
  const writes: WriteEntry[] = [];
  const reads: ReadEntry[] = [];
  const faulty: FaultyEntry[] = [];
  entries.forEach((entry, index) => {
    try {
      const parsed = parseEntry(entry, index, bases);
      if ('url' in parsed) reads.push(parsed);
      else writes.push(parsed);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      faulty.push({ index, refusal: error });
    }
  });
  if (reads.length > MAX_READS) {
    throw new Refusal('too_large', {
      code: 'too-costly',
      diagnostics: `a Bundle can have at most ${MAX_READS} GET entries; this one has ${reads.length}`,
    });
  }
  const own = listOwnUrls(writes);
  const linked = new Set(writes.filter((write) => findLink(write, own) !== undefined));
  for (const write of linked) faulty.push({ index: write.index, refusal: linkFault(write) });
  faulty.sort((one, other) => one.index - other.index);
  return { type, writes: writes.filter((write) => !linked.has(write)), reads, faulty, size: entries.length };
}

function linkFault({ index, method }: WriteEntry): Refusal {
  const place = method === 'POST' ? 'ifNoneExist' : 'url';
  return fault(
    'value',
    'criteria cannot refer to another entry by its fullUrl; name a stored resource, or use a chain such as patient.identifier',
    `${entryPath(index)}.request.${place}`,
  );
}

function parseEntry(entry: unknown, index: number, bases: readonly string[]): WriteEntry | ReadEntry {
  const at = entryPath(index);
  if (!isObject(entry)) throw fault('structure', 'an entry must be an object', at);
  const request = entry.request;
  if (!isObject(request)) throw fault('required', 'an entry must have a request', `${at}.request`);
  refuseUnknown(entry, ENTRY_MEMBERS, at);
  refuseUnknown(request, REQUEST_MEMBERS, `${at}.request`);
  const method = request.method;
  if (typeof method !== 'string' || !METHODS.includes(method)) {
    throw fault(
      'value',
      'request.method must be GET, HEAD, POST, PUT, PATCH or DELETE',
      `${at}.request.method`,
    );
  }
  if (typeof request.url !== 'string' || request.url === '')
    throw fault('required', 'request.url is missing', `${at}.request.url`);
  const url = relative(request.url, bases);
  if (method === 'GET' || method === 'HEAD') {
    return {
      index,
      method,
      url,
      ...optional('ifNoneMatch', textMember(request, 'ifNoneMatch', at)),
      ...optional('ifModifiedSince', textMember(request, 'ifModifiedSince', at)),
    };
  }
  const searched = method === 'POST' ? searchIn(url) : undefined;
  if (searched !== undefined) {
    if (entry.resource === undefined) return { index, method: 'GET', url: searched };
    throw fault('not-supported', 'the parameters of _search must be in request.url', `${at}.resource`);
  }
  return parseWrite(entry, request, method as WriteEntry['method'], url, index, bases);
}

/** Returns the URL of a search by POST as the same search by GET; undefined for other URLs. */
function searchIn(url: string): string | undefined {
  const [path = '', query = ''] = split(url);
  return path === '_search' || path.endsWith('/_search')
    ? `${path.slice(0, -'_search'.length).replace(/\/$/, '')}?${query}`
    : undefined;
}

function parseWrite(
  entry: JsonObject,
  request: JsonObject,
  method: WriteEntry['method'],
  url: string,
  index: number,
  bases: readonly string[],
): WriteEntry {
  const at = entryPath(index);
  const [path = '', query] = split(url);
  const [type, id, ...rest] = path.split('/');
  if (/^[a-z][a-z0-9+.-]*:/i.test(path))
    throw fault('value', `request.url must be relative, or below ${bases[0]}`, `${at}.request.url`);
  if (!isResourceType(type)) {
    throw new Refusal('invalid', {
      code: 'not-supported',
      diagnostics: `${at}: type ${cut(String(type), 64)} is not supported${didYouMean(String(type), TYPE_NAMES)}; annal import skips such entries`,
      expression: at,
    });
  }
  if (rest.length > 0)
    throw fault(
      'not-supported',
      `request.url ${cut(url, 100)} is not a valid URL for ${method}`,
      `${at}.request.url`,
    );
  const conditional = query !== undefined && query !== '';
  if (method === 'POST' ? id !== undefined || query !== undefined : (id === undefined) !== conditional) {
    const form = method === 'POST' ? 'Type' : 'Type/id or Type?criteria';
    throw fault('value', `request.url of a ${method} must be ${form}`, `${at}.request.url`);
  }
  // No resource can have such an id, so DELETE returns 204, just as for a missing resource.
  if (method !== 'DELETE' && id !== undefined && !/^[A-Za-z0-9.-]{1,64}$/.test(id))
    throw fault('value', 'the id must be 1 to 64 letters, digits, hyphens and dots', `${at}.request.url`);
  const resource = entry.resource;
  if (method !== 'DELETE' && !isObject(resource))
    throw fault('required', `a ${method} entry must have a resource`, `${at}.resource`);
  if (isObject(resource) && (method === 'POST' || method === 'PUT') && resource.resourceType !== type) {
    throw new Refusal('malformed', {
      code: 'value',
      diagnostics: `${at}.resource: resourceType must be ${type}, as in request.url`,
      expression: `${at}.resource`,
    });
  }
  const untaken = findUntaken(method, request);
  if (untaken !== undefined)
    throw fault('value', `a ${method} entry cannot have ${untaken}`, `${at}.request.${untaken}`);
  const ifNoneExist = textMember(request, 'ifNoneExist', at);
  const place = `${at}.request.${method === 'POST' ? 'ifNoneExist' : 'url'}`;
  const sent = method === 'POST' ? ifNoneExist : query;
  const criteria = sent && bareCriteria(sent, type, bases, place);
  const ifMatch = textMember(request, 'ifMatch', at);
  return {
    index,
    method,
    type,
    ...optional('fullUrl', textMember(entry, 'fullUrl', at)),
    ...optional('id', id),
    ...optional('criteria', criteria),
    ...(isObject(resource) ? { resource } : {}),
    ...(ifMatch === undefined ? {} : { ifMatch: parseETag(ifMatch, `${at}.request.ifMatch`) }),
  };
}

/** Members that BackboneElement defines, allowed at each level (https://hl7.org/fhir/R4/bundle.html). */
const BACKBONE = ['id', 'extension', 'modifierExtension'];
const ENTRY_MEMBERS = new Set([...BACKBONE, 'link', 'fullUrl', 'resource', 'search', 'request', 'response']);
const REQUEST_MEMBERS = new Set([
  ...BACKBONE,
  'method',
  'url',
  'ifNoneMatch',
  'ifModifiedSince',
  'ifMatch',
  'ifNoneExist',
]);

/** Refuses unknown members. If a misspelt condition were ignored, the entry would be carried out without its condition. */
function refuseUnknown(object: JsonObject, members: ReadonlySet<string>, at: string): void {
  for (const name of Object.keys(object)) {
    if (!members.has(name.replace(/^_/, '')))
      throw fault('structure', `unknown element ${cut(name, 60)}`, at);
  }
}

/** Returns a string member; undefined if it is absent. An empty `fullUrl` is treated as absent. */
function textMember(object: JsonObject, name: string, at: string): string | undefined {
  const value = object[name];
  const path = name === 'fullUrl' ? `${at}.${name}` : `${at}.request.${name}`;
  if (value !== undefined && typeof value !== 'string')
    throw fault('structure', `${name} must be a string`, path);
  return value === '' && name === 'fullUrl' ? undefined : value;
}

function optional<K extends string, V>(name: K, value: V | undefined): { [key in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [key in K]?: V };
}

/**
 * Returns the criteria of `If-None-Exist` alone, in one consistent encoding. Clients send `identifier=…`, `?identifier=…`,
 * `Type?identifier=…` or a whole URL, and some add parameters that don't select anything.
 * @param expression the criteria's expression, for diagnostics
 * @throws Refusal malformed (400) for an escape that can't be decoded
 */
export function bareCriteria(
  criteria: string,
  type: string,
  bases: readonly string[] = [],
  expression = 'http.if-none-exist',
): string {
  const base = bases.find((candidate) => criteria.startsWith(candidate));
  const local = criteria.slice(base?.length ?? 0).replace(/^\//, '');
  const mark = local.indexOf('?');
  const query = mark === 0 || (mark > 0 && local.slice(0, mark) === type) ? local.slice(mark + 1) : local;
  const parameters = [...parseQuery(query, 'the criteria', expression)];
  return `${new URLSearchParams(parameters.filter(([name]) => name !== '_format' && name !== '_pretty'))}`;
}

/**
 * Returns the version number in `W/"3"` (or `"3"` or `3`, which some clients send), or `*` for any version.
 * @throws Refusal malformed (400) for anything else.
 */
export function parseETag(text: string, where?: string): IfMatch {
  if (text.trim() === '*') return '*';
  const digits = /^\s*(?:W\/)?"?(\d{1,9})"?\s*$/.exec(text)?.[1];
  if (digits === undefined) {
    throw new Refusal('malformed', {
      code: 'value',
      diagnostics: `${where ?? 'If-Match'} must be a single ETag, for example W/"3", or *`,
      expression: where ?? 'http.if-match',
    });
  }
  return Number(digits);
}

function relative(url: string, bases: readonly string[]): string {
  for (const base of bases) if (url.startsWith(base)) return url.slice(base.length);
  return url.startsWith('/') ? url.slice(1) : url;
}

function split(url: string): [string, string | undefined] {
  const mark = url.indexOf('?');
  return mark < 0 ? [url, undefined] : [url.slice(0, mark), url.slice(mark + 1)];
}

function fault(code: Issue['code'], diagnostics: string, expression: string): Refusal {
  return new Refusal('invalid', { code, diagnostics: `${expression}: ${diagnostics}`, expression });
}
