/** Calls `/me` as a person from the development issuer, and writes events about the person's records. */
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson, makeSubject } from '#src/dev-issuer/people.ts';
import type { NewEvent } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { made } from '../projections/made.ts';
import type { InProcess } from './in-process.ts';

/** An item of a list. */
export interface MyItem {
  readonly id: string;
  readonly [name: string]: unknown;
}

/** An answer. */
export interface MyAnswer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>> & {
    readonly data: readonly MyItem[];
    readonly total: number;
    readonly next_cursor: string | null;
  };
}

type Asked = Pick<InProcess, 'url' | 'pool'>;

/** Returns the issuer and subject of an e-mail address at a service's development issuer. */
export const identityOf = ({ url }: Asked, email: string) => ({
  issuer: devIssuerUrl(url),
  subject: makeSubject(email),
});

/**
 * Sends a request with a person's ID token.
 * @param path below `/me`, with a leading slash
 */
export async function me(
  service: Asked,
  email: string,
  path: string,
  method = 'GET',
  body?: object,
): Promise<MyAnswer> {
  const token = await new DevIssuer(service.pool, devIssuerUrl(service.url)).idToken(findPerson(email));
  const response = await fetch(`${service.url}/me${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
}

/** Returns the event that links a person to a record. */
export const linkOf = (
  service: Asked,
  email: string,
  relationship: 'self' | 'dependent' = 'self',
  link_id = `link_${newUuid()}`,
): NewEvent =>
  made({
    type: 'RecordLinked',
    data: { link_id, person: identityOf(service, email), relationship, via: 'invitation' },
  });

/** Returns the instant the given number of days from now. */
export const inDays = (days: number): string => toInstant(nowMicros() + days * 86_400_000_000);

/**
 * Creates a patient.
 * @returns its id
 */
export async function newPatient(service: Pick<InProcess, 'post' | 'fhir'>, key?: string): Promise<string> {
  const answer = await service.fhir('/Patient', {
    method: 'POST',
    body: JSON.stringify({
      resourceType: 'Patient',
      name: [{ family: 'Sand', given: ['Mira', 'Lou'] }],
      birthDate: '1957-03-14',
    }),
    ...(key === undefined ? {} : { key }),
  });
  if (answer.status !== 201) throw new Error(`POST /Patient: ${answer}`);
  return (JSON.parse(answer.text) as { id: string }).id;
}
