/**
 * Opens SMART Health Links in a browser: reads the link, asks for its manifest and decrypts its files
 * (https://docs.smarthealthit.org/smart-health-links/spec/). The key never leaves the browser.
 */

/** The maximum length of a decrypted file: a phone must be able to hold it. */
const MOST = 100_000_000;

/** A link that can't be opened. `reason` is the key of a text; `left` is how many wrong passcodes are left. */
export class LinkFault extends Error {
  constructor(reason, { left, origin } = {}) {
    super(reason);
    this.reason = reason;
    this.left = left;
    this.origin = origin;
  }
}

/** Returns the content of a link, `shlink:/…` or the part after `#` of a viewer's URL. @throws LinkFault */
export function parseLink(text) {
  const [, encoded] = /shlink:\/([\w-]+)/.exec(text) ?? [];
  if (encoded === undefined) throw new LinkFault('shl.invalid');
  let payload;
  try {
    payload = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(decodeBase64url(encoded)));
  } catch {
    throw new LinkFault('shl.invalid');
  }
  const { url, key, flag = '', label, exp, v = 1 } = payload ?? {};
  if (
    typeof url !== 'string' ||
    typeof key !== 'string' ||
    !/^[\w-]{43}$/.test(key) ||
    typeof flag !== 'string'
  )
    throw new LinkFault('shl.invalid');
  if (v !== 1 || (flag.includes('U') && flag.includes('P'))) throw new LinkFault('shl.unsupported');
  let origin;
  try {
    ({ origin } = new URL(url));
  } catch {
    throw new LinkFault('shl.invalid');
  }
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
 * Returns the decrypted files of a link: `{ contentType, text }` each.
 * @param allowed origins that the page may ask
 * @throws LinkFault
 */
export async function openLink(link, { recipient, passcode, allowed }) {
  if (globalThis.crypto?.subtle === undefined) throw new LinkFault('shl.insecure');
  const files = link.flag.includes('U')
    ? [{ embedded: await direct(link, recipient, allowed) }]
    : await manifest(link, recipient, passcode, allowed);
  const key = await crypto.subtle.importKey('raw', decodeBase64url(link.key), 'AES-GCM', false, ['decrypt']);
  const decrypted = [];
  for (const { contentType, embedded, location } of files) {
    const jwe = embedded ?? (await fetched(location, allowed));
    decrypted.push(await decrypt(jwe, key, contentType));
  }
  return decrypted;
}

async function direct({ url }, recipient, allowed) {
  const asked = new URL(url);
  asked.searchParams.set('recipient', recipient);
  return fetched(asked.href, allowed);
}

async function manifest({ url }, recipient, passcode, allowed) {
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
    const { remainingAttempts } = await response.json().catch(() => ({}));
    throw new LinkFault('shl.wrong', { left: remainingAttempts });
  }
  if (!response.ok) throw refused(response);
  const { files } = await response.json().catch(() => ({}));
  if (!Array.isArray(files)) throw new LinkFault('shl.damaged');
  return files.map(({ contentType, embedded, location }) => {
    if (typeof embedded !== 'string' && typeof location !== 'string') throw new LinkFault('shl.damaged');
    return { contentType, embedded, location };
  });
}

async function fetched(location, allowed) {
  const response = await ask(location, allowed, {});
  if (!response.ok) throw refused(response);
  return response.text();
}

async function ask(url, allowed, options) {
  let origin;
  try {
    ({ origin } = new URL(url));
  } catch {
    throw new LinkFault('shl.damaged');
  }
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

function refused({ status }) {
  if (status === 404 || status === 410) return new LinkFault('shl.gone');
  return new LinkFault(status === 429 ? 'shl.busy' : 'shl.failed');
}

/** Decrypts a JWE in compact form: `dir` with A256GCM, perhaps compressed. */
async function decrypt(jwe, key, contentType) {
  try {
    const [header = '', , nonce = '', ciphertext = '', tag = ''] = jwe.trim().split('.');
    const { alg, enc, zip, cty } = JSON.parse(new TextDecoder().decode(decodeBase64url(header)));
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
    return { contentType: contentType ?? cty, text };
  } catch {
    throw new LinkFault('shl.damaged');
  }
}

/** Returns the text of raw deflate data. */
export async function inflated(bytes) {
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

/** Returns the bytes of base64url. */
export function decodeBase64url(text) {
  const binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
