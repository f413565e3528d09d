/** Ends proposals without writing their resources: rejected by a person, withdrawn by the application, or lapsed. */
import type { StoredEvent } from '#src/events/catalog.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Done, RequestContext } from '../command.ts';
import { listRevisions } from '../consent/held.ts';
import { type Conclude, onRecord, readOwner } from '../consent/on-record.ts';
import type { WriteDeps } from '../resource/deps.ts';
import * as decide from './decide.ts';
import { hasEnded, statusAfter } from './held.ts';
import type { ProposalRef } from './proposals.ts';

type Records = Pick<WriteDeps, 'resources'>;

/**
 * Rejects a proposal.
 * @throws Refusal in the same cases as `Proposals.reject`
 */
export async function reject(
  { resources }: Records,
  by: RequestContext,
  proposal: ProposalRef,
  person: PersonId,
  note?: string,
): Promise<Done> {
  const keys = decide.deciderKeys(person, proposal.proposalId);
  const { environment } = await readOwner(resources, proposal.record, keys);
  const conclude = decide.reject({ ...proposal, person, environment }, note);
  const done = await end(resources, by, proposal, 'reject', keys, conclude);
  // The decision came too late: both the event and the refusal say so.
  if (done.result.status !== 'rejected') throw hasEnded(done.result.status);
  return { ...done, result: undefined };
}

/**
 * Withdraws a proposal.
 * @throws Refusal in the same cases as `Proposals.withdraw`
 */
export async function withdraw(
  { resources }: Records,
  by: RequestContext,
  proposal: ProposalRef,
): Promise<Done> {
  const keys = [proposal.proposalId];
  const done = await end(resources, by, proposal, 'withdraw', keys, decide.withdraw(proposal));
  if (done.result.status !== 'withdrawn') throw hasEnded(done.result.status);
  return { ...done, result: undefined };
}

/**
 * Ends a proposal that can no longer be accepted.
 * @throws Refusal not_found
 */
export function lapse({ resources }: Records, by: RequestContext, proposal: ProposalRef): Promise<Done> {
  const { record, proposalId } = proposal;
  return onRecord(resources, by, {
    record,
    name: `lapse/${proposalId}`,
    keys: [proposalId],
    reads: (state) => listRevisions(state, [proposalId]),
    conclude: decide.lapse(proposal),
    answer: () => undefined,
  });
}

function end(
  resources: Records['resources'],
  by: RequestContext,
  { record, proposalId }: ProposalRef,
  name: string,
  keys: readonly string[],
  conclude: Conclude<decide.Ended>,
): Promise<Done<decide.Ended>> {
  return onRecord(resources, by, {
    record,
    name: `${name}/${proposalId}`,
    keys,
    reads: (state) => listRevisions(state, keys),
    conclude,
    answer: endedIn,
  });
}

function endedIn(written: readonly StoredEvent[]): decide.Ended {
  const [first] = written;
  if (first === undefined) throw new TypeError('an earlier attempt ended no proposal');
  return { status: statusAfter(first.event) };
}
