/** The ways in which tools reach the service's interfaces: within the service's process, or over HTTP. */
import type { Access } from '#src/shared/access/access.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** A request from a tool. */
export interface Call {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST';
  /** Relative to the service's base URL; its parts are already encoded. */
  readonly path: string;
  /** Undefined members are left out; for a list, the name is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  /** JSON. */
  readonly body?: string;
}

/** The answer to it. */
export interface Reply {
  readonly status: number;
  /** Text as received, or bytes. */
  readonly body: string | Buffer;
  /** In seconds, for a request that may be retried later. */
  readonly retryAfter?: string | undefined;
}

/** A grant, with the data that tools need. */
export interface OwnGrant {
  /** The id that its application uses for the patient. */
  readonly patient: string;
  /** Undefined if the interface doesn't tell which of several grants it is. */
  readonly grantId: string | undefined;
  readonly access: Access;
}

/** One caller's access to the interfaces. */
export interface Reach {
  /** The service's base URL, without a slash at its end. */
  readonly base: string;
  readonly ask: (call: Call) => Promise<Reply>;
  /** Returns the caller's grant; undefined for a caller from a project. */
  readonly grant: () => Promise<OwnGrant | undefined>;
  /**
   * Returns the text in the bytes; undefined if they contain no text.
   * @param mediaType with its parameters
   */
  readonly readFile: (mediaType: string, bytes: Buffer) => Promise<string | undefined>;
  /** The arguments, with numbers as they were sent, if known. */
  readonly exact?: JsonObject | undefined;
}

/** Returns the path and query of a request. */
export function printUrl({ path, query = {} }: Call): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const each of typeof value === 'object' ? value : [value]) search.append(name, String(each));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}
