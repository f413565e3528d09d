/**
 * The read model `consents`: what people allowed which application to do, on which record and until when; what applications
 * propose; which people have which records; and which links people shared (docs/spec/decisions.md, sections 7 and 9). For
 * auditors, it also lists the events of records that aren't versions of resources. Most of a record's events are versions;
 * these are never decoded.
 */
import type { EventType, StoredEvent } from '#src/events/catalog.ts';
import { recordPatient } from '#src/events/streams.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { type Change, jsonRows } from '../json-rows.ts';
import type { Projection } from '../projection.ts';
import { indexes, STATEMENTS, type StatementName, tables } from './schema.ts';

/** The event types that this read model processes. */
const TYPES = [
  'ConsentGranted',
  'ConsentRevoked',
  'ConsentExpired',
  'RecordLinked',
  'RecordUnlinked',
  'SharedLinkCreated',
  'SharedLinkEnded',
  'DocumentFinalized',
  'DirectoryEntriesCarried',
  'ProposalMade',
  'ProposalAccepted',
  'ProposalRejected',
  'ProposalWithdrawn',
  'ProposalSuperseded',
  'ProposalExpired',
  'RecordErased',
] as const satisfies readonly EventType[];

const ALL_TYPES: ReadonlySet<string> = new Set(TYPES);

function listChanges(stored: StoredEvent): Change<StatementName>[] {
  const changes = listOwnChanges(stored);
  const { type } = stored.event;
  return type === 'RecordErased' || !ALL_TYPES.has(type) ? changes : [...changes, eventRow(stored)];
}

/** Returns the row with which auditors find an event that isn't a version of a resource. */
function eventRow(stored: StoredEvent): Change<StatementName> {
  const { record, owner_project: project, owner_environment: environment } = findHome(stored);
  return [
    'event',
    {
      event_id: stored.id,
      tenant: tenantId({ project, environment }),
      record,
      type: stored.event.type,
      metadata: JSON.stringify({ ...stored.metadata, append: undefined, hash: undefined }),
    },
  ];
}

function listOwnChanges(stored: StoredEvent): Change<StatementName>[] {
  const { event } = stored;
  switch (event.type) {
    case 'ConsentGranted': {
      const { person, project_id: project, subject, expires_at, ...rest } = event.data;
      const row = { ...rest, ...findHome(stored), ...person, project, pairwise_subject: subject };
      return [['grant', { ...row, expires_at: toMicros(expires_at) }]];
    }
    case 'ConsentRevoked':
      return [['grantEnd', { grant_id: event.data.grant_id, reason: event.data.reason }]];
    case 'ConsentExpired':
      return [['grantEnd', { grant_id: event.data.grant_id, reason: 'expired' }]];
    case 'RecordLinked': {
      const { person, ...rest } = event.data;
      const { record, owner_project, owner_environment: environment } = findHome(stored);
      return [['link', { ...rest, ...person, record, owner_project, environment }]];
    }
    case 'RecordUnlinked':
      return [['linkEnd', event.data]];
    case 'SharedLinkCreated': {
      const { person, expires_at, ...rest } = event.data;
      const { record, owner_project, owner_environment: environment } = findHome(stored);
      const home = { record, owner_project, environment };
      return [['share', { ...rest, ...person, ...home, expires_at: toMicros(expires_at) }]];
    }
    case 'SharedLinkEnded':
      return [['shareEnd', event.data]];
    case 'ProposalMade': {
      const {
        environment: _environment,
        project_id: _project,
        patient: _patient,
        place: _place,
        ...rest
      } = event.data;
      const { record } = findHome(stored);
      const expires_at = toMicros(rest.expires_at);
      return [
        ['proposal', { ...rest, record, author_type: stored.metadata.author?.type ?? 'import', expires_at }],
      ];
    }
    case 'ProposalAccepted': {
      const { proposal_id, resource_id, version } = event.data;
      return [['proposalEnd', { proposal_id, status: 'accepted', resource_id, version }]];
    }
    case 'ProposalRejected':
      return [proposalEnd(event.data, 'rejected')];
    case 'ProposalWithdrawn':
      return [proposalEnd(event.data, 'withdrawn')];
    case 'ProposalSuperseded':
      return [proposalEnd(event.data, 'superseded')];
    case 'ProposalExpired':
      return [proposalEnd(event.data, 'expired')];
    case 'RecordErased': {
      const { patient: record, grants } = event.data;
      const left = grants.map(
        ({ granted_at, ended_at, ...ids }): Change<StatementName> => [
          'erasedGrant',
          { ...ids, granted_at: toMicros(granted_at), ended_at: toMicros(ended_at) },
        ],
      );
      return [...left, ['erasure', { record }]];
    }
    default:
      return [];
  }
}

function proposalEnd(
  { proposal_id }: { readonly proposal_id: string },
  status: 'rejected' | 'withdrawn' | 'superseded' | 'expired',
): Change<StatementName> {
  return ['proposalEnd', { proposal_id, status }];
}

/**
 * Returns the record that an event belongs to, and the record's owner.
 * @throws Error if the metadata names no owner
 */
function findHome({ stream, metadata: { owner } }: StoredEvent) {
  const record = recordPatient(stream);
  if (record === undefined || owner === undefined) throw new Error('its metadata has no owner');
  return { record, owner_project: owner.project, owner_environment: owner.environment };
}

/** Serves the checks of access tokens, and the lists of grants and of people's records. */
export const consents: Projection = {
  name: 'consents',
  version: 4,
  // Only consent commands wait for this read model, and their wait ends its pause.
  gathers: true,
  prefixes: ['record-', 'project-'],
  types: ALL_TYPES,
  tables,
  indexes,
  compared: ['grants', 'links', 'shared_links', 'proposals', 'erased_grants', 'events'],
  ...jsonRows(STATEMENTS, listChanges),
};
