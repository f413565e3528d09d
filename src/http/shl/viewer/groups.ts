/**
 * Groups entries that are shown together: results of one kind are shown under the newest result, and all other entries are
 * shown separately. Pure.
 */

import { findPressure, systolicFirst } from '#src/clinical/reading/pressure.ts';
import { saysSame } from '#src/shared/time/day.ts';
import type { Flag, Row } from './rows.ts';

/** Entries that are shown together. */
export interface Group {
  readonly rows: readonly Row[];
  /** The newest row that has a value; if no row has one, the newest with a judgement; if there is none either, the newest. */
  readonly latest: Row;
  /** The newest row, if it isn't `latest`. */
  readonly failed: Row | undefined;
  /** Rows from the same time as `latest` that have different values. */
  readonly beside: readonly Row[];
  /** The flags of `latest` and `failed`. */
  readonly flags: readonly Flag[];
  /** All others. */
  readonly earlier: readonly Row[];
}

/** Returns how much a row says: 2 if it has a value, 1 if it only has a judgement, 0 otherwise. */
const countSays = ({ isEmpty, isJudged }: Row): number => (isEmpty !== true ? 2 : isJudged ? 1 : 0);

/** Returns a string that is different for each value. */
const valueOfRow = ({ value, parts = [] }: Row): string => JSON.stringify([value, parts]);

/**
 * Returns the groups of a section's rows, in order, with diastolic pressures after systolic ones.
 * @param rows results, sorted newest first within each kind
 */
export function groupRows(rows: readonly Row[]): readonly Group[] {
  const groups = new Map<string | Row, [Row, ...Row[]]>();
  for (const row of rows) {
    const key = row.key ?? row;
    if (groups.get(key)?.push(row) === undefined) groups.set(key, [row]);
  }
  const made = [...groups.values()].map((group): Group => {
    const [newest] = group;
    const most = Math.max(...group.map(countSays));
    const latest = group.find((row) => countSays(row) === most) ?? newest;
    const failed = latest === newest ? undefined : newest;
    const flags = [latest.flag, failed?.flag ?? ''].filter((flag): flag is Flag => flag !== '');
    const beside = group.filter(
      (row) => row !== latest && saysSame(row.date, latest.date) && valueOfRow(row) !== valueOfRow(latest),
    );
    const earlier = group.filter((row) => row !== latest && row !== failed && !beside.includes(row));
    return { rows: group, latest, failed, beside, flags, earlier };
  });
  return systolicFirst(made, ({ latest: { key = '' } }) => findPressure([key.slice(key.indexOf('|') + 1)]));
}
