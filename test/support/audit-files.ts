/** Keys, streams and files for tests of checkpoints and exports. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type SigningKey, signingKey } from '#src/audit/key.ts';
import { seal } from '#src/events/chain.ts';
import type { NewEvent, Position, RecordedEvent } from '#src/events/store.ts';
import { temporaryFolder } from './temporary.ts';

/** Returns a new key, in a folder that `removeTemporaryFolders` removes. */
export async function newKey(): Promise<SigningKey> {
  return signingKey({ dataDir: await temporaryFolder(), file: undefined });
}

/** Returns the path of a PEM file with a private key of the given kind. */
export async function pemFile(kind: 'ed25519' | 'ed448'): Promise<string> {
  const file = join(await temporaryFolder(), 'key.pem');
  const { privateKey } = kind === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ed448');
  await writeFile(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return file;
}

/** Yields events in the form in which a store returns them. */
export async function* recorded(stream: string, events: readonly NewEvent[]): AsyncGenerator<RecordedEvent> {
  for (const event of seal(stream, 'none', events).events) {
    yield { ...event, stream, position: String(event.revision + 1).padStart(16, '0') as Position };
  }
}

/** Returns texts joined into one. */
export async function joined(texts: AsyncIterable<string>): Promise<string> {
  let all = '';
  for await (const text of texts) all += text;
  return all;
}

/**
 * Yields every file that differs from the given file at one byte: the byte is changed in three ways or removed, another byte
 * is inserted before it, or the file is cut off there.
 */
export function* tamperings(bytes: Buffer): Generator<{ at: number; how: string; altered: Buffer }> {
  for (let at = 0; at < bytes.length; at += 1) {
    const [before, here, after] = [bytes.subarray(0, at), bytes[at] ?? 0, bytes.subarray(at + 1)];
    for (const bit of [0x01, 0x20, 0x80]) {
      yield { at, how: `flip ${bit}`, altered: Buffer.concat([before, Buffer.of(here ^ bit), after]) };
    }
    yield { at, how: 'left out', altered: Buffer.concat([before, after]) };
    for (const byte of [0x0a, 0x20, 0x30]) {
      yield { at, how: `put in ${byte}`, altered: Buffer.concat([before, Buffer.of(byte, here), after]) };
    }
    yield { at, how: 'cut off', altered: before };
  }
}

/**
 * Returns the signed file with every alternative character at the end of its signature, where the last bits have no meaning.
 */
export function otherSpellings(text: string): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const end = text.lastIndexOf('"}');
  return [...alphabet]
    .filter((character) => character !== text[end - 1])
    .map((character) => text.slice(0, end - 1) + character + text.slice(end));
}
