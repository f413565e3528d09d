/**
 * Checks histories of calls: each read shows at least everything that was acknowledged before it began, and at most everything
 * that had begun before it ended. Responses contain versions and totals, so no search for a valid order is needed.
 */

/**
 * A call on one object whose value only grows, by one with each write. The value of a resource is its version; the value of a
 * search is its total.
 */
export interface Call {
  readonly object: string;
  /** The start, in ms on the process's own monotonic clock. */
  readonly began: number;
  /** Infinite if there was no response. */
  readonly ended: number;
  readonly isWrite: boolean;
  /** The response's version or total; undefined if the response doesn't contain one, or there was no response. */
  readonly value?: number | undefined;
}

/** Returns a sentence for each call that can't be explained by any correct order of calls. */
export function findFaults(calls: readonly Call[]): string[] {
  const objects = new Map<string, Call[]>();
  for (const call of calls) {
    const own = objects.get(call.object);
    if (own === undefined) objects.set(call.object, [call]);
    else own.push(call);
  }
  return [...objects].flatMap(([object, own]) => checkObject(object, own));
}

function checkObject(object: string, calls: readonly Call[]): string[] {
  const writes = calls.filter(({ isWrite }) => isWrite).toSorted((one, other) => one.began - other.began);
  const answered = calls
    .filter(({ ended }) => ended < Number.POSITIVE_INFINITY)
    .toSorted((one, other) => one.ended - other.ended);
  const faults: string[] = [];
  let next = 0;
  let acknowledged = 0;
  let seen = 0;
  let begun = 0;
  // Sorted by their start, so that the set of earlier calls only grows.
  for (const call of calls.toSorted((one, other) => one.began - other.began)) {
    for (
      let before = answered[next];
      before !== undefined && before.ended < call.began;
      before = answered[next]
    ) {
      if (before.isWrite) acknowledged += 1;
      seen = Math.max(seen, before.value ?? 0);
      next += 1;
    }
    if (call.value === undefined) continue;
    const least = Math.max(acknowledged, seen) + (call.isWrite ? 1 : 0);
    begun = countBefore(writes, call.ended);
    if (call.value < least)
      faults.push(`${describe(object, call)} shows ${call.value}, though ${least} was known before it began`);
    if (call.value > begun)
      faults.push(`${describe(object, call)} shows ${call.value}, though only ${begun} writes had begun`);
  }
  const versions = writes.flatMap(({ value }) => value ?? []);
  if (new Set(versions).size < versions.length)
    faults.push(`${object}: two writes were answered with one version`);
  return faults;
}

const describe = (object: string, { isWrite, began, ended }: Call): string =>
  `${object}: the ${isWrite ? 'write' : 'read'} from ${began.toFixed(1)} to ${ended.toFixed(1)} ms`;

/** Returns how many of the writes, which are sorted by start, had begun before a given time. */
function countBefore(writes: readonly Call[], time: number): number {
  let [low, high] = [0, writes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((writes[middle]?.began ?? Number.POSITIVE_INFINITY) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
