/** Collects the values for a statement that is built from parts. Every value is bound; none is put into the SQL text. */
export class Bound {
  readonly values: unknown[] = [];
  #patterns = 0;

  /** Returns whether one of the values is a regular expression. */
  get hasPattern(): boolean {
    return this.#patterns > 0;
  }

  /** Binds a regular expression. Matching a regular expression may take any amount of time. */
  pattern(value: string): string {
    this.#patterns += 1;
    return this.add(value, 'text');
  }

  /** Binds a value and returns its placeholder. */
  add(value: unknown, type: 'text' | 'text[]' | 'int4' | 'bool'): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
