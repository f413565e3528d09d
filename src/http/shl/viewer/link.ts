/**
 * Opens SMART Health Links in a browser: reads the link, requests its manifest and decrypts its files
 * (https://docs.smarthealthit.org/smart-health-links/spec/). The key never leaves the browser.
 */
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import type { TextKey } from '../../pages/languages/language.ts';
import { object, objectsIn } from './texts.ts';

/** Maximum length of a decrypted file, chosen so that it fits in a phone's memory. */
const MOST = 100_000_000;

/**
 * Thrown if a link can't be opened. `reason` is the key of a text; `left` is the number of wrong passcodes that are still
 * allowed.
 */
export class LinkFault extends Error {
  constructor(
    readonly reason: TextKey,
    { left, origin }: { readonly left?: number | undefined; readonly origin?: string } = {},
  ) {
    super(reason);
    this.left = left;
    this.origin = origin;
  }

  readonly left: number | undefined;
  /** With the reason `shl.elsewhere`: the server that the page isn't allowed to contact. */
  readonly origin: string | undefined;
}

/** The content of a link. */
export interface Link {
  readonly url: string;
  readonly key: string;
  readonly flag: string;
  readonly origin: string;
  readonly label: string;
  /** Milliseconds since 1970. */
  readonly expires: number | undefined;
}

/** A decrypted file from a link. */
export interface LinkFile {
  readonly contentType: string | undefined;
  readonly text: string;
}

/** A file before decryption: a JWE, or the location from which to fetch it. */
interface SealedFile {
  readonly contentType?: string | undefined;
  readonly embedded?: string | undefined;
  readonly location?: string | undefined;
}

/** Who is opening a link, and which origins the page is allowed to contact. */
export interface Opening {
  readonly recipient: string;
  readonly passcode: string | undefined;
  readonly allowed: readonly string[];
}

/**
 * Returns the content of a link: `shlink:/…` or the part after `#` in a viewer's URL.
 * @throws LinkFault
 */
export function parseLink(text: string): Link {
  const [, encoded] = /shlink:\/([\w-]+)/.exec(text) ?? [];
  if (encoded === undefined) throw new LinkFault('shl.invalid');
  let payload: JsonObject;
  try {
    payload = object(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64url(encoded))));
  } catch {
    throw new LinkFault('shl.invalid');
  }
  const { url, key, flag = '', label, exp, v = 1 } = payload;
  if (
    typeof url !== 'string' ||
    typeof key !== 'string' ||
    !/^[\w-]{43}$/.test(key) ||
    typeof flag !== 'string'
  )
    throw new LinkFault('shl.invalid');
  if (v !== 1 || (flag.includes('U') && flag.includes('P'))) throw new LinkFault('shl.unsupported');
  if (!URL.canParse(url)) throw new LinkFault('shl.invalid');
  const { origin } = new URL(url);
  return {
    url,
    key,
    flag,
    origin,
    label: typeof label === 'string' ? label.slice(0, 80) : '',
    expires: typeof exp === 'number' ? exp * 1000 : undefined,
  };
}

/**
 * Returns a link's decrypted files.
 * @throws LinkFault
 */
export async function openLink(link: Link, { recipient, passcode, allowed }: Opening): Promise<LinkFile[]> {
  if (globalThis.crypto?.subtle === undefined) throw new LinkFault('shl.insecure');
  const files: readonly SealedFile[] = link.flag.includes('U')
    ? [{ embedded: await direct(link, recipient, allowed) }]
    : await manifest(link, recipient, passcode, allowed);
  const key = await crypto.subtle.importKey('raw', decodeBase64url(link.key), 'AES-GCM', false, ['decrypt']);
  const decrypted: LinkFile[] = [];
  for (const { contentType, embedded, location } of files) {
    const jwe = embedded ?? (await fetched(location ?? '', allowed));
    decrypted.push(await decrypt(jwe, key, contentType));
  }
  return decrypted;
}

async function direct({ url }: Link, recipient: string, allowed: readonly string[]): Promise<string> {
  const asked = new URL(url);
  asked.searchParams.set('recipient', recipient);
  return fetched(asked.href, allowed);
}

async function manifest(
  { url }: Link,
  recipient: string,
  passcode: string | undefined,
  allowed: readonly string[],
): Promise<SealedFile[]> {
  const response = await ask(url, allowed, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      recipient,
      ...(passcode === undefined ? {} : { passcode }),
      embeddedLengthMax: 1_000_000,
    }),
  });
  if (response.status === 401) {
    const { remainingAttempts: left } = await readJson(response);
    throw new LinkFault('shl.wrong', { left: typeof left === 'number' ? left : undefined });
  }
  if (!response.ok) throw refused(response);
  const { files } = await readJson(response);
  if (!Array.isArray(files)) throw new LinkFault('shl.damaged');
  return objectsIn(files).map((file) => {
    const [contentType, embedded, location] = [file.contentType, file.embedded, file.location].map(
      readString,
    );
    if (embedded === undefined && location === undefined) throw new LinkFault('shl.damaged');
    return { contentType, embedded, location };
  });
}

const readString = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Returns a response's JSON object; an empty object for anything else. */
const readJson = async (response: Response): Promise<JsonObject> =>
  object(await response.json().catch(() => ({})));

async function fetched(location: string, allowed: readonly string[]): Promise<string> {
  const response = await ask(location, allowed, {});
  if (!response.ok) throw refused(response);
  return response.text();
}

async function ask(url: string, allowed: readonly string[], options: RequestInit): Promise<Response> {
  if (!URL.canParse(url)) throw new LinkFault('shl.damaged');
  const { origin } = new URL(url);
  if (!allowed.includes(origin)) throw new LinkFault('shl.elsewhere', { origin });
  try {
    return await fetch(url, {
      ...options,
      credentials: 'omit',
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
    });
  } catch {
    throw new LinkFault('shl.unreachable');
  }
}

function refused({ status }: Response): LinkFault {
  if (status === 404 || status === 410) return new LinkFault('shl.gone');
  return new LinkFault(status === 429 ? 'shl.busy' : 'shl.failed');
}

/** Decrypts a JWE in compact form: `dir` with A256GCM, possibly compressed. */
async function decrypt(jwe: string, key: CryptoKey, contentType: string | undefined): Promise<LinkFile> {
  try {
    const [header = '', , nonce = '', ciphertext = '', tag = ''] = jwe.trim().split('.');
    const { alg, enc, zip, cty } = object(JSON.parse(new TextDecoder().decode(decodeBase64url(header))));
    if (alg !== 'dir' || enc !== 'A256GCM' || (zip !== undefined && zip !== 'DEF'))
      throw new Error('algorithm');
    const [body, end] = [decodeBase64url(ciphertext), decodeBase64url(tag)];
    const sealed = new Uint8Array(body.length + end.length);
    sealed.set(body);
    sealed.set(end, body.length);
    const algorithm = {
      name: 'AES-GCM',
      iv: decodeBase64url(nonce),
      additionalData: new TextEncoder().encode(header),
      tagLength: 128,
    };
    const plain = new Uint8Array(await crypto.subtle.decrypt(algorithm, key, sealed));
    const text = zip === 'DEF' ? await inflated(plain) : new TextDecoder().decode(plain);
    return { contentType: contentType ?? readString(cty), text };
  } catch {
    throw new LinkFault('shl.damaged');
  }
}

/** Returns the text in raw deflate data. */
export async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  const decoder = new TextDecoder();
  let text = '';
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > MOST) throw new Error('too long');
  }
}

/** Returns the bytes encoded in base64url. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
