/** An application in a filled sandbox, and its authorization requests. */
import { createHash, randomBytes } from 'node:crypto';
import { type AdminJson, type AdminUser, signIn } from './admin.ts';
import { type InProcess, startInProcess } from './in-process.ts';
import type { PageVisitor, Shown } from './page-visitor.ts';
import { eventually } from './process.ts';
import { removeTemporaryFolders } from './temporary.ts';

/** The synthetic patient who is the mother of another patient. Needs a sandbox with at least three patients. */
export const MOTHER = 's-002@patients.example.org';

/** The application's redirect URI. Nothing listens there. */
export const CALLBACK = 'https://diary.example.org/callback?from=annal';

/** A project with a filled sandbox, and its owner. */
export interface Workshop {
  readonly owner: AdminUser;
  readonly project: string;
  readonly organization: string;
  /** Registers an application in the project; `more` replaces members. */
  register(more?: Readonly<Record<string, unknown>>): Promise<AdminJson>;
}

/** Number of synthetic patients in each sandbox of `startWorkshop`; the mother is the second patient. */
const PATIENTS = 3;

/** Starts a service with a workshop. */
export async function startWorkshop(): Promise<{ readonly service: InProcess; readonly workshop: Workshop }> {
  const service = await startInProcess({}, { SANDBOX_PATIENTS: String(PATIENTS) });
  try {
    return { service, workshop: await openWorkshop(service) };
  } catch (error) {
    await stopWorkshop(service);
    throw error;
  }
}

/** Stops the service, if it was started, and removes temporary folders. */
export async function stopWorkshop(service: InProcess | undefined): Promise<void> {
  await service?.stop();
  await removeTemporaryFolders();
}

/** Creates another workshop in a service from `startWorkshop`. */
export async function openWorkshop(service: InProcess): Promise<Workshop> {
  const owner = await signIn(service, `owner-${randomBytes(4).toString('hex')}@clinic.example`);
  const { id: organization } = await owner.done('POST', '/organizations', { name: 'Clinic & Sons' });
  const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
    name: 'Diary',
  });
  const { key } = await owner.done('POST', `/projects/${project}/keys`, {
    name: 'reads',
    environment: 'sandbox',
    scopes: ['read'],
  });
  await eventually(async () => {
    const found = await service.fhir('/Patient?_summary=count', { key });
    return Number(found.json.total) === PATIENTS;
  });
  return {
    owner,
    project,
    organization,
    register: (more = {}) =>
      owner.done('POST', `/projects/${project}/applications`, {
        name: 'Health diary',
        environment: 'sandbox',
        kind: 'public',
        redirect_uris: [CALLBACK],
        scopes: ['openid', 'fhirUser', 'launch/patient', 'offline_access', 'patient/*.cruds'],
        privacy_url: 'https://diary.example.org/privacy',
        ...more,
      }),
  };
}

/** Returns a verifier with its challenge (RFC 7636). */
export function newChallenge(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Returns the path and query of an authorization request; undefined omits a parameter. */
export function authorizePath(
  clientId: string,
  changes: Readonly<Record<string, string | undefined>> = {},
): string {
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: CALLBACK,
    scope: 'launch/patient patient/Observation.rs',
    state: 'st&te',
    code_challenge: newChallenge().challenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  return `/oauth/authorize?${new URLSearchParams(given)}`;
}

/** Opens a request and signs in at the development issuer; returns the consent page. */
export async function signInTo(visitor: PageVisitor, path: string, email: string): Promise<Shown> {
  await visitor.open(path);
  return visitor.submit({ email });
}

/** Returns the values of the page's controls with a given name, and whether each is selected. */
export function controlsOf(
  page: Shown,
  name: string,
): { readonly value: string; readonly checked: boolean }[] {
  const inputs =
    page.text.match(new RegExp(`<input type="(?:radio|checkbox)" name="${name}"[^>]*>`, 'g')) ?? [];
  return inputs.map((input) => ({
    value: /value="([^"]*)"/.exec(input)?.[1] ?? '',
    checked: / checked/.test(input),
  }));
}

/** Returns the form's fields as a browser would send them. */
export function formOf(page: Shown): (readonly [string, string])[] {
  return ['record', 'item', 'days'].flatMap((name) =>
    controlsOf(page, name).flatMap(({ value, checked }) => (checked ? [[name, value] as const] : [])),
  );
}

/** Returns the parameters of the redirect that follows the form. */
export function answerOf(page: Shown): URLSearchParams {
  return new URL(page.headers.get('location') ?? '', page.url).searchParams;
}
