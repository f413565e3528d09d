/** The values of a statement that is put together from parts: every value is bound, none is ever spliced into SQL. */
export class Binds {
  readonly values: unknown[] = [];

  /** Binds a value and gives its placeholder, such as `$3::uuid`. */
  add(
    value: unknown,
    type: 'uuid' | 'uuid[]' | 'text' | 'text[]' | 'int8' | 'int8[]' | 'int4' | 'numeric',
  ): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }
}
