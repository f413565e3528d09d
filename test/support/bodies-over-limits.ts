/** Request bodies that contain more than the service accepts, for every interface. */
import { gzipSync } from 'node:zlib';

/** A request with such a body. */
export interface BodyOverLimit {
  readonly name: string;
  readonly method: 'POST' | 'PATCH' | 'PUT';
  readonly path: string;
  readonly type: string;
  /** Who sends the request: a signed-in member of the project, an API key, or nobody. */
  readonly as: 'person' | 'key' | 'nobody';
  readonly body: () => Buffer;
  readonly gzip?: true;
  /** True if the body must end before its parts can be counted, because they are inside a string. */
  readonly ends?: true;
  readonly status: number;
  /** Part of the error message. */
  readonly says: string;
}

const FHIR = 'application/fhir+json';
const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const HL7 = 'x-application/hl7-v2+er7';
const LABS = '/v1/patients/{patient}/labs/import';
const MSH = 'MSH|^~\\&|Lab|F|||20260331100000+0200||ORU^R01|1|P|2.5\r';

const many = (text: string, count: number): string => text.repeat(count).slice(0, -1);
const VALUES = 'JSON values, the limit';

function over(
  name: string,
  path: string,
  body: () => string,
  more: Partial<BodyOverLimit> = {},
): BodyOverLimit {
  const as = path.startsWith('/admin') || path.startsWith('/me') ? 'person' : 'key';
  const type = path.startsWith('/fhir') ? FHIR : JSON_TYPE;
  const all = { method: 'POST', status: 413, says: VALUES, ...more } as const;
  return { name, path, as, type, ...all, body: () => packed(Buffer.from(body()), more.gzip) };
}

function packed(body: Buffer, gzip?: true): Buffer {
  return gzip ? gzipSync(body, { level: 1 }) : body;
}

const batch = (entries: string): string => `{"resourceType":"Bundle","type":"batch","entry":[${entries}]}`;

/** Returns a batch of patches that are lists of empty lists, in base64. */
function patches(): string {
  const data = Buffer.from(`[{"op":"test","path":"/name","value":[${many('[],', 40_000)}]}]`).toString(
    'base64',
  );
  const entry = `{"resource":{"resourceType":"Binary","contentType":"application/json-patch+json","data":"${data}"},"request":{"method":"PATCH","url":"Patient/00000000-0000-4000-8000-000000000000"}}`;
  return batch(Array.from({ length: 45 }, () => entry).join());
}

/** Returns a batch in which each entry has the maximum number of values. */
function fullEntries(): string {
  return batch(Array.from({ length: 20 }, () => `{"x":[${many('[],', 44_000)}]}`).join());
}

/** The requests. */
export const BODIES_OVER_LIMITS: readonly BodyOverLimit[] = [
  over('8,000,000 empty entries, compressed', '/fhir/R4', () => batch(many('{},', 8_000_000)), {
    gzip: true,
    says: 'at most 5000 entries',
  }),
  over('6,000 entries of a transaction', '/fhir/R4', () => batch(many('{"fullUrl":"urn:uuid:1"},', 6_000)), {
    says: 'at most 5000 entries',
  }),
  over('an entry of empty lists', '/fhir/R4', () => batch(`{"x":[${many('[],', 500_000)}]}`), {
    gzip: true,
  }),
  over('entries that are full', '/fhir/R4', fullEntries, { gzip: true }),
  over('100 MB of blanks', '/fhir/R4', () => batch(' '.repeat(100_000_000)), {
    gzip: true,
    says: 'larger than 25000000 bytes',
  }),
  over('patches of empty lists', '/fhir/R4', patches, { gzip: true, ends: true }),
  over('names of empty lists', '/fhir/R4/Patient', () => `{"name":[${many('[],', 500_000)}]}`),
  over('a resource of tiny strings', '/fhir/R4/Patient', () => `{"name":["${many('","', 500_000)}"]}`, {
    gzip: true,
  }),
  over('nesting', '/fhir/R4/Patient', () => `{"name":${'['.repeat(2_000_000)}`, {
    gzip: true,
    status: 400,
    says: 'nested more than 100 levels',
  }),
  over('Parameters', '/fhir/R4/Patient/$validate', () => `{"parameter":[${many('{},', 500_000)}]}`, {
    gzip: true,
  }),
  over('a JSON Patch', '/fhir/R4/Patient/{patient}', () => `[${many('{},', 500_000)}]`, {
    method: 'PATCH',
    type: 'application/json-patch+json',
    gzip: true,
  }),
  over('a form of a search', '/fhir/R4/Patient/_search', () => many('a&', 60_000), {
    type: FORM,
    says: '100000 bytes',
  }),
  over('a form of an OAuth client', '/oauth/token', () => many('a=1&', 30_000), {
    type: FORM,
    as: 'nobody',
    says: '100000 bytes',
  }),
  over('a v1 patient', '/v1/patients', () => `{"given":["${many('","', 500_000)}"]}`, { gzip: true }),
  over('an organization', '/admin/organizations', () => `{"name":[${many('{},', 500_000)}]}`, {
    gzip: true,
  }),
  over('a redeemed invitation', '/me/invitations/redeem', () => `{"token":[${many('{},', 500_000)}]}`, {
    gzip: true,
  }),
  over('an endpoint of webhooks', '/v1/webhooks', () => `{"types":[${many('"",', 500_000)}]}`, {
    gzip: true,
  }),
  over(
    'a request for a manifest',
    '/shl/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    () => `{"recipient":[${many('[],', 3_000_000)}]}`,
    {
      gzip: true,
      as: 'nobody',
      says: 'larger than 100000 bytes',
    },
  ),
  over('columns of a table', LABS, () => `${many('a,', 3_000_000)}\n`, {
    type: 'text/csv',
    gzip: true,
    says: 'separators and line ends',
  }),
  over('rows of a table', LABS, () => `code,value\n${many('a,1\n', 2_000_000)}`, {
    type: 'text/csv',
    gzip: true,
    says: 'separators and line ends',
  }),
  over('segments of a message', LABS, () => MSH + many('ZZZ\r', 2_000_000), {
    type: HL7,
    gzip: true,
    says: 'separators and line ends',
  }),
  over('fields of a message', LABS, () => MSH + many(`OBX${'|'.repeat(490)}\r`, 10_000), {
    type: HL7,
    says: 'separators and line ends',
  }),
  over(
    'segments of a message in JSON',
    LABS,
    () =>
      `{"message":"${MSH.replaceAll('\r', '\\r').replaceAll('\\&', '\\\\&')}${many('|~|~|~|~|', 500_000)}"}`,
    { gzip: true, ends: true, says: 'separators and line ends' },
  ),
];
