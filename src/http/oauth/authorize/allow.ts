/** Grants an application the access that a person allowed, and issues the code. */
import { normalise } from '#src/oauth/scopes.ts';
import type { Session } from '#src/shared/access/session.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import type { Texts } from '../../pages/texts.ts';
import type { AuthorizeServices } from '../../ports/authorize.ts';
import { type Choice, keptScopes, NEW_RECORD, OFFLINE, type Offer } from './choice.ts';
import type { Opened } from './opened.ts';
import { DAY_MS, fixedSentences, itemSentences } from './sentences.ts';

/** A request with a valid choice. */
export interface Allowed extends Opened {
  readonly session: Session;
  readonly say: Texts;
  readonly offer: Offer;
  readonly choice: Choice;
}

/**
 * Writes the grant and returns a code for it.
 * @throws Refusal not_found, conflict if the record can't be shared now
 */
export async function allow(
  services: AuthorizeServices,
  allowed: Allowed,
  requestId: string,
): Promise<string> {
  const { client, request, session, say, offer, choice } = allowed;
  const { issuer, subject } = session.person;
  const person = { issuer, subject };
  const { applicationId, project, environment, sector } = client;
  const { record, relationship, days } = await chosen(services, allowed, requestId);
  const scopes = normalise(keptScopes(choice, offer));
  const { grantId } = await services.grant(makeContext(allowed, requestId), {
    record,
    person,
    application: { id: applicationId, project, environment, sector },
    scopes,
    purpose: request.purpose ?? null,
    days,
    grantedBy: relationship === 'self' ? 'patient' : 'representative',
    lang: say.lang,
    sentences: sentencesShown(allowed, days),
  });
  const code = await services.issueCode({
    client,
    grantId,
    record,
    redirectUri: request.redirectUri,
    challenge: request.challenge,
    nonce: request.nonce,
    scope: scopes.join(' '),
    resources: request.resources,
    authTime: session.authTime ?? session.startedAt,
  });
  // The record has been purged or the grant has been revoked in the meantime.
  if (code === undefined)
    throw new Refusal('conflict', { code: 'conflict', diagnostics: 'the grant has ended' });
  return code;
}

/** Returns the chosen record and duration. If the person chose a new record, creates it. */
async function chosen(services: AuthorizeServices, allowed: Allowed, requestId: string) {
  const { client, session, offer, choice } = allowed;
  const { record, days, details } = choice;
  if (record === undefined || days === undefined) throw new TypeError('the choice has faults');
  if (record === NEW_RECORD) {
    const { issuer, subject } = session.person;
    const by = makeContext(allowed, requestId);
    const started = await services.startRecord(by, { issuer, subject }, client.environment, details);
    return { record: started, relationship: 'self', days } as const;
  }
  const relationship = offer.records.find(({ id }) => id === record)?.relationship ?? 'dependent';
  return { record, relationship, days } as const;
}

/** Returns the context in which a person's command runs in their session. */
function makeContext({ session: { person } }: Allowed, requestId: string) {
  const { issuer, subject } = person;
  return {
    credential: { kind: 'id_token' as const, issuer, subject },
    requestId,
    ids: new IdSource(newUuid(), Date.now()),
    now: nowMicros,
  };
}

/** Returns the sentences that the person read about the access that they allowed. */
function sentencesShown({ client, say, offer, choice }: Allowed, days: number): string[] {
  const { kept } = choice;
  const own = offer.records.every(({ relationship }) => relationship === 'self');
  const items = itemSentences(say, offer.scopes, own).filter(({ id }) => kept.has(id));
  const isOffline = offer.scopes.includes('offline_access') && kept.has(OFFLINE);
  return [
    ...items.map(({ sentence }) => sentence),
    ...fixedSentences(say, offer.scopes, client.name),
    ...(isOffline ? [say('sentence.offline', { app: client.name })] : []),
    say('sentence.until', { day: say.day(Date.now() + days * DAY_MS) }),
  ];
}
