/**
 * The read model `webhooks`: endpoints as their owners and the delivery senders see them. It has few events, and its rows are
 * plain JSON.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { type Change, jsonRows } from '../json-rows.ts';
import type { Projection } from '../projection.ts';
import { indexes, STATEMENTS, type StatementName, tables } from './schema.ts';

function listChanges({ event, stream }: StoredEvent): Change<StatementName>[] {
  const id = stream.slice(stream.indexOf('-') + 1);
  switch (event.type) {
    case 'WebhookEndpointCreated':
      return [['endpoint', { ...event.data, id, project: event.data.project_id }]];
    case 'WebhookEndpointChanged':
      return [['settings', { ...event.data, id }]];
    case 'WebhookSecretRotated':
      return [['secret', { ...event.data, id }]];
    case 'WebhookEndpointDeleted':
      return [['end', { id }]];
    case 'ProjectDeleted':
      return [['projectEnd', { project: id }]];
    default:
      return [];
  }
}

/** Serves the webhooks interface and the senders. Deleting a project deletes its endpoints. */
export const webhooks: Projection = {
  name: 'webhooks',
  version: 1,
  prefixes: ['webhook-', 'project-'],
  tables,
  indexes,
  compared: ['endpoint'],
  ...jsonRows(STATEMENTS, listChanges),
};
