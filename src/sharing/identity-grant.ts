/**
 * The identity grant: a trusted application that has signed a person in itself gets a grant to that person's record
 * (docs/spec/decisions.md, section 7). It can reach the records of its own project and the person's personal record.
 */

import { decodeJwt } from 'jose';
import type { RequestContext } from '#commands/command.ts';
import type { Consents, PersonalDetails } from '#commands/consent/consents.ts';
import { GRANT_DAYS } from '#commands/consent/consents.ts';
import type { PatientsOfProject } from '#queries/consents/patients-of-project.ts';
import type { Freshness } from '../freshness/freshness.ts';
import type { AuthorizeServices } from '../http/ports/authorize.ts';
import type { IdentityGrant, IdentityRequest } from '../http/ports/oauth.ts';
import { OAuthError } from '../oauth/error.ts';
import type { Allowed } from '../oauth/tokens/codes.ts';
import type { Issued } from '../oauth/tokens/issued.ts';
import type { Identity } from '../shared/access/identity.ts';
import { IdSource, isUuid, newUuid } from '../shared/ids.ts';
import { Refusal } from '../shared/refusal.ts';
import { nowMicros } from '../shared/time/time.ts';

/** The maximum age of an ID token, in seconds since `iat`. */
const MOST_AGE_S = 300;

/** Dependencies. */
export interface IdentityGrantDeps {
  readonly verify: (token: string) => Promise<Identity>;
  readonly authorize: Pick<AuthorizeServices, 'recordsFor' | 'startRecord' | 'grant'>;
  readonly link: Consents['link'];
  readonly patientsOfProject: PatientsOfProject;
  readonly issueGrantTokens: (asked: Allowed) => Promise<Issued | undefined>;
  readonly freshness: Pick<Freshness, 'settle'>;
}

/** The record that a grant is for, and the person's role when granting it. */
interface Target {
  readonly record: string;
  readonly grantedBy: 'patient' | 'representative' | 'creator';
}

/** Opens it. */
export function openIdentityGrant(deps: IdentityGrantDeps): IdentityGrant {
  return async (asked) => {
    const { client, subjectToken, scopes, resources, requestId } = asked;
    const { person, claims } = await signedIn(deps, subjectToken);
    const by: RequestContext = {
      credential: { kind: 'id_token', issuer: person.issuer, subject: person.subject },
      requestId,
      ids: new IdSource(newUuid(), Date.now()),
      now: nowMicros,
    };
    try {
      const { record, grantedBy } = await findTarget(deps, asked, person, claims, by);
      const { grantId } = await deps.authorize.grant(
        { ...by, ids: new IdSource(newUuid(), Date.now()) },
        {
          record,
          person: { issuer: person.issuer, subject: person.subject },
          application: {
            id: client.applicationId,
            project: client.project,
            environment: client.environment,
            sector: client.sector,
          },
          scopes,
          purpose: null,
          days: Math.max(...GRANT_DAYS),
          grantedBy,
          lang: 'en',
          sentences: [],
        },
      );
      const authTime = typeof claims.auth_time === 'number' ? claims.auth_time : undefined;
      const issued = await deps.issueGrantTokens({
        client,
        grantId,
        record,
        scope: scopes.join(' '),
        resources,
        authTime,
      });
      if (issued === undefined) throw new OAuthError('invalid_grant', 'the grant has ended');
      return issued;
    } catch (error) {
      throw error instanceof Refusal && (error.kind === 'conflict' || error.kind === 'not_found')
        ? new OAuthError('invalid_grant', error.message)
        : error;
    }
  };
}

/**
 * Returns the person whom an ID token identifies, and the token's claims.
 * @throws OAuthError invalid_grant
 */
async function signedIn(
  { verify }: IdentityGrantDeps,
  token: string,
): Promise<{ person: Identity; claims: ReturnType<typeof decodeJwt> }> {
  let person: Identity;
  try {
    person = await verify(token);
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'unauthenticated')
      throw new OAuthError('invalid_grant', `subject_token: ${error.message}`);
    throw error;
  }
  // Anyone who runs the issuer of an organization can claim to be any person.
  if (person.organizations !== undefined)
    throw new OAuthError('invalid_grant', "subject_token must be from one of this installation's issuers");
  const claims = decodeJwt(token);
  if (Date.now() / 1_000 - (claims.iat ?? 0) > MOST_AGE_S)
    throw new OAuthError('invalid_grant', `subject_token must have been issued within ${MOST_AGE_S} seconds`);
  return { person, claims };
}

/**
 * Returns the record; it is linked or created if necessary.
 * @throws OAuthError
 */
async function findTarget(
  deps: IdentityGrantDeps,
  { client, patient }: IdentityRequest,
  person: Identity,
  claims: ReturnType<typeof decodeJwt>,
  by: RequestContext,
): Promise<Target> {
  const records = await deps.authorize.recordsFor(person, client, patient);
  const asked = patient?.toLowerCase();
  const named = asked !== undefined && isUuid(asked) ? [asked] : [];
  const own = await deps.patientsOfProject(client, [...records.map(({ record }) => record), ...named]);
  const reached = records.filter(({ record, via }) => via === 'own' || own.has(record));
  if (asked !== undefined) {
    const found = reached.find(({ record, isMeant }) => record === asked || isMeant);
    if (found !== undefined) {
      return {
        record: found.record,
        grantedBy: found.relationship === 'self' ? 'patient' : 'representative',
      };
    }
    if (!own.has(asked))
      throw new OAuthError('invalid_grant', 'patient is not a record that this grant covers');
    const { issuer, subject } = person;
    const { wrote } = await deps.link(by, asked, { issuer, subject }, 'self', 'identity_grant');
    if (wrote !== undefined) await deps.freshness.settle(wrote.position, ['consents']);
    return { record: asked, grantedBy: 'patient' };
  }
  const selves = reached.filter(({ relationship }) => relationship === 'self');
  const ofProject = selves.filter(({ record }) => own.has(record));
  const [only, ...more] = ofProject.length > 0 ? ofProject : selves;
  if (more.length > 0)
    throw new OAuthError('invalid_request', 'the person has several records; name one with patient');
  if (only !== undefined) return { record: only.record, grantedBy: 'patient' };
  const { issuer, subject } = person;
  const record = await deps.authorize.startRecord(
    by,
    { issuer, subject },
    client.environment,
    readDetails(claims),
  );
  return { record, grantedBy: 'creator' };
}

/**
 * Returns the content of a new personal record.
 * @throws OAuthError invalid_grant if the token lacks some of it
 */
function readDetails(claims: ReturnType<typeof decodeJwt>): PersonalDetails {
  const { given_name: given, family_name: family, birthdate } = claims;
  if (
    typeof given !== 'string' ||
    typeof family !== 'string' ||
    typeof birthdate !== 'string' ||
    !/^\d{4}-\d\d-\d\d$/.test(birthdate)
  ) {
    throw new OAuthError(
      'invalid_grant',
      'the person has no record, and subject_token lacks given_name, family_name or birthdate to start one',
    );
  }
  return { given: given.slice(0, 200), family: family.slice(0, 200), birth_date: birthdate };
}
