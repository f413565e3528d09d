/** Resolves the names of credentials from the log, which retains the names of keys and people even after they are revoked. */
import type { DomainEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { applicationStream, organizationStream, projectStream } from '#src/events/streams.ts';

/** A credential as shown in audit output. A member is null if it doesn't apply to the credential or isn't in the log. */
export interface NamedCredential {
  /** `api_key`, `id_token`, `client` or `grant` (access tokens), or `system`: the service itself. */
  readonly kind: string;
  readonly key_id: string | null;
  readonly key_name: string | null;
  /** The key's last four characters. */
  readonly key_last4: string | null;
  /** The application's id, for access tokens. */
  readonly application: string | null;
  readonly application_name: string | null;
  readonly issuer: string | null;
  readonly subject: string | null;
  /** E-mail address of the person whose ID token was used. */
  readonly email: string | null;
  readonly project: string | null;
  readonly environment: string | null;
}

/** Returns a credential whose names are still to be resolved. */
export function unnamed(credential: EventMetadata['credential']): NamedCredential {
  const { kind, key_id, application, issuer, subject, project, environment } = credential;
  return {
    kind,
    key_id: key_id ?? null,
    key_name: null,
    key_last4: null,
    application: application ?? null,
    application_name: null,
    issuer: issuer ?? null,
    subject: subject ?? null,
    email: null,
    project: project ?? null,
    environment: environment ?? null,
  };
}

/** Returns a short description of a credential: `name (…last4)`, an application's name, an e-mail address, or `the service`. */
export function credentialLabel(credential: NamedCredential): string {
  const { kind, key_id, key_name, key_last4, application, application_name, subject, email } = credential;
  if (key_name !== null && key_last4 !== null) return `${key_name} (…${key_last4})`;
  if (kind === 'system') return 'the service';
  return key_id ?? application_name ?? application ?? email ?? subject ?? kind;
}

interface Names {
  readonly keys: Map<string, { readonly name: string; readonly last4: string }>;
  readonly applications: Map<string, string>;
  /** E-mail addresses by issuer and subject. */
  readonly people: Map<string, string>;
  readonly organizations: Set<string>;
}

/**
 * Fills in names. To find them, it reads the streams of projects whose keys are among the credentials, of those projects'
 * organizations (for people), and of applications. If a stream can't be read, its names stay null.
 * @param read returns a stream's events, from revision 0; empty if the stream doesn't exist
 * @param projects additional projects whose members may be among the people
 */
export async function nameCredentials<T extends { readonly credential: NamedCredential }>(
  read: (stream: string) => AsyncIterable<RecordedEvent>,
  items: readonly T[],
  {
    projects = [],
    organizations = [],
  }: Partial<Record<'projects' | 'organizations', readonly string[]>> = {},
): Promise<(T & { readonly credential: NamedCredential })[]> {
  const names: Names = {
    keys: new Map(),
    applications: new Map(),
    people: new Map(),
    organizations: new Set(organizations),
  };
  const all = new Set([...projects, ...items.flatMap(({ credential: { project } }) => project ?? [])]);
  for (const project of all) await collect(read(projectStream(project)), names);
  const applications = new Set(items.flatMap(({ credential: { application } }) => application ?? []));
  for (const application of applications) await collect(read(applicationStream(application)), names);
  if (items.some(({ credential: { subject } }) => subject !== null)) {
    for (const each of names.organizations) await collect(read(organizationStream(each)), names);
  }
  return items.map((item) => ({ ...item, credential: addNames(item.credential, names) }));
}

function addNames(credential: NamedCredential, { keys, applications, people }: Names): NamedCredential {
  const key = keys.get(credential.key_id ?? '');
  return {
    ...credential,
    key_name: key?.name ?? null,
    key_last4: key?.last4 ?? null,
    application_name: applications.get(credential.application ?? '') ?? null,
    email: people.get(personKey(credential)) ?? null,
  };
}

const personKey = ({
  issuer,
  subject,
}: {
  readonly issuer: string | null;
  readonly subject: string | null;
}): string => `${issuer} ${subject}`;

const WANTED = new Set([
  'ApiKeyCreated',
  'ApplicationRegistered',
  'ProjectCreated',
  'OrganizationCreated',
  'OrganizationMemberAdded',
]);

async function collect(events: AsyncIterable<RecordedEvent>, names: Names): Promise<void> {
  try {
    for await (const event of events) if (WANTED.has(event.type)) note(understand(event).event, names);
  } catch {
    // The history matters more than the names, so ids are shown instead; `annal verify` names the event.
  }
}

function note(event: DomainEvent, { keys, applications, people, organizations }: Names): void {
  switch (event.type) {
    case 'ApiKeyCreated': {
      const { key_id, name, last4 } = event.data;
      keys.set(key_id, { name, last4 });
      return;
    }
    case 'ApplicationRegistered':
      applications.set(event.data.application_id, event.data.name);
      return;
    case 'ProjectCreated':
      organizations.add(event.data.organization_id);
      return;
    case 'OrganizationCreated':
    case 'OrganizationMemberAdded': {
      const person = event.type === 'OrganizationCreated' ? event.data.founder : event.data;
      if (person?.email !== undefined) people.set(personKey(person), person.email);
      return;
    }
    default:
  }
}
