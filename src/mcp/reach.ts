/** The ways in which tools reach the interfaces of the service: in its process, or over HTTP. */
import type { Access } from '#src/shared/access/access.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** A request of a tool. */
export interface Call {
  /** Default: GET. */
  readonly method?: 'GET' | 'POST';
  /** Below the service's base URL, decoded parts already encoded. */
  readonly path: string;
  /** Members that are undefined are left out; a list repeats its name. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  /** JSON. */
  readonly body?: string;
}

/** The answer to it. */
export interface Reply {
  readonly status: number;
  /** Text as it came, or bytes. */
  readonly body: string | Buffer;
  /** Seconds, of a request that was refused for now. */
  readonly retryAfter?: string | undefined;
}

/** A grant, as tools need it. */
export interface OwnGrant {
  /** The id under which its application knows the patient. */
  readonly patient: string;
  /** Undefined if the interface doesn't say which of several it is. */
  readonly grantId: string | undefined;
  readonly access: Access;
}

/** The reach of one caller. */
export interface Reach {
  /** The base URL of the service, without a slash at its end. */
  readonly base: string;
  readonly ask: (call: Call) => Promise<Reply>;
  /** Returns the caller's grant; undefined for a caller of a project. */
  readonly grant: () => Promise<OwnGrant | undefined>;
  /** Returns the text of bytes; undefined if they have none. @param mediaType with its parameters */
  readonly readFile: (mediaType: string, bytes: Buffer) => Promise<string | undefined>;
  /** The arguments with numbers as they were sent, where they are known. */
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
