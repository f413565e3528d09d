/** Writes files whose last line is a signed statement with the SHA-256 of all preceding bytes. */
import { createHash } from 'node:crypto';
import type { SigningKey } from './key.ts';
import { signedLine } from './statement.ts';

/** Creates the lines of one file, each with its line break. */
export class SignedLines {
  readonly #sum = createHash('sha256');

  /** Returns a line. */
  line(value: object): string {
    const text = `${JSON.stringify(value)}\n`;
    this.#sum.update(text);
    return text;
  }

  /** Returns the SHA-256 of all lines so far. Afterwards, only the statement may be added. */
  sum(): string {
    return this.#sum.digest('hex');
  }
}

/** Returns the last line of a file. */
export function closingLine(statement: { readonly type: string }, key: SigningKey): string {
  return `${signedLine(statement, key)}\n`;
}
