/**
 * Reads whole request bodies. Their bytes and parts are counted as they arrive, before anything is parsed. Reading stops if a
 * body arrives too slowly.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { cut } from '#src/shared/cut.ts';
import type { Hold } from '#src/shared/load/answer-budget.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { isServedRelease } from './answer/negotiation.ts';
import { type BodyCount, SPARED } from './body-count.ts';
import type { Edge } from './edge/edge.ts';
import { LARGE_BODY, noteBody } from './large-bodies.ts';

/** A body as it came. */
export interface RawBody {
  /** In lower case, without parameters. */
  readonly mediaType: string;
  readonly bytes: Buffer;
  /** The charset in Content-Type, for types that allow charsets other than UTF-8. */
  readonly charset?: string;
  /** The edge of a request under a grant, where the parser exchanges the body's ids before other code sees them. */
  readonly edge?: Edge;
}

/** The media types of JSON: FHIR's own and the generic ones. */
export const JSON_TYPES: readonly string[] = [
  'application/fhir+json',
  'application/json',
  'text/json',
  // The name in FHIR DSTU1 and DSTU2, which some clients still send.
  'application/json+fhir',
];

/** The accepted forms of a request body, and its limits. */
export interface BodyLimits {
  /** Accepted media types, in lower case. */
  readonly accepted: readonly string[];
  /** The accepted media types whose text may be in a charset other than UTF-8. */
  readonly anyCharset?: readonly string[];
  /** Maximum number of bytes after decompression. */
  readonly bytes: number;
  /** Returns the counter for the parts of a body of the given media type. */
  readonly count: (mediaType: string) => BodyCount;
}

/** Pieces are larger than by default, because each piece is a separate task for another thread. */
const UNPACKING = { chunkSize: 64 * 1024 };

/** Returns whether a request has a body: RFC 9112, section 6. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : length !== '0';
}

/**
 * Reads a request's body.
 * @param hold reserves memory before bytes are stored
 * @throws Refusal unsupported_media_type (415) for other types, charsets or encodings; too_large (413), based on
 *   Content-Length before anything is read, otherwise at the byte that exceeds a limit; malformed (400) for a missing or
 *   truncated body; the errors of `hold`
 */
export async function readBody(
  request: IncomingMessage,
  { accepted, anyCharset = [], bytes: limit, count }: BodyLimits,
  hold: Hold,
): Promise<RawBody> {
  const { headers } = request;
  const length = headers['content-length'];
  if (!hasBody(request)) {
    throw new Refusal('malformed', { code: 'required', diagnostics: 'the request has no body' });
  }
  const { mediaType, charset } = readMediaType(headers['content-type'], accepted, anyCharset);
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw unsupported(`Content-Encoding ${cut(encoding, 40)} is not supported; use gzip or none`, accepted);
  }
  if (length !== undefined && Number(length) > limit) throw tooLarge(limit);
  const isPacked = encoding === 'gzip';
  const bytes = await collect(
    isPacked ? request.pipe(createGunzip(UNPACKING)) : request,
    request,
    limit,
    () => count(mediaType),
    (size) => hold(size, isPacked ? undefined : Number(length ?? 0)),
  );
  return { mediaType, bytes, ...(charset === undefined ? {} : { charset }) };
}

/**
 * Returns a body's text.
 * @throws Refusal malformed (400) if it isn't UTF-8
 */
export function decodeBody(body: RawBody): string {
  if (!isUtf8(body.bytes)) {
    throw new Refusal('malformed', { code: 'structure', diagnostics: 'the body is not UTF-8' });
  }
  const marked = body.bytes[0] === 0xef && body.bytes[1] === 0xbb && body.bytes[2] === 0xbf;
  return body.bytes.toString('utf8', marked ? 3 : 0);
}

const CHARSET = /;\s*charset\s*=\s*"?([^";\s]+)/i;

function readMediaType(
  header: string | undefined,
  accepted: readonly string[],
  anyCharset: readonly string[],
): Omit<RawBody, 'bytes'> {
  if (header !== undefined && accepted.includes(header)) return { mediaType: header };
  const end = header?.indexOf(';') ?? -1;
  const type = (end < 0 ? header : header?.slice(0, end))?.trim().toLowerCase();
  if (type === undefined || !accepted.includes(type)) {
    throw unsupported(`Content-Type must be ${accepted.join(' or ')}`, accepted);
  }
  if (!isServedRelease(header ?? ''))
    throw unsupported('fhirVersion in Content-Type must be 4.0, or left out', accepted);
  const named = CHARSET.exec(header ?? '')?.[1]?.toLowerCase();
  if (anyCharset.includes(type))
    return { mediaType: type, ...(named === undefined ? {} : { charset: named }) };
  const charset = named ?? 'utf-8';
  if (charset !== 'utf-8' && charset !== 'utf8') throw unsupported('the charset must be UTF-8', accepted);
  return { mediaType: type };
}

