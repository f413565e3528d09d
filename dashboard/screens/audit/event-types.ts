/** The event types that a project's auditors can see (docs/events.md). */

/** Events on records and the directory. */
export const RECORD_TYPES = [
  'ResourceCreated',
  'ResourceUpdated',
  'ResourceDeleted',
  'DocumentFinalized',
  'DirectoryEntriesCarried',
  'ConsentGranted',
  'ConsentRevoked',
  'ConsentExpired',
  'RecordLinked',
  'RecordUnlinked',
  'SharedLinkCreated',
  'SharedLinkEnded',
  'ProposalMade',
  'ProposalAccepted',
  'ProposalRejected',
  'ProposalWithdrawn',
  'ProposalSuperseded',
  'ProposalExpired',
] as const;

/** Events on the project itself, its applications and its webhook endpoints. */
export const PROJECT_TYPES = [
  'ProjectCreated',
  'ProjectDeleted',
  'ApiKeyCreated',
  'ApiKeyRevoked',
  'ApplicationRegistered',
  'ApplicationChanged',
  'ApplicationSecretRotated',
  'ApplicationBranded',
  'ApplicationTrusted',
  'ApplicationDeleted',
  'WebhookEndpointCreated',
  'WebhookEndpointChanged',
  'WebhookSecretRotated',
  'WebhookEndpointDeleted',
  'ProductionAccessRequested',
  'ProductionAccessAllowed',
  'ProductionAccessRefused',
  'ProductionAccessWithdrawn',
  'SandboxProvisioningRequested',
  'SandboxResetRequested',
  'SandboxProvisioned',
  'RecordErasureRequested',
  'RecordErased',
  'PersonalRecordStarted',
  'GuestHostBlocked',
  'GuestHostUnblocked',
] as const;

/** An event type that has a description. */
export type KnownType = (typeof RECORD_TYPES | typeof PROJECT_TYPES)[number];

/** Returns true if an event type has a description. */
export function isKnownType(type: string): type is KnownType {
  return [...RECORD_TYPES, ...PROJECT_TYPES].some((each) => each === type);
}
