/** Finds a person's records, in the form that the pages show. */
import type { MyPatient } from '#queries/consents/records.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { Texts } from '../pages/texts.ts';
import { dateText, deathText } from '../reading/day-text.ts';
import type { Visit } from './visit.ts';

/** A record that the person is allowed to open. */
export interface OpenRecord extends MyPatient {
  /** The record's name on the pages. */
  readonly name: string;
  /** Path of the record's pages below BASE_URL. */
  readonly path: string;
}

/** The read models that a record's pages read directly. The routes of the JSON interfaces wait for their own read models. */
const OF_RECORD = ['consents', 'resources', 'history', 'timeline'];

/** Waits until reads show earlier writes. Sandbox records are found through e-mail addresses, which requires a search. */
function caughtUp({ deps }: Visit, environment: Environment): Promise<void> {
  const models = ['consents', 'resources'];
  return deps.services.freshness.catchUp(
    environment === 'production' ? models : [...models, 'history', 'search'],
  );
}

/**
 * Returns a person's records in an environment, including records whose Patient is deleted. The person's own records come
 * first.
 */
export async function recordsIn(visit: Visit, environment: Environment): Promise<readonly OpenRecord[]> {
  await caughtUp(visit, environment);
  const { consentQueries } = visit.deps.services;
  const found = await consentQueries.listRecords(visit.session.person, environment, { deleted: true });
  return found.map((record) => opened(record, visit.say));
}

/**
 * Returns one of a person's records.
 * @throws Refusal not_found (404) for any other id
 */
export async function openRecord(visit: Visit, id: string): Promise<OpenRecord> {
  await visit.deps.services.freshness.catchUp(OF_RECORD);
  const { consentQueries } = visit.deps.services;
  const asked = id.toLowerCase();
  const link = await consentQueries.linkTo(visit.session.person, asked);
  if (link === undefined) throw notFound('Patient', id.slice(0, 64));
  const all = await recordsIn(visit, link.environment);
  const found = all.find(({ record }) => record === asked);
  if (found === undefined) throw notFound('Patient', id.slice(0, 64));
  return found;
}

function opened(record: MyPatient, say: Texts): OpenRecord {
  const name = [record.given, record.family].filter((part) => part !== null && part !== '').join(' ');
  return {
    ...record,
    name: name || say('record.unnamed'),
    path: `/connections/records/${record.record}`,
  };
}

/** Returns what distinguishes a record from others: whose record it is, the birth date, and who keeps it. */
export function recordDetails(say: Texts, record: MyPatient): string[] {
  const { relationship, via, keeper } = record;
  return [
    say(relationship === 'self' ? 'record.own' : 'record.dependent'),
    ...bornAndDied(say, record),
    ...(via === 'own' ? [say('record.started')] : []),
    ...(keeper === null || via === 'own' ? [] : [say('record.keeper', { project: keeper })]),
  ];
}

/** Returns when a person was born and, if they have died, that they have died. */
export function bornAndDied(say: Texts, { birth_date, died }: MyPatient): string[] {
  return [
    ...(birth_date === null ? [] : [say('record.born', { day: dateText(say, birth_date) })]),
    ...(died === undefined ? [] : [deathText(say, died)]),
  ];
}
