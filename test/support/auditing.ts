/**
 * An organization with a member in each role, and another organization with an owner and an auditor, for tests about auditors.
 */
import { type AdminUser, signIn } from './admin.ts';
import { type SignedIn, signedIn } from './gateway.ts';
import type { InProcess } from './in-process.ts';

/** A project's key. */
interface Key {
  readonly id: string;
  readonly key: string;
}

/** The people and the project. */
export interface Auditing {
  readonly organization: string;
  readonly project: string;
  readonly owner: AdminUser;
  readonly auditor: AdminUser;
  readonly developer: AdminUser;
  /** The owner and the auditor of another organization. */
  readonly strangers: readonly AdminUser[];
  /** The auditor's session on the pages. */
  readonly session: SignedIn;
  readonly sandbox: Key;
  readonly production: Key;
  /**
   * Writes a resource, and returns it.
   * @throws Error if the write is refused
   */
  write(resource: Readonly<Record<string, unknown>>, key?: string): Promise<Written>;
}

/** A resource that was written. */
export interface Written {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: { readonly versionId: string; readonly lastUpdated: string };
}

/** The reason that an auditor gives for reading production. */
export const REASON = { 'X-Service-Reason': 'Case%2012' };

/** Founds them. */
export async function openAuditing(service: InProcess): Promise<Auditing> {
  const [owner, auditor, developer, ...strangers] = await Promise.all(
    ['owner@clinic', 'audit@clinic', 'dev@clinic', 'owner@other', 'audit@other'].map((name) =>
      signIn(service, `${name}.example`),
    ),
  );
  const [other, otherAuditor] = strangers;
  if (!owner || !auditor || !developer || !other || !otherAuditor) throw new Error('nobody is there');
  const found = async (by: AdminUser, name: string) => (await by.done('POST', '/organizations', { name })).id;
  const add = (by: AdminUser, organization: string, { issuer, subject, email }: AdminUser, role: string) =>
    by.done('POST', `/organizations/${organization}/members`, { issuer, subject, email, role });
  const organization = await found(owner, 'Clinic');
  await add(owner, organization, auditor, 'auditor');
  await add(owner, organization, developer, 'developer');
  await add(other, await found(other, 'Other'), otherAuditor, 'auditor');
  const project = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Pilot' })).id;
  const makeKey = (environment: string) =>
    owner.done('POST', `/projects/${project}/keys`, { name: `${environment} key`, environment });
  const sandbox = await makeKey('sandbox');
  return {
    organization,
    project,
    owner,
    auditor,
    developer,
    strangers,
    session: await signedIn(service, auditor.email),
    sandbox,
    production: await makeKey('production'),
    async write(resource, key = sandbox.key) {
      const { resourceType, id } = resource;
      const path = id === undefined ? `/${resourceType}` : `/${resourceType}/${id}`;
      const method = id === undefined ? 'POST' : 'PUT';
      const answer = await service.fhir(path, { key, method, body: JSON.stringify(resource) });
      if (answer.status >= 300) throw new Error(String(answer));
      return JSON.parse(answer.text) as Written;
    },
  };
}

/** A Patient for tests. */
export const PATIENT = { resourceType: 'Patient', name: [{ family: 'Sand' }], birthDate: '1957-03-14' };

/** Returns a patient's weight, for tests. */
export function weightOf(patient: string, value: number): Record<string, unknown> {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'Weight' },
    subject: { reference: `Patient/${patient}` },
    valueQuantity: { value, unit: 'kg' },
  };
}

/**
 * Calls a route as everyone who must not have access to it.
 * @returns the statuses for a developer, and for each stranger
 */
export function refusalsOf(
  { developer, strangers }: Auditing,
  method: string,
  path: string,
  body?: unknown,
): Promise<number[]> {
  return Promise.all(
    [developer, ...strangers].map(async (each) => (await each.ask(method, path, body)).status),
  );
}
