/**
 * The headers of an answer until it is known who sends it: our own answers send them in one go, which costs Node half of
 * what it costs one by one; routers find them set.
 */
import type { ServerResponse } from 'node:http';

/** Names and values in turn. A name is always written alike. */
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
   * Writes the status line and all headers, over those that the response has been given.
   * @param headers of this answer alone: they take the place of others.
   * @param length of its body in bytes; undefined for one that has none.
   * @throws TypeError of Node for a value that no header may have; nothing is written then.
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

/** The head of a request's answer, from the moment that it is there. */
export function headOf({ state }: { readonly state: { head?: Head } }): Head {
  if (state.head === undefined) throw new Error('the answer has no head yet');
  return state.head;
}
