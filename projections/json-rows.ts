/** Rows as plain JSON, for read models with few events. */
import type { ClientBase, QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { toMicros } from '#src/shared/time/time.ts';
import type { Projection } from './projection.ts';
import { runAll } from './rows.ts';

/** A row for the statement with the given name. */
export type Change<Name extends string> = readonly [Name, object];

/**
 * Creates the part of a projection that writes rows.
 * @param texts statements by name, for a schema: each statement takes its rows as a JSON array in `$1`. They run in this
 *   order:
 * rows are created before they are changed, because one batch may do both
 * @param listChanges returns the changes that an event makes; each row also gets `at`, the event's time in microseconds
 */
export function jsonRows<Name extends string>(
  texts: Readonly<Record<Name, (schema: string) => string>>,
  listChanges: (stored: StoredEvent) => readonly Change<NoInfer<Name>>[],
): Pick<Projection, 'statements' | 'load'> {
  const inOrder = Object.entries<(schema: string) => string>(texts);
  const statements = (schema: string, events: readonly StoredEvent[]): QueryConfig[] => {
    const rows = new Map<string, object[]>();
    for (const stored of events) {
      const at = toMicros(stored.metadata.recorded_at);
      for (const [name, row] of listChanges(stored)) {
        const together = rows.get(name);
        if (together === undefined) rows.set(name, [{ ...row, at }]);
        else together.push({ ...row, at });
      }
    }
    return inOrder.flatMap(([name, text]) => {
      const own = rows.get(name);
      return own === undefined ? [] : [{ text: text(schema), values: [JSON.stringify(own)] }];
    });
  };
  return {
    statements,
    load: (tx: ClientBase, schema, events) => runAll(tx, statements(schema, events)),
  };
}
