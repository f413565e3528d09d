/** Gives an invented application a grant on a record, as events in the record's stream. */
import { CATALOG, type DomainEvent } from '#src/events/catalog.ts';
import { encode } from '#src/events/codec.ts';
import { openEventStore } from '#src/events/open.ts';
import type { NewEvent } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';

/** The application. */
export interface Grantee {
  readonly applicationId: string;
  readonly project: string;
  readonly environment: 'sandbox';
}

const PERSON = { issuer: 'https://issuer.example', subject: 'bench' };

/**
 * Appends a link and its grant to a record. Nothing else may write to the record in the meantime.
 * @returns the pairwise id of the record's Patient
 */
export async function appendGrant(
  databaseUrl: string,
  record: string,
  { applicationId, project, environment }: Grantee,
  grant: { readonly id: string; readonly scopes: string[] },
): Promise<string> {
  const patient = newUuid();
  const link: DomainEvent = {
    type: 'RecordLinked',
    data: { link_id: 'link_bench', person: PERSON, relationship: 'self', via: 'invitation' },
  };
  const granted: DomainEvent = {
    type: 'ConsentGranted',
    data: {
      grant_id: grant.id,
      person: PERSON,
      application_id: applicationId,
      project_id: project,
      environment,
      sector: applicationId,
      scopes: grant.scopes,
      purpose: 'treatment',
      patient,
      subject: 'bench',
      granted_by: 'patient',
      expires_at: toInstant(nowMicros() + 86_400_000_000),
      lang: 'en',
      sentences: ['Read and write'],
    },
  };
  const store = await openEventStore({ url: databaseUrl, eventStoreUrl: '' });
  try {
    for await (const last of store.read(recordStream(record), { direction: 'backwards', limit: 1 })) {
      const { hash, owner } = JSON.parse(last.metadata) as { hash: string; owner: object };
      const events = [link, granted].map((event, n) => makeEvent(event, owner, n));
      await store.append(recordStream(record), { revision: last.revision, hash }, events);
    }
  } finally {
    await store.close();
  }
  return patient;
}

function makeEvent(event: DomainEvent, owner: object, n: number): NewEvent {
  const id = newUuid();
  const metadata = {
    schema_version: CATALOG[event.type].version,
    recorded_at: toInstant(nowMicros()),
    request_id: 'req_bench',
    command_id: id,
    append: [n, 2],
    owner,
    credential: { kind: 'system' },
    author: { type: 'import' },
  };
  return { id, type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
}
