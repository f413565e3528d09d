/**
 * People's personal records, each in a separate project that has no organization, members, keys or applications
 * (docs/spec/decisions.md, section 9). When several starts run at the same time, the project's stream determines which one
 * wins. The record is created afterwards, even if an earlier start crashed between the two appends.
 */
import { hash } from 'node:crypto';
import type { PlainEvent } from '#src/events/catalog.ts';
import { SELF_LINK } from '#src/events/snapshot-entries.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import type { Environment, Tenant } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Done, RequestContext } from '../command.ts';
import type { Clock, Decision } from '../kernel/decision.ts';
import type { Streams } from '../kernel/streams.ts';
import type { ProjectState } from '../project/state.ts';
import { decideWrites } from '../resource/decide.ts';
import { findEntry, type Resources } from '../resource/state.ts';
import type { PersonalDetails } from './consents.ts';
import { linkAs } from './links.ts';

export interface PersonalRecord {
  readonly patient: string;
  readonly project: string;
}

/**
 * Returns the id of the project that holds a person's personal records. It is derived from the person, so there is only one.
 */
export function personalProject({ issuer, subject }: PersonId): string {
  const bytes = hash('sha256', JSON.stringify(['personal record', issuer, subject]), 'buffer');
  return `proj_${bytes.subarray(0, 16).toString('base64url')}`;
}

/**
 * Starts a person's record, or returns the one that they already have.
 * @throws Refusal invalid for details without a name or with a birth date that isn't a valid date
 */
export async function startPersonalRecord(
  {
    resources,
    projects,
  }: {
    readonly resources: Streams<Resources>;
    readonly projects: Streams<ProjectState>;
  },
  by: RequestContext,
  person: PersonId,
  environment: Environment,
  details: PersonalDetails,
): Promise<Done<PersonalRecord>> {
  const resource = makePatient(details);
  const project = personalProject(person);
  const stream = projectStream(project);
  const offered = by.ids.at(0, 'personal record');
  // The project's stream outlives a purge of the record, so it doesn't name the person.
  const unnamed: RequestContext = { ...by, credential: { kind: 'system' } };
  const started = await projects.transact(stream, unnamed, start(project, environment, offered));
  const { state } = await projects.read(stream);
  // A missing id means that the record was purged in the meantime: the person can start a new record.
  const patient = state.personal.get(environment) ?? offered;
  const made = await createPatient(resources, by, { project, environment }, patient, { resource, person });
  const linked = await linkAs(resources, by, patient, {
    linkId: by.ids.prefixed('link_'),
    person,
    relationship: 'self',
    via: 'own',
  });
  return { result: { patient, project }, wrote: linked.wrote ?? made ?? started };
}

/** Starts an environment's record; does nothing if the record already exists. */
function start(project: string, environment: Environment, patient: string) {
  return ({ personal }: ProjectState): PlainEvent[] => {
    if (personal.has(environment)) return [];
    return [{ type: 'PersonalRecordStarted', data: { project_id: project, environment, patient } }];
  };
}

/** Creates the Patient and the person's link in one append, unless the Patient exists. */
async function createPatient(
  resources: Streams<Resources>,
  by: RequestContext,
  owner: Tenant,
  patient: string,
  { resource, person }: { readonly resource: JsonObject; readonly person: PersonId },
) {
  const stream = recordStream(patient);
  const linkId = by.ids.prefixed('link_');
  const linked: PlainEvent = {
    type: 'RecordLinked',
    data: {
      link_id: linkId,
      person: { issuer: person.issuer, subject: person.subject },
      relationship: 'self',
      via: 'own',
    },
  };
  const { position, result: at } = await resources.handle({
    stream,
    metadata: {
      request_id: by.requestId,
      command_id: by.ids.at(0, `command/${stream}`),
      credential: by.credential,
      author: { type: 'patient' },
    },
    now: by.now,
    retry: by.retry,
    owner,
    touches: [patient, SELF_LINK],
    decide(state: Resources, clock: Clock): Decision<number> {
      if (findEntry(state, patient) !== undefined) return { drafts: [], result: 0 };
      const eventId = by.ids.at(0, `event/${stream}`);
      const { drafts } = decideWrites(state, clock, [
        {
          kind: 'create',
          eventId,
          type: 'Patient',
          id: patient,
          resource: { value: resource, exact: false },
        },
      ]);
      const link = { id: by.ids.at(1, `event/${stream}`), at: clock.next(), event: linked };
      return { drafts: [...drafts, link], result: drafts[0]?.at ?? 0 };
    },
  });
  return position === undefined ? undefined : { position, at };
}

const DATE = /^\d{4}-\d\d-\d\d$/;

/**
 * Returns the Patient for a personal record.
 * @throws Refusal invalid
 */
function makePatient({ given, family, birth_date }: PersonalDetails): JsonObject {
  const [first, last] = [given.trim(), family.trim()];
  if (first === '' && last === '')
    throw new Refusal('invalid', {
      code: 'required',
      diagnostics: 'provide `given` or `family`',
      expression: 'given',
    });
  if (!DATE.test(birth_date) || !isDay(birth_date))
    throw new Refusal('invalid', {
      code: 'value',
      diagnostics: '`birth_date` is not a valid date, for example 1984-07-19',
      expression: 'birth_date',
    });
  return {
    resourceType: 'Patient',
    name: [{ ...(last === '' ? {} : { family: last }), ...(first === '' ? {} : { given: [first] }) }],
    birthDate: birth_date,
  };
}

function isDay(date: string): boolean {
  const millis = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(date);
}