/** Collects the bytes of a stream up to the limits. After a refusal, the rest is discarded without being decompressed. */
function collect(
  source: Readable,
  request: IncomingMessage,
  limit: number,
  makeCount: () => BodyCount,
  hold: (size: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let counted = 0;
    let count: BodyCount | undefined;
    const fail = (error: unknown) => {
      arrival.end();
      source.removeAllListeners('data');
      request.unpipe();
      if (source !== request) source.destroy();
      request.resume();
      reject(error);
    };
    const arrival = new ArrivalWatch(fail);
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (request.complete) arrival.end();
      else arrival.came(size);
      try {
        if (size > limit) throw tooLarge(limit);
        hold(size);
        chunks.push(chunk);
        if (size <= SPARED) return;
        count ??= makeCount();
        for (const one of chunks.slice(counted)) count.add(one);
        counted = chunks.length;
      } catch (error) {
        if (size >= LARGE_BODY) noteBody(request, size);
        fail(error);
      }
    });
    source.on('end', () => {
      arrival.end();
      if (size >= LARGE_BODY) noteBody(request, size);
      const [only] = chunks;
      resolve(only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, size));
    });
    source.on('error', () =>
      fail(
        source === request
          ? brokenOff()
          : new Refusal('malformed', { code: 'structure', diagnostics: 'the body is not valid gzip' }),
      ),
    );
    request.on('close', () => {
      arrival.end();
      if (!request.complete) reject(brokenOff());
    });
  });
}

function brokenOff(): Refusal {
  return new Refusal('malformed', { code: 'structure', diagnostics: 'the body ended early' });
}

function tooLarge(limit: number): Refusal {
  return new Refusal('too_large', {
    code: 'too-long',
    diagnostics: `the body is larger than ${limit} bytes, the limit`,
  });
}

/**
 * Returns a refusal that lists the accepted types, as RFC 9110, section 12.5.1, defines; for PATCH, also as RFC 5789, section
 * 3.1, defines.
 */
function unsupported(diagnostics: string, accepted: readonly string[]): Refusal {
  const types = accepted.join(', ');
  const patch = accepted.some((type) => type.includes('patch')) ? { 'Accept-Patch': types } : {};
  const headers = { Accept: types, 'Accept-Encoding': 'gzip', ...patch };
  return new Refusal('unsupported_media_type', { code: 'not-supported', diagnostics }, headers);
}

/** The minimum amount of a body that must arrive in each time span. */
interface Arrival {
  /** Length of a time span, in ms. */
  readonly spanMs: number;
  /** Bytes required in each span once more than `largeBytes` have arrived. Before that, one byte per span is enough. */
  readonly bytes: number;
  readonly largeBytes: number;
}

/** About 17 kB per second after the first megabyte, so that slow large bodies don't occupy memory for long. */
const ARRIVAL: Arrival = { spanMs: 30_000, bytes: 500_000, largeBytes: 1_000_000 };

/** Checks that a body arrives fast enough. */
export class ArrivalWatch {
  readonly #least: Arrival;
  readonly #tooSlow: (refusal: Refusal) => void;
  #timer: NodeJS.Timeout | undefined;
  #size = 0;
  /** Number of bytes that had arrived when the span began. */
  #before = 0;

  /** @param tooSlow called once with a refusal (400) if too little arrives in a span */
  constructor(tooSlow: (refusal: Refusal) => void, least: Arrival = ARRIVAL) {
    this.#tooSlow = tooSlow;
    this.#least = least;
  }

  /** Records how many bytes have arrived so far. */
  came(size: number): void {
    this.#size = size;
    this.#timer ??= setTimeout(() => this.#spanEnds(), this.#least.spanMs);
  }

  /** Stops watching. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #spanEnds(): void {
    this.#timer = undefined;
    const { spanMs, bytes, largeBytes } = this.#least;
    const needed = this.#before >= largeBytes ? bytes : 1;
    const arrived = this.#size - this.#before;
    if (arrived < needed) {
      const diagnostics = `${arrived} bytes of the body came within ${spanMs / 1_000} seconds; send at least ${needed}`;
      this.#tooSlow(new Refusal('malformed', { code: 'structure', diagnostics }, { Connection: 'close' }));
      return;
    }
    this.#before = this.#size;
    this.came(this.#size);
  }
}
