/**
 * The last line of a checkpoint or an export: a statement about the preceding lines, the signer, and the signature over the
 * statement's text. The statement begins with its type, so that one kind of statement can't be mistaken for another.
 */
import { sign, verify } from 'node:crypto';
import { KeyFault, type PublicKey, publicKey, type SigningKey } from './key.ts';

/** Thrown when a file isn't what it claims to be. */
export class BadFile extends Error {
  override readonly name = 'BadFile';
}

/** A signed statement, with the exact text from its line. */
export interface Signed {
  readonly statement: string;
  readonly signer: PublicKey;
}

const LINE =
  /^\{"statement":(\{.*\}),"key_id":"([\w-]{43})","public_key":"([\w-]{43})","signature":"([\w-]{86})"\}$/;

/**
 * Returns the line for a statement.
 * @param statement a JSON object whose first member is `type`
 */
export function signedLine(statement: { readonly type: string }, key: SigningKey): string {
  const text = JSON.stringify(statement);
  const signature = sign(null, Buffer.from(text), key.privateKey).toString('base64url');
  return `{"statement":${text},"key_id":"${key.id}","public_key":"${key.text}","signature":"${signature}"}`;
}

/**
 * Reads a line that `signedLine` wrote.
 * @returns undefined if the line has a different form.
 * @throws BadFile if the signature wasn't made with the key that the line names, or if that isn't the expected key.
 */
export function parseSigned(line: string, expected?: PublicKey): Signed | undefined {
  const [, statement, id, text, signature] = LINE.exec(line) ?? [];
  if (statement === undefined || text === undefined || signature === undefined) return undefined;
  const signer = keyNamed(text);
  if (signer.id !== id) throw new BadFile(`it names the key ${id} but contains the key ${signer.id}`);
  if (expected !== undefined && signer.id !== expected.id) {
    throw new BadFile(`it was signed with the key ${signer.id}, not with the expected key ${expected.id}`);
  }
  const bytes = Buffer.from(signature, 'base64url');
  const holds =
    bytes.toString('base64url') === signature && verify(null, Buffer.from(statement), signer.key, bytes);
  if (!holds) throw new BadFile(`its signature by the key ${signer.id} is invalid`);
  return { statement, signer };
}

function keyNamed(text: string): PublicKey {
  try {
    return publicKey(text);
  } catch (error) {
    if (error instanceof KeyFault) throw new BadFile(error.message);
    throw error;
  }
}
