/**
 * Groups entries that are shown together: results of one kind, whose newest one leads; all others are shown by
 * themselves. Pure.
 */

/**
 * Returns the groups of a section's rows, in their order.
 * @param rows of results, the newest of a kind first
 * @returns of each its rows; `latest`, the newest that says a result, or the newest if none does; `failed`, a newer one than
 *   that, which says none; and `earlier`, all others
 */
export function groupRows(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = row.key ?? row;
    if (groups.get(key)?.push(row) === undefined) groups.set(key, [row]);
  }
  return [...groups.values()].map((group) => {
    const [newest] = group;
    const latest = group.find(({ isEmpty }) => isEmpty !== true) ?? newest;
    const failed = latest === newest ? undefined : newest;
    return { rows: group, latest, failed, earlier: group.filter((row) => row !== latest && row !== failed) };
  });
}
