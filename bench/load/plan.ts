/** A load's plan, as sent over IPC, and its requests, which are prepared before the clock starts. */
import { additions, observation, type Sample, transaction } from '../sample.ts';

/** The server to send requests to. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** Sent as `Authorization: Bearer`; absent for a baseline. */
  readonly key?: string;
}

export type Requests =
  /** Creates Observations, for each patient in turn. */
  | { readonly kind: 'observations'; readonly path: string; readonly patients: readonly string[] }
  /** Sends transactions, each for a new patient; `kinds` different transactions are prepared and sent repeatedly. */
  | { readonly kind: 'transactions'; readonly path: string; readonly entries: number; readonly kinds: number }
  /** Sends transactions with Observations for one patient, one after another. */
  | { readonly kind: 'additions'; readonly path: string; readonly patient: string; readonly entries: number }
  /** Reads the paths in scattered order. */
  | { readonly kind: 'reads'; readonly paths: readonly string[] }
  /** Bodies in turn. */
  | { readonly kind: 'posts'; readonly path: string; readonly bodies: readonly Sample[] }
  /**
   * Updates each resource in turn. With `corrected`, a resource gets a different value, or a different status and value, than
   * at its creation.
   */
  | {
      readonly kind: 'updates';
      readonly paths: readonly string[];
      readonly patients: readonly string[];
      readonly corrected?: 'value' | 'status';
    };

/** When a load ends. */
export type Length = { readonly seconds: number } | { readonly count: number };

/** A load without a specified length. */
export interface Load {
  readonly target: Target;
  readonly clients: number;
  readonly requests: Requests;
  /** The expected status: any other status fails the load. */
  readonly expect: number;
  /** True to return the `Location`s. */
  readonly locations?: boolean;
}

export type Plan = Load & Length;

/** A load's result. Times are in milliseconds. */
export interface Outcome {
  readonly requests: number;
  readonly seconds: number;
  /** Requests per second. */
  readonly rate: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Number of bytes in the bodies received. */
  readonly bytes: number;
  readonly locations: readonly string[];
}

/** Returns a function that returns a plan's n-th request, ready to send. */
export function prepare({ target, requests }: Plan): (n: number) => Buffer {
  switch (requests.kind) {
    case 'observations': {
      const made = requests.patients.map((patient, n) =>
        message(target, 'POST', requests.path, observation(`Patient/${patient}`, n)),
      );
      return (n) => pick(made, n);
    }
    case 'transactions': {
      const made = Array.from({ length: requests.kinds }, (_, n) =>
        message(target, 'POST', requests.path, transaction(n, requests.entries)),
      );
      return (n) => pick(made, n);
    }
    case 'additions': {
      const made = message(target, 'POST', requests.path, additions(requests.patient, 1, requests.entries));
      return () => made;
    }
    case 'posts': {
      const made = requests.bodies.map((body) => message(target, 'POST', requests.path, body));
      return (n) => pick(made, n);
    }
    case 'updates': {
      const { corrected } = requests;
      const made = requests.paths.map((path, n) => {
        // For a correction: the Observation as `observations` created it.
        const nth = n % requests.patients.length;
        const made = observation(
          `Patient/${requests.patients[nth] ?? ''}`,
          corrected === undefined ? n : nth,
        );
        const value = { ...(made.valueQuantity as Sample), value: corrected === 'status' ? 43 : 42 };
        return message(target, 'PUT', path, {
          ...made,
          ...(corrected === undefined ? {} : { valueQuantity: value }),
          ...(corrected === 'status' ? { status: 'corrected' } : {}),
          id: path.split('/').at(-1),
        });
      });
      return (n) => pick(made, n);
    }
    case 'reads': {
      const made = requests.paths.map((path) => message(target, 'GET', path));
      // A stride that has no common divisor with the length reaches every request.
      const stride = coprime(made.length);
      return (n) => pick(made, n * stride);
    }
  }
}

/**
 * Returns a request, ready to send.
 * @param body JSON, or bytes that are gzip-compressed JSON
 */
export function message(
  { host, port, key }: Target,
  method: string,
  path: string,
  body?: Sample | Buffer,
): Buffer {
  const isCompressed = Buffer.isBuffer(body);
  const bytes = isCompressed ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const lines = [`${method} ${path} HTTP/1.1`, `Host: ${host}:${port}`, 'Accept: application/fhir+json'];
  if (key !== undefined) lines.push(`Authorization: Bearer ${key}`);
  if (body !== undefined) {
    lines.push('Content-Type: application/fhir+json', `Content-Length: ${bytes.length}`);
  }
  if (isCompressed) lines.push('Content-Encoding: gzip');
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

function pick(made: readonly Buffer[], n: number): Buffer {
  const found = made[n % made.length];
  if (found === undefined) throw new Error('a plan without requests');
  return found;
}

function coprime(length: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));
  let stride = Math.floor(length * 0.618) || 1;
  while (divisor(stride, length) !== 1) stride += 1;
  return stride;
}
