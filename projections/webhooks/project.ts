/** The read model `webhooks`: endpoints as their owners and the senders of deliveries see them. Few events, plain JSON rows. */
import type { QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { toMicros } from '#src/shared/time.ts';
import type { Projection } from '../projection.ts';
import { runAll } from '../rows.ts';
import { indexes, ORDER, STATEMENTS, type StatementName, tables } from './schema.ts';

/** Returns the change of an event. */
function changeOf({ event, stream }: StoredEvent): [StatementName, object] | undefined {
  const id = stream.slice(stream.indexOf('-') + 1);
  switch (event.type) {
    case 'WebhookEndpointCreated':
      return ['endpoint', { ...event.data, id, project: event.data.project_id }];
    case 'WebhookEndpointChanged':
      return ['settings', { ...event.data, id }];
    case 'WebhookSecretRotated':
      return ['secret', { ...event.data, id }];
    case 'WebhookEndpointDeleted':
      return ['end', { id }];
    case 'ProjectDeleted':
      return ['projectEnd', { project: id }];
    default:
      return undefined;
  }
}

function statements(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const rows = new Map<StatementName, object[]>();
  for (const stored of events) {
    const change = changeOf(stored);
    if (change === undefined) continue;
    const [name, row] = change;
    rows.set(name, [...(rows.get(name) ?? []), { ...row, at: toMicros(stored.metadata.recorded_at) }]);
  }
  return ORDER.flatMap((name) => {
    const own = rows.get(name);
    return own === undefined ? [] : [{ text: STATEMENTS[name](schema), values: [JSON.stringify(own)] }];
  });
}

/** Serves the webhooks interface and the senders. Deleting a project deletes its endpoints. */
export const webhooks: Projection = {
  name: 'webhooks',
  version: 1,
  prefixes: ['webhook-', 'project-'],
  tables,
  indexes,
  compared: ['endpoint'],
  statements,
  load: (tx, schema, events) => runAll(tx, statements(schema, events)),
};
