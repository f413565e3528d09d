import { Refusal } from '#src/shared/refusal.ts';

/** The maximum number of values that PostgreSQL takes with a statement. */
const MAX_BOUND = 65_535;

/** The parameters of a composed statement: every value is bound, none becomes part of the SQL. */
export class Binds {
  readonly values: unknown[] = [];

  /**
   * Binds a value and returns its placeholder, such as `$3::uuid`.
   * @throws Refusal `malformed` (400, `too-costly`) if a statement would have too many
   */
  add(
    value: unknown,
    type: 'uuid' | 'uuid[]' | 'text' | 'text[]' | 'int8' | 'int8[]' | 'int4' | 'numeric',
  ): string {
    if (this.values.push(value) > MAX_BOUND) {
      throw new Refusal('malformed', {
        code: 'too-costly',
        diagnostics:
          'the search has too many values: each value counts once for every type of a chain and every code it stands for; use fewer values, or name the types of chains',
      });
    }
    return `$${this.values.length}::${type}`;
  }
}
