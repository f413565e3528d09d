/** Reads the dates of a resource at paths of element names. */
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';

/** A date as it is written, and where: `Observation.effectivePeriod.start`. */
export interface WrittenDate {
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the dates at a path, in order.
 * @param names element names from the resource on; lists count for each of their entries
 * @param isSkipped tells which objects on the way are left out
 */
export function datesAt(
  resource: JsonObject,
  type: string,
  names: readonly string[],
  isSkipped: (object: JsonObject) => boolean = () => false,
): WrittenDate[] {
  const found: WrittenDate[] = [];
  const visit = (value: Json | undefined, path: string, at: number): void => {
    if (value === undefined) return;
    if (Array.isArray(value)) {
      for (const [n, each] of value.entries()) visit(each, `${path}[${n}]`, at);
    } else if (at === names.length) {
      if (typeof value === 'string') found.push({ path, text: value });
    } else if (isObject(value) && !isSkipped(value)) {
      const name = names[at] ?? '';
      visit(value[name], `${path}.${name}`, at + 1);
    }
  };
  visit(resource, type, 0);
  return found;
}
