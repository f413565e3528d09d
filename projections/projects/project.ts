/**
 * The read model `projects`: callers, and the lists in the admin interface. Because it has few events, its rows are sent as
 * plain JSON.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { BY_OPERATOR } from '#src/events/metadata.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { type Change, jsonRows } from '../json-rows.ts';
import type { Projection } from '../projection.ts';
import { indexes, tables } from './schema.ts';
import { STATEMENTS, type StatementName } from './statements.ts';

/** Returns the id that a stream's name contains. */
const idIn = (stream: string): string => stream.slice(stream.indexOf('-') + 1);

function listChanges({ event, stream, metadata }: StoredEvent): Change<StatementName>[] {
  const id = idIn(stream);
  switch (event.type) {
    case 'OrganizationCreated': {
      const { organization_id, name, founder } = event.data;
      const owner = { ...founder, organization: organization_id, role: 'owner' };
      return [
        ['organization', { id: organization_id, name }],
        ...(founder === undefined ? [] : [['member', owner] satisfies Change<StatementName>]),
      ];
    }
    case 'OrganizationMemberAdded':
      return [['member', { ...event.data, organization: id }]];
    case 'OrganizationMemberInvited': {
      const { invited_by, expires_at, ...rest } = event.data;
      return [['invitation', { ...rest, ...invited_by, organization: id, until: toMicros(expires_at) }]];
    }
    case 'OrganizationInvitationEnded':
      return [['invitationEnd', event.data]];
    case 'OrganizationMemberRemoved':
      return [['member', { ...event.data, organization: id, role: null }]];
    case 'OrganizationSsoConfigured':
      return [
        ['sso', { ...event.data, id }],
        ['confirmationEnd', { ...event.data, id }],
      ];
    case 'OrganizationVerified':
      return [['confirmation', { ...event.data, id }]];
    case 'ProjectCreated': {
      const { project_id, organization_id: organization, name } = event.data;
      return [['project', { id: project_id, organization, name }]];
    }
    case 'ProductionAccessRequested': {
      const { issuer, subject } = metadata.credential;
      return [['productionRequest', { ...event.data, project: id, issuer, subject }]];
    }
    case 'ProductionAccessRefused':
      return [['productionRefusal', event.data]];
    case 'ProductionAccessAllowed':
      return [
        ['productionWord', { id, word: 'allowed' }],
        ['productionAllowance', { id }],
      ];
    case 'ProductionAccessWithdrawn':
      return [['productionWord', { id, word: 'withdrawn' }]];
    case 'SandboxProvisioningRequested':
    case 'SandboxResetRequested': {
      const { kind, issuer, subject } = metadata.credential;
      const asker = kind === 'id_token' ? `${issuer} ${subject}` : null;
      return [['filling', { id, reset_id: event.data.reset_id, asker }]];
    }
    case 'SandboxProvisioned':
      return [['filled', { id, reset_id: event.data.reset_id }]];
    case 'ProjectDeleted':
      return [
        ['projectEnd', { id }],
        ['keysEnd', { id }],
        ['applicationsEnd', { id }],
      ];
    case 'GuestHostBlocked':
      return [['blockedHost', { ...event.data, blocked: true }]];
    case 'GuestHostUnblocked':
      return [['blockedHost', { ...event.data, blocked: false }]];
    case 'ApiKeyCreated':
      return [
        [
          'key',
          {
            ...event.data,
            project: id,
            until: event.data.expires_at === null ? null : toMicros(event.data.expires_at),
          },
        ],
      ];
    case 'ApiKeyRevoked':
      return [['revocation', { key_id: event.data.key_id }]];
    case 'ApplicationRegistered': {
      const { application_id, project_id: project, jwks, ...rest } = event.data;
      const keys = jwks === undefined ? null : JSON.stringify(jwks);
      return [['application', { ...rest, id: application_id, project, jwks: keys }]];
    }
    case 'ApplicationChanged': {
      const { jwks, ...rest } = event.data;
      return [['applicationChange', { ...rest, id, jwks: jwks === undefined ? null : JSON.stringify(jwks) }]];
    }
    case 'ApplicationSecretRotated': {
      const { secret_sha256, previous } = event.data;
      const until = previous === undefined ? null : toMicros(previous.until);
      return [['secret', { id, secret_sha256, previous: previous?.sha256 ?? null, until }]];
    }
    case 'ApplicationBranded': {
      const { logo, ...rest } = event.data;
      const shown = { logo_sha256: logo?.sha256, logo_type: logo?.content_type, logo_size: logo?.size };
      return [['branding', { ...rest, ...shown, id }]];
    }
    case 'ApplicationTrusted': {
      // In the past, owners could mark applications as trusted. Now only the operator's decision counts, whether made on the
      // command line or by a signed-in operator.
      const { trusted } = event.data;
      const isOperators = metadata.credential.kind === 'system' || metadata.cause === BY_OPERATOR;
      const row = { id, trusted: trusted && isOperators, trusted_by_others: trusted && !isOperators };
      return [['trust', row]];
    }
    case 'ApplicationDeleted':
      return [['applicationEnd', { id }]];
    default:
      return [];
  }
}

/** Serves authentication and the admin interface. */
export const projects: Projection = {
  name: 'projects',
  version: 13,
  prefixes: ['organization-', 'project-', 'application-'],
  tables,
  indexes,
  compared: [
    'organization',
    'member',
    'project',
    'production_request',
    'api_key',
    'application',
    'blocked_host',
  ],
  ...jsonRows(STATEMENTS, listChanges),
};
