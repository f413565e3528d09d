/** The values of a statement that is put together from parts: every value is bound, none is spliced into SQL. */
export class Bound {
  readonly values: unknown[] = [];
  #patterns = 0;

  /** Whether a regular expression is among them. */
  get hasPattern(): boolean {
    return this.#patterns > 0;
  }

  /** Binds a regular expression, whose matching may take any time. */
  pattern(value: string): string {
    this.#patterns += 1;
    return this.add(value, 'text');
  }

  /** Binds a value and gives its placeholder. */
  add(value: unknown, type: 'text' | 'text[]' | 'int4' | 'bool'): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
