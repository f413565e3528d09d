/** Records in several projects and environments, with answers about them that have receipts. */
import { type Auditing, openAuditing } from '#test/support/auditing.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { postMcp } from '#test/support/mcp.ts';
import { SECRET } from './theirs.ts';

/** The project and environment of each record. */
const PLACES = [
  ['pilot', 'sandbox'],
  ['pilot', 'sandbox'],
  ['pilot', 'production'],
  ['second', 'sandbox'],
  ['elsewhere', 'sandbox'],
] as const;

type ProjectName = (typeof PLACES)[number][0];
type Environment = (typeof PLACES)[number][1];

/** A record, and the answers about it. */
export interface Answered {
  readonly place: ProjectName;
  readonly environment: Environment;
  /** The project's id. */
  readonly project: string;
  readonly patient: string;
  readonly observation: string;
  readonly practitioner: string;
  readonly document: string;
  /** A text that each of the record's texts contains. */
  readonly marker: string;
  /** A text that each text of the directory in the record's project contains. */
  readonly entry: string;
  /** The key that wrote the record. */
  readonly key: string;
  readonly keyId: string;
  /** A grant on the record for an application of its project; undefined in production. */
  readonly allowed: Allowed | undefined;
}

/** The service with these records. */
export interface AnsweredWorld {
  readonly auditing: Auditing;
  readonly granting: Granting;
  readonly records: readonly Answered[];
  /** An application in each project, in the sandbox. */
  readonly applications: Readonly<Record<ProjectName, Application>>;
}

/** Makes the world. */
export async function writeAnswered(service: InProcess): Promise<AnsweredWorld> {
  const auditing = await openAuditing(service);
  const granting = await Granting.open(service);
  const [other = auditing.owner] = auditing.strangers;
  const { data } = await other.done('GET', '/organizations');
  const found = async (by: typeof other, organization: string, name: string) => {
    const { id } = await by.done('POST', `/organizations/${organization}/projects`, { name });
    const { key, id: keyId } = await by.done('POST', `/projects/${id}/keys`, {
      ...{ name: 'k', environment: 'sandbox' },
    });
    return { id, by, sandbox: { key, id: keyId } };
  };
  const { project, owner, sandbox, production, organization } = auditing;
  const projects = {
    pilot: { id: project, by: owner, sandbox, production },
    second: await found(owner, organization, 'Second'),
    elsewhere: await found(other, String(data[0]?.id), 'Theirs'),
  };
  const register = (name: ProjectName): Promise<Application> =>
    granting.register(projects[name].by, projects[name].id, ['patient/*.cruds', 'system/*.cruds']);
  const applications = {
    pilot: await register('pilot'),
    second: await register('second'),
    elsewhere: await register('elsewhere'),
  };
  const records: Answered[] = [];
  for (const [n, [place, environment]] of PLACES.entries()) {
    const { id: key, key: secret } =
      environment === 'production' ? projects.pilot.production : projects[place].sandbox;
    const marker = `${SECRET}-${n}`;
    const entry = `Zq8-${key}`;
    const ids = await writeRecord(service, secret, { marker, entry });
    const allowed =
      environment === 'production'
        ? undefined
        : await granting.allow(applications[place], ids.patient, {
            ...{ scopes: ['patient/*.cruds'], resources: [`${service.url}/mcp`, service.url] },
          });
    const record = {
      place,
      environment,
      project: projects[place].id,
      marker,
      entry,
      keyId: key,
      key: secret,
    };
    records.push({ ...record, ...ids, allowed });
    await answerAbout(service, { ...ids, key: secret, allowed });
  }
  return { auditing, granting, records, applications };
}

/**
 * Writes a record.
 * @returns the ids of its resources
 */
export async function writeRecord(
  service: InProcess,
  key: string,
  { marker, entry }: Pick<Answered, 'marker' | 'entry'>,
): Promise<Pick<Answered, 'patient' | 'observation' | 'practitioner' | 'document'>> {
  const write = async (resource: Readonly<Record<string, unknown>>): Promise<string> => {
    const answer = await service.fhir(`/${String(resource.resourceType)}`, {
      ...{ key, method: 'POST', body: JSON.stringify(resource) },
      headers: { 'X-Service-Source-System': marker },
    });
    if (answer.status !== 201) throw new Error(String(answer));
    return String(answer.json.id);
  };
  const practitioner = await write({ resourceType: 'Practitioner', name: [{ family: entry }] });
  const patient = await write({
    ...{ resourceType: 'Patient', name: [{ family: marker }], birthDate: '1957-03-14' },
    generalPractitioner: [{ reference: `Practitioner/${practitioner}` }],
  });
  const subject = { reference: `Patient/${patient}` };
  const observation = await write({
    ...{ resourceType: 'Observation', status: 'final', subject, effectiveDateTime: '2026-01-01' },
    code: { coding: [{ system: 'http://loinc.org', code: '4548-4' }], text: marker },
    valueString: marker,
  });
  const text = Buffer.from(`A letter, ${marker}`).toString('base64');
  const document = await write({
    ...{ resourceType: 'DocumentReference', status: 'current', subject, description: marker },
    content: [{ attachment: { contentType: 'text/plain', data: text } }],
  });
  return { patient, observation, practitioner, document };
}

/** Requests answers of each kind about a record. */
export async function answerAbout(
  service: InProcess,
  { patient, document, key, allowed }: Pick<Answered, 'patient' | 'document' | 'key' | 'allowed'>,
): Promise<void> {
  const context = await service.fhir(`${service.url}/v1/context`, {
    ...{ key, method: 'POST', headers: { 'Content-Type': 'application/json' } },
    body: JSON.stringify({ patient, budget_tokens: 600, format: 'text' }),
  });
  const summary = await service.fhir(`/Patient/${patient}/$summary`, { key });
  for (const answer of [context, summary]) if (answer.status !== 200) throw new Error(String(answer));
  if (allowed === undefined) return;
  for (const [name, args] of [
    ['get_context', {}],
    ['read_document', { id: document }],
  ] as const) {
    const { text } = await postMcp(service.url, allowed.token, 'tools/call', { name, arguments: args });
    if (!text.includes(SECRET)) throw new Error(text);
  }
}
