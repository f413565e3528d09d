/** Creates events like the service's, but without a running service, for rows that measure only the log and the projections. */
import { randomUUID } from 'node:crypto';
import { encode } from '#src/events/codec.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { NewEvent } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { observation } from './sample.ts';

const TENANT = { project: 'proj_bench', environment: 'sandbox' } as const;

/** Returns the events of one append: new Observations in a patient's record. */
export function creations(patientId: string, count: number): NewEvent[] {
  const request = `req_${randomUUID()}`;
  const command = randomUUID();
  return Array.from({ length: count }, (_, i) => {
    const id = newUuid();
    const at = toInstant(nowMicros() + i);
    const { resourceType, ...rest } = observation(`Patient/${patientId}`, i);
    const body = JSON.stringify({ resourceType, id, meta: { versionId: '1', lastUpdated: at }, ...rest });
    const metadata: EventMetadata = {
      schema_version: 1,
      request_id: request,
      command_id: command,
      credential: { kind: 'api_key', ...TENANT, key_id: 'key_bench' },
      author: { type: 'practitioner', reference: `Practitioner/${command}` },
      recorded_at: at,
      append: [i, count],
      owner: TENANT,
    };
    const event = {
      type: 'ResourceCreated',
      resourceType: 'Observation',
      resourceId: id,
      version: 1,
      body,
    } as const;
    return { id: newUuid(), type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
  });
}
