/**
 * Collects the headers of a response. The service's own responses write them in one call, which costs Node
 * half as much as one call per header; for routers, which write themselves, they are set on the response
 * first.
 */
import type { ServerResponse } from 'node:http';

/** Names and values alternate. The same header always has the same spelling. */
export class Head {
  readonly #fields: string[];

  /** @param fields that it begins with, none of them twice. */
  constructor(fields: readonly string[]) {
    this.#fields = fields.slice();
  }

  /** Sets a header, in the place of one of that name. */
  set(name: string, value: string): void {
    put(this.#fields, name, value);
  }

  /**
   * Writes the status line and all headers, in addition to those already set on the response.
   * @param headers only of this response; they replace others of the same name.
   * @param length of its body in bytes; undefined without a body.
   * @throws TypeError of Node for an invalid header value; then nothing is written.
   */
  write(
    res: ServerResponse,
    status: number,
    headers: Readonly<Record<string, string>>,
    length: number | undefined,
  ): void {
    const fields = this.#fields.slice();
    for (const name in headers) put(fields, name, headers[name] ?? '');
    if (length !== undefined) fields.push('Content-Length', String(length));
    res.writeHead(status, fields);
  }

  /** Gives all headers to the response. */
  settle(res: ServerResponse): void {
    const fields = this.#fields;
    for (let at = 0; at < fields.length; at += 2) res.setHeader(fields[at] ?? '', fields[at + 1] ?? '');
  }
}

function put(fields: string[], name: string, value: string): void {
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at] !== name) continue;
    fields[at + 1] = value;
    return;
  }
  fields.push(name, value);
}

/** Returns the head of a request's response; creates it on first use. */
export function requireHead({ state }: { readonly state: { head?: Head } }): Head {
  if (state.head === undefined) throw new Error('the answer has no head yet');
  return state.head;
}
