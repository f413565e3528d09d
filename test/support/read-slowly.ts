/** Responses that are sent while they are being built, and a reader that is slower than that. */
import { get } from 'node:http';

/** Returns Observations for a record whose responses are sent in several parts, more than sockets buffer. */
export function longObservations(patient: string): readonly object[] {
  return Array.from({ length: 24 }, (_, n) => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: `${n}` },
    subject: { reference: `Patient/${patient}` },
    note: [{ text: 'x'.repeat(900_000) }],
  }));
}

/** The outcome of reading a response. */
interface ReadSlowly {
  /** False if the connection was closed before the end. */
  readonly complete: boolean;
  readonly text: string;
}

/** Reads a response. After the first bytes, it pauses until some other work is done. */
export function readSlowly(
  url: string,
  headers: Readonly<Record<string, string>>,
  meanwhile: () => Promise<unknown>,
): Promise<ReadSlowly> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { ...headers, 'Accept-Encoding': 'identity' } }, (answer) => {
      const parts: Buffer[] = [];
      answer.once('data', () => {
        answer.pause();
        meanwhile().then(() => answer.resume(), reject);
      });
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('error', () => undefined);
      answer.on('close', () =>
        resolve({ complete: answer.complete, text: Buffer.concat(parts).toString('latin1') }),
      );
    }).on('error', reject);
  });
}
