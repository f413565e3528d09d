/** One pass over the bytes of a stored resource: where some of its members stand, without building the others. Pure. */

const [QUOTE, COMMA, COLON, BACKSLASH, BLANK] = [0x22, 0x2c, 0x3a, 0x5c, 0x20];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A name that is looked for, and its place among the others. */
interface Name {
  readonly bytes: Buffer;
  readonly index: number;
}

const VALUE = Buffer.from('value');
const COMPONENT = Buffer.from('component":');
const MODIFIER_EXTENSION = Buffer.from('modifierExtension":');

/** Finds members; what it found last stands in it until the next pass. */
export class Scan {
  /** Whether a member, at whatever depth, is a `modifierExtension`. */
  isModified = false;
  /** Whether a name begins as `value[x]` does, or there is a component: without, there is no value. */
  mayHaveValue = false;
  readonly #byLength: readonly (readonly Name[] | undefined)[];
  readonly #from: Int32Array;
  readonly #to: Int32Array;

  /** @param names of members of the resource itself. */
  constructor(names: readonly string[]) {
    const byLength: Name[][] = [];
    for (const [index, name] of names.entries()) {
      const bytes = Buffer.from(name);
      const same = byLength[bytes.length];
      if (same === undefined) byLength[bytes.length] = [{ bytes, index }];
      else same.push({ bytes, index });
    }
    this.#byLength = byLength;
    this.#from = new Int32Array(names.length);
    this.#to = new Int32Array(names.length);
  }

  /** Where the value of the n-th name begins. */
  from(index: number): number {
    return this.#from[index] ?? 0;
  }

  /** Where it ends: behind its last byte; 0 when the resource has no such member. */
  to(index: number): number {
    return this.#to[index] ?? 0;
  }

  /**
   * Looks through a resource.
   * @param bytes a JSON object without blanks between tokens, as resources are stored.
   * @returns false for one that is not written so: nothing is known of it then.
   */
  read(bytes: Buffer): boolean {
    this.isModified = false;
    this.mayHaveValue = false;
    this.#to.fill(0);
    let depth = 0;
    let member = -1;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        const from = at + 1;
        at = this.#endOfString(bytes, at);
        if (bytes[at + 1] !== COLON) continue;
        if (depth === 1) {
          member = this.#nameAt(bytes, from, at);
          if (member >= 0) this.#from[member] = at + 2;
        }
        at += 1;
      } else if (byte === COMMA) {
        if (depth !== 1) continue;
        if (member >= 0) this.#to[member] = at;
        member = -1;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        depth -= 1;
        if (depth === 0 && member >= 0) this.#to[member] = at;
      } else if (byte <= BLANK) return false;
    }
    return depth === 0;
  }

  /** @returns the quote that ends the string which begins at a place. */
  #endOfString(bytes: Buffer, from: number): number {
    this.#look(bytes, from + 1);
    for (let at = from + 1; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) {
        at += 1;
        if (bytes[at] === QUOTE) this.#look(bytes, at + 1);
      }
    }
    return bytes.length;
  }

  /** Whether what follows a quote is one of the names that tell something of the whole resource. */
  #look(bytes: Buffer, at: number): void {
    const byte = bytes[at];
    if (byte === 0x76) {
      const next = bytes[at + VALUE.length] ?? 0;
      if (next >= 0x41 && next <= 0x5a && isAt(bytes, at, VALUE)) this.mayHaveValue = true;
    } else if (byte === 0x63) {
      if (isAt(bytes, at, COMPONENT)) this.mayHaveValue = true;
    } else if (byte === 0x6d && isAt(bytes, at, MODIFIER_EXTENSION)) this.isModified = true;
  }

  #nameAt(bytes: Buffer, from: number, to: number): number {
    const names = this.#byLength[to - from];
    if (names === undefined) return -1;
    for (const { bytes: name, index } of names) if (isAt(bytes, from, name)) return index;
    return -1;
  }
}

function isAt(bytes: Buffer, at: number, wanted: Buffer): boolean {
  for (let n = 0; n < wanted.length; n += 1) if (bytes[at + n] !== wanted[n]) return false;
  return true;
}
