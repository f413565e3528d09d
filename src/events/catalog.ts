/**
 * The catalogue of event types. Each has a name in the past tense, a zod schema for its data, and a sentence about its
 * meaning. The page `docs/events.md` is generated from the catalogue.
 */
import { z } from 'zod';
import type { EventMetadata } from './metadata.ts';
import type { Position } from './store.ts';

const environment = z.enum(['sandbox', 'production']);
const resourceHeader = {
  resource_type: z.string().describe('one of the 26 types'),
  resource_id: z.string().describe('UUIDv7'),
  version: z.int().positive().describe('FHIR version, from 1 without gaps'),
};
const person = z
  .object({
    issuer: z.string().describe('`iss` of their ID token'),
    subject: z.string().describe('`sub` of their ID token'),
    email: z.string().optional(),
  })
  .describe('the person that an ID token identifies');
const onlyPerson = person.omit({ email: true });
const heldScopes = z.array(z.string()).describe('as granted: SMART v2 form, sorted');
const grantedTo = {
  application_id: z.string(),
  project_id: z.string().describe('the application’s project'),
  environment,
};
const instant = z.string().describe('FHIR instant');
/** The members that every event about a proposal has. */
const proposal = {
  proposal_id: z.string(),
  grant_id: z.string().describe('the grant under which it was made'),
  place: z
    .int()
    .min(0)
    .max(99)
    .describe('the proposal’s place among its grant’s pending proposals; each has a different place'),
};
const proposedType = z.string().describe('one of the types that belong to a record');
/** The members that events about a proposal need so that webhooks can report them. */
const toldProposal = {
  ...proposal,
  ...grantedTo,
  patient: z.string().describe('the Patient’s pairwise id'),
  resource_type: proposedType,
};
const webhookSettings = {
  url: z.string(),
  events: z.array(z.string()).describe('types, or only `*` for all'),
  description: z.string().nullable(),
  active: z.boolean().describe('false: paused, its deliveries wait'),
};
const publicKey = z
  .object({
    kty: z.enum(['RSA', 'EC']),
    kid: z.string().optional(),
    use: z.string().optional(),
    alg: z.string().optional(),
    n: z.string().optional(),
    e: z.string().optional(),
    crv: z.string().optional(),
    x: z.string().optional(),
    y: z.string().optional(),
  })
  .describe('a public JSON Web Key');
const sealedSecret = z.string().describe('the signing secret, encrypted (AES-256-GCM)');
const fhirResource = z
  .record(z.string(), z.unknown())
  .describe('the whole resource after the change, as served');

const sandboxAsked = z.object({
  reset_id: z.string().describe('UUIDv7; the ids of everything that is created are derived from it'),
  seed: z.string().describe('determines the content'),
  patients: z.int().nonnegative(),
  today: z.string().describe('YYYY-MM-DD; the synthetic past ends before it'),
});

/**
 * The catalogue of event types: for each type, the current version of its data, what the event means, the streams that contain
 * it, and the schema of its data.
 */
