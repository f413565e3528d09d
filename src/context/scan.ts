/** Finds a stored resource's members in one pass over its bytes, without parsing other members. Pure. */

const [QUOTE, COMMA, COLON, BACKSLASH, BLANK] = [0x22, 0x2c, 0x3a, 0x5c, 0x20];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** A name to find, and its index. */
interface Name {
  readonly bytes: Buffer;
  readonly index: number;
}

const VALUE = Buffer.from('value');
const COMPONENT = Buffer.from('component":');
const INTERPRETATION = Buffer.from('interpretation":');
const MODIFIER_EXTENSION = Buffer.from('modifierExtension":');

/** Finds members. The results of a pass are valid until the next pass. */
export class Scan {
  /** True if a `modifierExtension` occurs at any depth. */
  isModified = false;
  /** True if there is a component, or a name that looks like `value[x]`. False means that there is certainly no value. */
  mayHaveValue = false;
  /** True if there is an interpretation, at any depth. */
  isJudged = false;
  readonly #byLength: readonly (readonly Name[] | undefined)[];
  readonly #from: Int32Array;
  readonly #to: Int32Array;

  /** @param names members of the resource itself */
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

  /** Returns where the value of the n-th name begins. */
  from(index: number): number {
    return this.#from[index] ?? 0;
  }

  /** Returns where the value of the n-th name ends (exclusive); 0 if the resource has no such member. */
  to(index: number): number {
    return this.#to[index] ?? 0;
  }

  /**
   * Scans a resource.
   * @param bytes a JSON object without spaces between tokens, as resources are stored
   * @returns false if the object has a different form; the results are then invalid
   */
  read(bytes: Buffer): boolean {
    this.isModified = false;
    this.mayHaveValue = false;
    this.isJudged = false;
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

  /**
   * Returns the position of a string's closing quote.
   * @param from position of its opening quote
   */
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

  /** Checks whether the name after a quote matters for the whole resource. */
  #look(bytes: Buffer, at: number): void {
    const byte = bytes[at];
    if (byte === 0x76) {
      const next = bytes[at + VALUE.length] ?? 0;
      if (next >= 0x41 && next <= 0x5a && isAt(bytes, at, VALUE)) this.mayHaveValue = true;
    } else if (byte === 0x63) {
      if (isAt(bytes, at, COMPONENT)) this.mayHaveValue = true;
    } else if (byte === 0x69) {
      if (isAt(bytes, at, INTERPRETATION)) this.isJudged = true;
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
