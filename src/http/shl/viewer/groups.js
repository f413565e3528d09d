/**
 * Groups entries that are shown together: results of one kind, whose newest one leads; all others are shown by
 * themselves. Pure.
 */

import { findPressure, systolicFirst } from '../../../clinical/reading/pressure.ts';
import { saysSame } from '../../../shared/time/day.ts';

/** How much a row says: results have a value, or are only judged. */
const countSays = ({ isEmpty, isJudged }) => (isEmpty !== true ? 2 : isJudged ? 1 : 0);

/** Returns a text that is another one for another value. */
const valueOfRow = ({ value, parts = [] }) => JSON.stringify([value, parts]);

/**
 * Returns the groups of a section's rows, in their order.
 * @param rows of results, the newest of a kind first
 * @returns diastolic pressures behind systolic ones; of each group its rows; `latest`, the newest that has a value, or if none has one that is judged, else the newest;
 *   `failed`, the newest if it is another; `beside`, other values of the moment of `latest`; `flags` of both; and `earlier`, all others
 */
export function groupRows(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = row.key ?? row;
    if (groups.get(key)?.push(row) === undefined) groups.set(key, [row]);
  }
  const made = [...groups.values()].map((group) => {
    const [newest] = group;
    const most = Math.max(...group.map(countSays));
    const latest = group.find((row) => countSays(row) === most) ?? newest;
    const failed = latest === newest ? undefined : newest;
    const flags = [latest.flag, failed?.flag ?? ''].filter((flag) => flag !== '');
    const beside = group.filter(
      (row) => row !== latest && saysSame(row.date, latest.date) && valueOfRow(row) !== valueOfRow(latest),
    );
    const earlier = group.filter((row) => row !== latest && row !== failed && !beside.includes(row));
    return { rows: group, latest, failed, beside, flags, earlier };
  });
  return systolicFirst(made, ({ latest: { key = '' } }) => findPressure([key.slice(key.indexOf('|') + 1)]));
}
