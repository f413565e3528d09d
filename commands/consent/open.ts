/** Assembles the write side of consent. */
import type { Position } from '#src/events/store.ts';
import { unavailable } from '#src/shared/refusal.ts';
import type { Done } from '../command.ts';
import type { Consents } from './consents.ts';
import { type GrantDeps, openGrants } from './grants.ts';
import { type InvitationDeps, openInvitations, type ProjectInvitations } from './invitations.ts';
import { openLinks } from './links.ts';
import { startPersonalRecord } from './personal.ts';
import { openSharedLinks } from './shared-links.ts';

/**
 * Creates the commands. When they return, their changes are in effect on every instance, because tokens are checked against
 * the read model.
 */
export function openConsents(
  deps: GrantDeps &
    InvitationDeps & {
      /** Waits until the read model `consents` reaches a position; returns false if that takes too long. */
      readonly waitFor: (position: Position) => Promise<boolean>;
    },
): Consents & ProjectInvitations {
  const { grant, revoke, expire } = openGrants(deps);
  const { link, unlink } = openLinks(deps.resources);
  const { share, endSharedLink } = openSharedLinks(deps);
  const { redeemInvitation, ...invitations } = openInvitations(deps);
  const awaitShown = async <T>(doing: Promise<Done<T>>): Promise<Done<T>> => {
    const done = await doing;
    if (done.wrote !== undefined && !(await deps.waitFor(done.wrote.position)))
      throw unavailable("the change was saved but isn't active on every instance yet; retry in a second");
    return done;
  };
  return {
    ...invitations,
    grant: (...asked) => awaitShown(grant(...asked)),
    revoke: (...asked) => awaitShown(revoke(...asked)),
    expire,
    link: (...asked) => awaitShown(link(...asked)),
    unlink: (...asked) => awaitShown(unlink(...asked)),
    share: (...asked) => awaitShown(share(...asked)),
    endSharedLink: (...asked) => awaitShown(endSharedLink(...asked)),
    startPersonalRecord: (...asked) => awaitShown(startPersonalRecord(deps, ...asked)),
    redeemInvitation: (...asked) => awaitShown(redeemInvitation(...asked)),
  };
}
