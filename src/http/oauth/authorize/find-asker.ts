/** Finds the client of an authorization request. A guest's document is fetched only for a person who is signed in. */
import { type Parameters, readClientId } from '#src/oauth/authorization/request.ts';
import { isGuestId } from '#src/shared/access/guests.ts';
import type { Session } from '#src/shared/access/session.ts';
import type { AskingClient, AuthorizeServices } from '../../ports/authorize.ts';

/**
 * Returns the client; undefined if it is unknown.
 * @param findSession finds the person's session
 * @throws PageFault for a guest that can't be accepted
 */
export async function findAsker(
  { findClient, guests }: Pick<AuthorizeServices, 'findClient' | 'guests'>,
  parameters: Parameters,
  findSession: () => Promise<Session | undefined>,
): Promise<AskingClient | undefined> {
  const clientId = readClientId(parameters);
  if (!isGuestId(clientId)) return findClient(clientId);
  if ((await findSession()) !== undefined) return guests.admit(clientId);
  await guests.check(clientId);
  return findClient(clientId);
}

/**
 * Returns whether a person must sign in before their request can be checked. This applies to requests from guests, because
 * only people with an account here can make the service fetch a guest's document.
 */
export function waitsForSignIn(parameters: Parameters): boolean {
  const value = (name: string) => parameters.find(([own]) => own === name)?.[1] ?? '';
  return isGuestId(value('client_id')) && !value('prompt').split(' ').includes('none');
}
