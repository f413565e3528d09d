/** The values of a statement that is put together from parts: every value is bound, none is spliced into SQL. */
export class Bound {
  readonly values: unknown[] = [];

  /** Binds a value and gives its placeholder. */
  add(value: unknown, type: 'text' | 'text[]' | 'int4' | 'bool'): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
