/** Writes one batch of appends with one statement in one round trip. */
import type pg from 'pg';
import type { Append } from '../append.ts';
import { toPosition } from '../position.ts';
import type { Position } from '../store.ts';
import { intArray, textArray, uuidArray } from './binary-array.ts';
import { AS_TEXT } from './rows.ts';
import type { Session } from './session.ts';

/** The log's answer to one append of a batch. */
export type Outcome =
  | { readonly append: Append; readonly written: true; readonly positions: readonly Position[] }
  | {
      readonly append: Append;
      readonly written: false;
      readonly actual: number | 'none';
      readonly erased: boolean;
    };

/** The log's answer to a batch. */
export interface BatchOutcome {
  /** The head of the log right before the batch; no events lie between it and the batch. */
  readonly previous: Position;
  readonly outcomes: readonly Outcome[];
}

type Refused = [index: number, revision: number | null, erased: boolean][];

const APPEND_BATCH =
  'SELECT previous, base, refused FROM log.append_batch($1, $2, $3, $4, $5, $6, $7, $8, $9)';

/** Writes appends to distinct streams; each is accepted or refused on its own. */
export async function writeBatch(session: Session, appends: readonly Append[]): Promise<BatchOutcome> {
  const rows = await session.query<[string, string | null, string | null]>(statement(appends));
  const [previous, base, refusedText] = rows[0] ?? ['0', null, null];
  const refused = new Map<number, { revision: number | null; erased: boolean }>();
  if (refusedText !== null) {
    for (const [index, revision, erased] of JSON.parse(refusedText) as Refused)
      refused.set(index, { revision, erased });
  }
  let next = Number(base);
  const outcomes = appends.map((append, index): Outcome => {
    const first = next;
    next += append.events.length;
    const refusal = refused.get(index);
    if (refusal !== undefined) {
      return { append, written: false, actual: refusal.revision ?? 'none', erased: refusal.erased };
    }
    return { append, written: true, positions: append.events.map((_, n) => toPosition(first + n)) };
  });
  return { previous: toPosition(previous), outcomes };
}

function statement(appends: readonly Append[]): pg.QueryArrayConfig {
  const events = appends.flatMap((append) => append.events);
  return {
    name: 'log-append',
    text: APPEND_BATCH,
    rowMode: 'array',
    types: AS_TEXT,
    values: [
      textArray(appends.map(({ stream }) => stream)),
      intArray(appends.map(({ base }) => base.revision)),
      textArray(appends.map(({ base }) => base.hash)),
      intArray(appends.flatMap(({ events: of }, index) => of.map(() => index + 1))),
      intArray(events.map(({ revision }) => revision)),
      uuidArray(events.map(({ id }) => id)),
      textArray(events.map(({ type }) => type)),
      textArray(events.map(({ data }) => data)),
      textArray(events.map(({ metadata }) => metadata)),
    ],
  };
}
