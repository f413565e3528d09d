/** Generates random commands on records. A plan contains no ids or versions, because they aren't known until it runs. */
import fc from 'fast-check';
import {
  fhirDecimal,
  fhirText,
  fhirTime,
  RECORD_TYPES,
  type Variation,
  type WritableType,
} from './samples.ts';

/** The value of `If-Match`: none, the newest known version, or a version that is outdated or never existed. */
export type Match = 'none' | 'right' | 'wrong';

/** A resource to write. */
export interface PlannedBody {
  readonly type: WritableType;
  readonly variation: Omit<Variation, 'marker'>;
}

/** A planned command. `pick` selects one of the resources that the record has at that time. */
export type PlannedCommand = { readonly record: number } & (
  | { readonly kind: 'create'; readonly body: PlannedBody; readonly keyed: boolean }
  | { readonly kind: 'update'; readonly pick: number; readonly body: PlannedBody; readonly match: Match }
  | { readonly kind: 'patch'; readonly pick: number }
  | { readonly kind: 'delete'; readonly pick: number; readonly match: Match }
  | { readonly kind: 'deletePatient' }
  | {
      readonly kind: 'transaction';
      /** True if the transaction also creates a Practitioner, in the directory. */
      readonly practitioner: boolean;
      readonly creates: readonly PlannedBody[];
      readonly updates: readonly {
        readonly pick: number;
        readonly body: PlannedBody;
        readonly match: Match;
      }[];
      readonly deletes: readonly number[];
      readonly keyed: boolean;
    }
);

const body = fc.record({
  type: fc.constantFrom(...RECORD_TYPES),
  variation: fc.record({ text: fhirText, decimal: fhirDecimal, time: fhirTime }),
});
const pick = fc.nat(1_000_000);
const match = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Match>('none') },
  { weight: 4, arbitrary: fc.constant<Match>('right') },
  { weight: 2, arbitrary: fc.constant<Match>('wrong') },
);
const keyed = fc.boolean();

function command(record: fc.Arbitrary<number>): fc.Arbitrary<PlannedCommand> {
  const update = fc.record({ pick, body, match });
  return fc.oneof(
    { weight: 30, arbitrary: fc.record({ kind: fc.constant('create' as const), record, body, keyed }) },
    { weight: 35, arbitrary: fc.record({ kind: fc.constant('update' as const), record, pick, body, match }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('patch' as const), record, pick }) },
    { weight: 12, arbitrary: fc.record({ kind: fc.constant('delete' as const), record, pick, match }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('deletePatient' as const), record }) },
    {
      weight: 14,
      arbitrary: fc.record({
        kind: fc.constant('transaction' as const),
        record,
        practitioner: fc.boolean(),
        creates: fc.array(body, { minLength: 1, maxLength: 4 }),
        updates: fc.array(update, { maxLength: 2 }),
        deletes: fc.array(pick, { maxLength: 1 }),
        keyed,
      }),
    },
  );
}

/** Returns a plan; the same seed gives the same plan. */
export function planCommands(count: number, records: number, seed: number): PlannedCommand[] {
  return fc.sample(command(fc.nat(records - 1)), { numRuns: count, seed });
}