export const CATALOG = {
  ResourceCreated: {
    version: 1,
    says: 'A resource was created, as version 1.',
    streams: 'record-, directory-',
    data: z.object({ ...resourceHeader, version: z.literal(1), resource: fhirResource }),
  },
  ResourceUpdated: {
    version: 1,
    says: 'A resource was replaced by its next version, or a deleted resource was restored.',
    streams: 'record-, directory-',
    data: z.object({ ...resourceHeader, resource: fhirResource }),
  },
  ResourceDeleted: {
    version: 1,
    says: 'A resource was deleted softly: the deletion is its next version.',
    streams: 'record-, directory-',
    data: z.object(resourceHeader),
  },
  DocumentFinalized: {
    version: 1,
    says: 'The content of a document was stored, with its checksum. The content never changes. This event is appended together with the version that shows the content.',
    streams: 'record-',
    data: z.object({
      id: z.string().describe('id of the DocumentReference'),
      patient: z.string(),
      version: z.int().positive().describe('the DocumentReference’s first version that shows the content'),
      content_type: z.string(),
      size: z.int().nonnegative().describe('in bytes'),
      sha256: z.string().describe('hex'),
      blob: z.string().describe('name of the bytes in the document store, below patient and document'),
    }),
  },
  DirectoryEntriesCarried: {
    version: 1,
    says: 'A transaction on a record also creates directory entries, which are copied from this event to the directory stream.',
    streams: 'record-',
    data: z.object({
      stream: z.string().describe('the directory stream'),
      entries: z.array(
        z.object({
          event_id: z.string(),
          resource_type: z.string(),
          resource_id: z.string(),
          resource: z.string().describe('the JSON text of the resource, without id, version and time'),
        }),
      ),
    }),
  },
  RecordLinked: {
    version: 1,
    says: 'A person was linked to a record, either because it is their own or because they look after the patient.',
    streams: 'record-',
    data: z.object({
      link_id: z.string(),
      person: onlyPerson,
      relationship: z.enum(['self', 'dependent']).describe('at most one `self` at a time'),
      via: z.enum(['invitation', 'own', 'identity_grant']),
    }),
  },
  RecordUnlinked: {
    version: 1,
    says: 'A person is no longer linked to a record; their grants end in the same append.',
    streams: 'record-',
    data: z.object({
      link_id: z.string(),
      reason: z.enum(['patient', 'project']).describe('who ended it: the person, or the owning project'),
    }),
  },
  ConsentGranted: {
    version: 1,
    says: 'A person gave an application access to a record for a limited time.',
    streams: 'record-',
    data: z.object({
      grant_id: z.string(),
      person: onlyPerson,
      ...grantedTo,
      sector: z
        .string()
        .describe('applications in the same project and environment with the same sector share ids'),
      scopes: heldScopes,
      purpose: z.string().nullable(),
      patient: z.string().describe('the Patient’s pairwise id'),
      subject: z.string().describe('the person’s pairwise `sub`'),
      granted_by: z
        .enum(['patient', 'representative', 'creator'])
        .describe('`representative`: by a dependent link; `creator`: by the identity grant'),
      expires_at: instant,
      lang: z.string().describe('language of the consent page'),
      sentences: z.array(z.string()).describe('the sentences that the person read and allowed'),
    }),
  },
  ConsentRevoked: {
    version: 1,
    says: 'A grant was ended before it expired.',
    streams: 'record-',
    data: z.object({
      grant_id: z.string(),
      ...grantedTo,
      patient: z.string().describe('the Patient’s pairwise id'),
      scopes: heldScopes,
      purpose: z.string().nullable(),
      expires_at: instant.describe('FHIR instant at which it would have expired'),
      reason: z.enum([
        'patient',
        'platform',
        'application_deleted',
        'patient_purged',
        'replaced',
        'link_ended',
      ]),
      note: z.string().optional().describe("the person's own note, which is in no webhook"),
    }),
  },
  ConsentExpired: {
    version: 1,
    says: 'A grant expired. Tokens stop working at that time, with or without this event.',
    streams: 'record-',
    data: z.object({ grant_id: z.string(), ...grantedTo }),
  },
  SharedLinkCreated: {
    version: 1,
    says: 'A person made a SMART Health Link: anyone who has the link can open a part of the record for a limited time. The link itself, its key and its passcode aren’t in the event.',
    streams: 'record-',
    data: z.object({
      link_id: z.string(),
      person: onlyPerson,
      label: z.string().nullable().describe('at most 80 characters, shown to people who open the link'),
      content: z.string().describe('`summary`, `everything` or `document/<id>`'),
      long_term: z.boolean().describe('each opening shows the current record'),
      passcode: z.boolean().describe('whether the link requires a passcode'),
      expires_at: instant,
    }),
  },
  SharedLinkEnded: {
    version: 1,
    says: 'A shared link can no longer be opened; its key and contents were deleted. A link stops working when it expires, with or without this event.',
    streams: 'record-',
    data: z.object({
      link_id: z.string(),
      reason: z
        .enum(['patient', 'expired', 'passcode', 'link_ended', 'platform'])
        .describe(
          '`passcode`: five wrong passcodes; `link_ended`: the person is no longer linked to the record; `platform`: the record’s project was deleted',
        ),
    }),
  },
  ProposalMade: {
    version: 1,
    says: 'An application proposed a change to the record, which is pending until a person who is linked to the record decides. The metadata names the author.',
    streams: 'record-',
    data: z.object({
      ...proposal,
      ...grantedTo,
      patient: z.string().describe('the Patient’s pairwise id'),
      operation: z.enum(['create', 'update']),
      resource_type: proposedType,
      resource_id: z.string().optional().describe('for an update: the id of the resource'),
      base_version: z
        .int()
        .positive()
        .optional()
        .describe(
          'for an update: the version that the proposal changes; a newer version supersedes the proposal',
        ),
      resource: z.string().describe('the JSON text of the proposed resource, without version and time'),
      rationale: z.string().nullable().describe('the application’s reason'),
      expires_at: instant.describe('FHIR instant at which the proposal expires'),
    }),
  },
  ProposalAccepted: {
    version: 1,
    says: 'A person accepted a proposal; the same append contains the resulting version. `approved_by` in the metadata names the person.',
    streams: 'record-',
    data: z.object({
      ...toldProposal,
      resource_id: z.string(),
      version: z.int().positive().describe('the FHIR version that resulted'),
    }),
  },
  ProposalRejected: {
    version: 1,
    says: 'A person rejected a proposal.',
    streams: 'record-',
    data: z.object({
      ...toldProposal,
      resource_id: z.string().optional().describe('for an update: the id of the resource'),
      note: z
        .string()
        .optional()
        .describe("the person's own note, which no webhook has and no application sees"),
    }),
  },
  ProposalWithdrawn: {
    version: 1,
    says: 'The application withdrew a proposal.',
    streams: 'record-',
    data: z.object(proposal),
  },
  ProposalSuperseded: {
    version: 1,
    says: 'The resource that a proposal would change got a newer version before a person decided.',
    streams: 'record-',
    data: z.object({
      ...proposal,
      version: z.int().positive().describe('the version that the resource had by then'),
    }),
  },
  ProposalExpired: {
    version: 1,
    says: 'Nobody decided on a proposal in time, or its grant ended. From then on, the proposal can no longer be accepted, with or without this event.',
    streams: 'record-',
    data: z.object({ ...proposal, reason: z.enum(['time', 'grant_ended']) }),
  },
  RecordErasureRequested: {
    version: 1,
    says: 'The project that created a record requested that it be purged with all its history.',
    streams: 'project-',
    data: z.object({ patient: z.string(), environment }),
  },
  RecordErased: {
    version: 3,
    says: 'A record was physically removed, as requested. This event keeps facts about the record’s grants and access log that don’t name any person.',
    streams: 'project-',
    data: z.object({
      patient: z.string(),
      environment,
      grants: z.array(
        z.object({
          grant_id: z.string(),
          application_id: z.string(),
          granted_at: instant,
          ended_at: instant,
        }),
      ),
      access_log: z.object({
        entries: z.int().nonnegative().describe('number of entries that were removed'),
        hash: z
          .string()
          .nullable()
          .describe("the last entry's hash, 64 hex digits; null if there were no entries"),
      }),
    }),
  },
  PersonalRecordStarted: {
    version: 1,
    says: 'A person started a personal record, in a project that contains nothing else. The event names nobody: only the link in the record does, and a purge removes the link with the record.',
    streams: 'project-',
    data: z.object({
      project_id: z.string().describe('derived from the issuer and subject'),
      environment,
      patient: z.string().describe('UUIDv7 of the Patient'),
    }),
  },
  OrganizationCreated: {
    version: 1,
    says: 'An organization was created.',
    streams: 'organization-',
    data: z.object({
      organization_id: z.string(),
      name: z.string(),
      founder: person.optional().describe('the first owner; absent if the service created the organization'),
    }),
  },
  OrganizationMemberAdded: {
    version: 2,
    says: 'A person became a member of an organization, or a member got a different role.',
    streams: 'organization-',
    data: person.extend({ role: z.enum(['owner', 'admin', 'developer', 'auditor']) }),
  },
  OrganizationMemberInvited: {
    version: 1,
    says: 'A person was invited to an organization by their e-mail address.',
    streams: 'organization-',
    data: z.object({
      invitation_id: z.string(),
      email: z.string().describe('lower case'),
      role: z.enum(['owner', 'admin', 'developer', 'auditor']),
      invited_by: onlyPerson.describe(
        'the member who sent the invitation; they must still be allowed to send it when it is accepted',
      ),
      expires_at: instant.describe('FHIR instant after which it can’t be accepted'),
    }),
  },
  OrganizationInvitationEnded: {
    version: 1,
    says: 'An invitation to an organization was accepted, withdrawn, or replaced by another for the same address.',
    streams: 'organization-',
    data: z.object({
      invitation_id: z.string(),
      reason: z.enum(['accepted', 'withdrawn', 'replaced']),
    }),
  },
  OrganizationMemberRemoved: {
    version: 1,
    says: 'A person is no longer a member of an organization.',
    streams: 'organization-',
    data: person.omit({ email: true }),
  },
  OrganizationSsoConfigured: {
    version: 1,
    says: 'An organization set the issuer at which its members sign in, and their e-mail domains.',
    streams: 'organization-',
    data: z.object({
      issuer: z.string(),
      client_id: z.string(),
      domains: z.array(z.string()).describe('lower case; each belongs to at most one organization'),
    }),
  },
  OrganizationVerified: {
    version: 1,
    says: 'An owner proved, with a verified e-mail address, that the organization owns the domain.',
    streams: 'organization-',
    data: z.object({ domain: z.string() }),
  },
  ProjectCreated: {
    version: 1,
    says: 'A project was opened in an organization.',
    streams: 'project-',
    data: z.object({ project_id: z.string(), organization_id: z.string(), name: z.string() }),
  },
  ProjectDeleted: {
    version: 1,
    says: 'A project was closed: its keys and applications stopped working. The project’s records stay in the log.',
    streams: 'project-',
    data: z.object({ project_id: z.string() }),
  },
  ApiKeyCreated: {
    version: 2,
    says: 'An API key was issued; only its SHA-256 is kept.',
    streams: 'project-',
    data: z.object({
      key_id: z.string(),
      name: z.string(),
      environment,
      scopes: z.array(z.enum(['read', 'write'])),
      sha256: z.string().describe('hex SHA-256 of the key'),
      last4: z.string(),
      expires_at: instant.nullable().describe('FHIR instant at which the key stops working; null: never'),
    }),
  },
  ApiKeyRevoked: {
    version: 1,
    says: 'An API key stopped working.',
    streams: 'project-',
    data: z.object({ key_id: z.string() }),
  },
  ProductionAccessRequested: {
    version: 1,
    says: 'A member asked the installation’s operator to allow production keys and applications for a project.',
    streams: 'project-',
    data: z.object({
      project_id: z.string(),
      request_id: z.string(),
      use: z.string().describe('what the project needs production for, in the member’s words'),
    }),
  },
  ProductionAccessRefused: {
    version: 1,
    says: 'An operator of the installation refused a request for production access.',
    streams: 'project-',
    data: z.object({
      project_id: z.string(),
      request_id: z.string(),
      reason: z.string().optional().describe('shown to the organization’s members'),
    }),
  },
  ProductionAccessAllowed: {
    version: 1,
    says: 'An operator of the installation allowed a project to create production keys and applications, which also answers a pending request.',
    streams: 'project-',
    data: z.object({ project_id: z.string() }),
  },
  ProductionAccessWithdrawn: {
    version: 1,
    says: 'A project is no longer allowed to create production keys or applications; existing keys and applications keep working.',
    streams: 'project-',
    data: z.object({ project_id: z.string() }),
  },
  GuestHostBlocked: {
    version: 1,
    says: 'An operator of the installation blocked a host: metadata documents on this host and its subdomains are no longer accepted as OAuth clients.',
    streams: 'project-',
    data: z.object({ host: z.string().describe('lower case') }),
  },
  GuestHostUnblocked: {
    version: 1,
    says: 'An operator of the installation unblocked a host: its metadata documents are accepted again.',
    streams: 'project-',
    data: z.object({ host: z.string() }),
  },
  SandboxProvisioningRequested: {
    version: 1,
    says: 'A new project’s sandbox is to be filled with synthetic patients.',
    streams: 'project-',
    data: sandboxAsked,
  },
  SandboxResetRequested: {
    version: 1,
    says: 'Everything in a sandbox is to be erased, and the synthetic patients are to be created again with new ids.',
    streams: 'project-',
    data: sandboxAsked,
  },
  SandboxProvisioned: {
    version: 1,
    says: 'A sandbox has been filled with its synthetic patients.',
    streams: 'project-',
    data: z.object({
      reset_id: z.string(),
      patients: z.int().nonnegative(),
      resources: z.int().nonnegative().describe('including directory entries'),
    }),
  },
  ApplicationRegistered: {
    version: 4,
    says: 'An OAuth application was registered in a project; only the SHA-256 of its secret is kept.',
    streams: 'application-',
    data: z.object({
      application_id: z.string(),
      project_id: z.string(),
      client_id: z.string(),
      name: z.string(),
      environment,
      kind: z.enum(['public', 'confidential']),
      redirect_uris: z.array(z.string()).describe('compared character by character'),
      post_logout_redirect_uris: z
        .array(z.string())
        .optional()
        .describe('where people can go after they sign out here; compared in the same way'),
      scopes: z.array(z.string()),
      grant_types: z.array(z.string()),
      privacy_url: z.string().optional(),
      secret_sha256: z.string().optional().describe('hex; only for confidential applications without keys'),
      jwks: z
        .object({ keys: z.array(publicKey) })
        .optional()
        .describe('public keys; only for confidential applications'),
      jwks_uri: z.string().optional().describe('URL of such keys; never together with jwks'),
      sector: z
        .string()
        .optional()
        .describe(
          'applications in the same sector get the same pairwise ids; absent: the application has its own sector',
        ),
    }),
  },
  ApplicationChanged: {
    version: 1,
    says: 'An application’s settings were changed; the event contains the new values of all settings that can change. If the application has keys, its client secrets no longer work.',
    streams: 'application-',
    data: z.object({
      redirect_uris: z.array(z.string()),
      post_logout_redirect_uris: z.array(z.string()),
      scopes: z.array(z.string()),
      privacy_url: z.string().optional(),
      jwks: z
        .object({ keys: z.array(publicKey) })
        .optional()
        .describe('public keys; only for confidential applications'),
      jwks_uri: z.string().optional().describe('URL of such keys; never together with jwks'),
    }),
  },
  ApplicationSecretRotated: {
    version: 1,
    says: 'An application got a new client secret; only the SHA-256 of each secret is kept.',
    streams: 'application-',
    data: z.object({
      secret_sha256: z.string().describe('hex'),
      previous: z
        .object({ sha256: z.string(), until: z.string().describe('instant') })
        .optional()
        .describe(
          'the previous secret, if it keeps working for a while; all older secrets have stopped working',
        ),
    }),
  },
  ApplicationBranded: {
    version: 2,
    says: 'The branding that the consent page shows for an application was replaced.',
    streams: 'application-',
    data: z.object({
      logo_uri: z.string().optional(),
      client_uri: z.string().optional(),
      tos_uri: z.string().optional(),
      color: z.string().optional().describe('#rrggbb'),
      logo: z
        .object({
          sha256: z.string().describe('hex'),
          content_type: z.enum(['image/png', 'image/jpeg', 'image/webp']),
          size: z.int().positive().describe('in bytes'),
        })
        .optional()
        .describe('the uploaded logo; its bytes are kept outside the log'),
    }),
  },
  ApplicationTrusted: {
    version: 1,
    says: 'An application became trusted, or is no longer trusted. Trust is valid only if an operator granted it: with the credential `system`, or with `cause` `operator` in the metadata.',
    streams: 'application-',
    data: z.object({ trusted: z.boolean() }),
  },
  ApplicationDeleted: {
    version: 1,
    says: 'An application was deleted and stopped working.',
    streams: 'application-',
    data: z.object({ application_id: z.string() }),
  },
  WebhookEndpointCreated: {
    version: 1,
    says: 'A webhook endpoint was created in a project and environment.',
    streams: 'webhook-',
    data: z.object({
      endpoint_id: z.string(),
      project_id: z.string(),
      environment,
      ...webhookSettings,
      secret: sealedSecret,
    }),
  },
  WebhookEndpointChanged: {
    version: 1,
    says: 'A webhook endpoint’s settings were changed; the event contains all new values.',
    streams: 'webhook-',
    data: z.object({ project_id: z.string(), environment, ...webhookSettings }),
  },
  WebhookSecretRotated: {
    version: 1,
    says: 'A webhook endpoint got a new secret; the previous one no longer signs deliveries.',
    streams: 'webhook-',
    data: z.object({ secret: sealedSecret }),
  },
  WebhookEndpointDeleted: {
    version: 1,
    says: 'A webhook endpoint was deleted; undelivered events are dropped.',
    streams: 'webhook-',
    data: z.object({ endpoint_id: z.string(), project_id: z.string() }),
  },
} as const;

/** A name in the catalogue. */
export type EventType = keyof typeof CATALOG;

/** Events about one version of one resource. `body` is the version's exact FHIR JSON text. */
export type ResourceEvent =
  | {
      readonly type: 'ResourceCreated' | 'ResourceUpdated';
      readonly resourceType: string;
      readonly resourceId: string;
      readonly version: number;
      readonly body: string;
    }
  | {
      readonly type: 'ResourceDeleted';
      readonly resourceType: string;
      readonly resourceId: string;
      readonly version: number;
    };

/** The types of all other events. */
export type PlainType = Exclude<EventType, ResourceEvent['type']>;

/** All other events, with data according to their schemas. */
export type PlainEvent = {
  [T in PlainType]: { readonly type: T; readonly data: z.infer<(typeof CATALOG)[T]['data']> };
}[PlainType];

/** A domain event, independent of the store that contains it. */
export type DomainEvent = ResourceEvent | PlainEvent;

/** A domain event with its stream, revision, position and metadata. */
export interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly metadata: EventMetadata & { hash?: string };
  readonly event: DomainEvent;
}
