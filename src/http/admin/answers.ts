/** Builds responses that the admin routes share. */
import type { Page } from '#queries/admin/page.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { RouteResult } from '../api/route.ts';

/** Returns a page as `{data, total, next_cursor}` (docs/spec/decisions.md, section 4). */
export function listed<T>({ rows, total, next }: Page<T>, view: (row: T) => object): RouteResult {
  return { status: 200, body: { data: rows.map(view), total, next_cursor: next ?? null } };
}

/** Returns the instant for a time in microseconds; null stays null. */
export function toInstantOrNull(micros: number | null): string | null {
  return micros === null ? null : toInstant(micros);
}
