/** Keeps the digits of numbers in calls that arrive line by line; the library would parse them as JavaScript numbers. */
import { Transform } from 'node:stream';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';

/** Passes lines through unchanged, and remembers a call's arguments if JavaScript would change the digits of their numbers. */
export class ExactInput extends Transform {
  readonly #sent = new Map<string | number, JsonObject>();
  #begun: Buffer[] = [];

  /** Returns and forgets a call's arguments; undefined if JavaScript's numbers have the same digits. */
  takeArguments(call: string | number): JsonObject | undefined {
    const sent = this.#sent.get(call);
    this.#sent.delete(call);
    return sent;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#note(Buffer.concat([...this.#begun, chunk.subarray(from, end)]).toString());
      this.#begun = [];
      from = end + 1;
    }
    this.#begun.push(chunk.subarray(from));
    done(null, chunk);
  }

  #note(line: string): void {
    if (!line.includes('tools/call')) return;
    try {
      const { value, exact } = parseJson(line);
      if (!exact || !isObject(value) || !isObject(value.params)) return;
      const { id } = value;
      const given = value.params.arguments;
      // The library refuses ids of other types.
      if (isObject(given) && (typeof id === 'string' || typeof id === 'number')) this.#sent.set(id, given);
    } catch {
      // The library answers lines that aren't JSON.
    }
  }
}
