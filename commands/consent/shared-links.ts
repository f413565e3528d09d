/**
 * Commands on shared links: a person lets anyone who has a link open a part of the record (SMART Health Links,
 * docs/spec/decisions.md, section 7). Keys, passcodes and contents are stored as rows; events contain none of them.
 */
import { ALL_CONSENT, dependentLink, SELF_LINK } from '#src/events/snapshot-entries.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { findEntry } from '../resource/state.ts';
import type { Consents, NewSharedLink, SharedLinkEndReason } from './consents.ts';
import { isLinkedNow, only, requireLive } from './decide.ts';
import { type GrantDeps, requireUnpurged } from './grants.ts';
import { activeSharedLinks, listLinks, listRevisions } from './held.ts';
import { type Conclude, onRecord, readOwner } from './on-record.ts';

/** The maximum number of active shared links on a record. */
const MOST = 100;

/** Opens the commands. */
export function openSharedLinks({
  resources,
  projects,
}: Pick<GrantDeps, 'resources' | 'projects'>): Pick<Consents, 'share' | 'endSharedLink'> {
  return {
    async share(by, asked) {
      const { record, person, linkId } = asked;
      const links = [SELF_LINK, dependentLink(person)];
      const keys = [...links, linkId, ALL_CONSENT];
      const owner = await readOwner(resources, record, keys);
      await requireUnpurged({ projects }, owner, record);
      return onRecord(resources, by, {
        record,
        name: `share/${linkId}`,
        keys,
        reads: (state) => listRevisions(state, links),
        conclude: share(asked, owner.environment),
        answer: () => undefined,
      });
    },
    endSharedLink: (by, record, linkId, reason) =>
      onRecord(resources, by, {
        record,
        name: `end-shared-link/${linkId}`,
        keys: [linkId],
        reads: () => [],
        conclude: endSharedLink(record, linkId, reason),
        answer: () => undefined,
      }),
  };
}

/**
 * Creates a link; does nothing if its id already exists, because the call then repeats the same decision.
 * @param environment the record's environment
 */
export function share(asked: NewSharedLink, environment: Environment): Conclude<void> {
  return (state, past) => {
    const { linkId, record, person, label, content, longTerm, passcode, expiresAt } = asked;
    if (findEntry(state, linkId) !== undefined) return { events: [], result: undefined };
    requireLive(state, record);
    if (!isLinkedNow(listLinks(state, past, person), environment)) throw notFound('Patient', record);
    if (activeSharedLinks(state).length >= MOST)
      throw new Refusal('conflict', {
        code: 'conflict',
        diagnostics: `the record has ${MOST} active shared links, which is the maximum; revoke one and retry`,
      });
    const data = {
      link_id: linkId,
      person: only(person),
      label,
      content,
      long_term: longTerm,
      passcode,
      expires_at: toInstant(expiresAt),
    };
    return { events: [{ type: 'SharedLinkCreated', data }], result: undefined };
  };
}

/**
 * Ends a link; does nothing if it has already ended.
 * @throws Refusal not_found
 */
export function endSharedLink(record: string, linkId: string, reason: SharedLinkEndReason): Conclude<void> {
  return (state) => {
    const entry = findEntry(state, linkId);
    if (entry?.type !== 'SharedLink') throw notFound('shared link', `${record}/${linkId}`);
    if (entry.deleted) return { events: [], result: undefined };
    return { events: [{ type: 'SharedLinkEnded', data: { link_id: linkId, reason } }], result: undefined };
  };
}
