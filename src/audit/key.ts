/** The key pair that signs checkpoints and exports: Ed25519 (RFC 8032), named by its JWK thumbprint (RFC 7638, 8037). */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '#src/shared/make-folder.ts';

/** A public key as it is stored in files and exchanged between people. */
export interface PublicKey {
  /** SHA-256 of the JWK's required members, base64url: 43 characters. */
  readonly id: string;
  /** The 32 bytes of the key, base64url: 43 characters. */
  readonly text: string;
  readonly key: KeyObject;
}

export interface SigningKey extends PublicKey {
  readonly privateKey: KeyObject;
}

/** Thrown when a key is missing or invalid. */
export class KeyFault extends Error {
  override readonly name = 'KeyFault';
}

/** File name of an installation's own key in DATA_DIR. */
export const KEY_FILE = 'audit-key.pem';

/** The location of the key. */
export interface KeyPlace {
  readonly dataDir: string;
  /** A PEM file with an Ed25519 private key to use instead of the one in DATA_DIR. */
  readonly file: string | undefined;
}

/**
 * Returns the installation's key. On first use, creates the key, readable only by its owner.
 * @throws KeyFault if the file can't be read or contains another kind of key
 */
export async function signingKey({ dataDir, file }: KeyPlace): Promise<SigningKey> {
  if (file !== undefined) return parsePrivate(await read(file), file);
  const own = join(dataDir, KEY_FILE);
  const held = await readFile(own, 'utf8').catch(ifAbsent);
  if (held !== undefined) return parsePrivate(held, own);
  await makeFolder(dataDir, 0o711);
  await make(own);
  return parsePrivate(await read(own), own);
}

/**
 * Returns the installation's key if it exists.
 * @throws KeyFault
 */
export async function existingKey({ dataDir, file }: KeyPlace): Promise<PublicKey | undefined> {
  const path = file ?? join(dataDir, KEY_FILE);
  const held = file === undefined ? await readFile(path, 'utf8').catch(ifAbsent) : await read(path);
  return held === undefined ? undefined : parsePrivate(held, path);
}

/**
 * Parses a public key, which has 43 characters.
 * @throws KeyFault
 */
export function publicKey(text: string): PublicKey {
  if (!/^[\w-]{43}$/.test(text) || Buffer.from(text, 'base64url').toString('base64url') !== text) {
    throw new KeyFault(`${text} is not a valid public key: expected 43 characters of base64url`);
  }
  const jwk = { crv: 'Ed25519', kty: 'OKP', x: text };
  const id = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url');
  try {
    return { id, text, key: createPublicKey({ key: jwk, format: 'jwk' }) };
  } catch {
    throw new KeyFault(`${text} is not a valid Ed25519 public key`);
  }
}

/** Creates the key file atomically; never overwrites a key file that was created in the meantime. */
async function make(file: string): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  const { privateKey } = generateKeyPairSync('ed25519');
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft, { force: true });
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new KeyFault(`the key ${file} cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
}

function ifAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw new KeyFault(`the key cannot be read: ${error.message}`);
  return undefined;
}

function parsePrivate(pem: string, file: string): SigningKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch {
    throw new KeyFault(`${file} contains no private key in PEM format`);
  }
  const { crv, x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (crv !== 'Ed25519' || x === undefined)
    throw new KeyFault(`${file} contains a key of another type; an Ed25519 key is required`);
  return { ...publicKey(x), privateKey };
}
