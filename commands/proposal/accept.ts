/**
 * Accepts proposals: one append contains both the version that results from a proposal and the event that the proposal was
 * accepted. The write is planned and checked again, as a write by the application under its current grant.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toMicros } from '#src/shared/time/time.ts';
import type { Done, MetadataBase, RequestContext } from '../command.ts';
import { type GrantedData, granted } from '../consent/held.ts';
import { PastOf, readOwner } from '../consent/on-record.ts';
import { retry, Stale } from '../kernel/kernel.ts';
import { touchedIds, type Write } from '../resource/decide.ts';
import { findEntry } from '../resource/state.ts';
import * as decide from './decide.ts';
import type { ProposalDeps } from './deps.ts';
import { lapse } from './end.ts';
import { hasEnded, statusAfter } from './held.ts';
import { type MadeProposal, madeAt, suggestedBy } from './made.ts';
import { planSuggested } from './planned.ts';
import type { AcceptedVersion, Approver, ProposalRef } from './proposals.ts';

/**
 * Accepts a proposal.
 * @throws Refusal in the same cases as `Proposals.accept`
 */
export async function accept(
  deps: ProposalDeps,
  by: RequestContext,
  proposal: ProposalRef,
  { relationship, issuer, subject }: Approver,
): Promise<Done<AcceptedVersion>> {
  const { record, proposalId } = proposal;
  const stream = recordStream(record);
  const commandId = by.ids.at(0, `command/${stream}/accept/${proposalId}`);
  const earlier = await earlierAnswer(deps, by, commandId);
  if (earlier !== undefined) return earlier;
  const person = { issuer, subject };
  const keys = [record, ...decide.deciderKeys(person, proposalId)];
  const owner = await readOwner(deps.resources, record, keys);
  const asked = { ...proposal, person, environment: owner.environment };
  const approval = {
    ...person,
    role: relationship === 'self' ? ('self' as const) : ('representative' as const),
    proposal_id: proposalId,
  };
  const past = new PastOf(deps.resources, stream);
  return retry(Stale, async () => {
    await past.load(record);
    const { state } = await deps.resources.read(stream, [...keys, ...past.ids]);
    const { data, lapse: over } = decide.decidable(state, past.at, asked, by.now());
    const made = await madeAt(deps.resources, stream, findEntry(state, proposalId)?.revision);
    const grant = findEntry(state, data.grant_id)?.revision;
    const writes =
      over !== undefined || grant === undefined
        ? []
        : await writable(deps, by, made, { record, owner, granted: granted(past.at(grant)) });
    const { result, position } = await deps.resources.handle<decide.Ended & { readonly at: number }>({
      stream,
      metadata: { ...byProposer(made, by, commandId), approved_by: approval },
      now: by.now,
      retry: by.retry,
      touches: [...keys, ...touchedIds(stream, writes), ...past.ids],
      decide: (current, clock) => {
        const id = by.ids.at(0, `event/${stream}/accept/${proposalId}`);
        const { drafts, result } = decide.accept(current, past.at, clock, asked, writes, id);
        return { drafts, result: { ...result, at: drafts[0]?.at ?? 0 } };
      },
    });
    if (result.accepted === undefined) {
      // Nothing was approved, so the event that ends the proposal names no author and no approver.
      await lapse(deps, by, proposal);
      throw hasEnded(result.status);
    }
    return {
      result: result.accepted,
      wrote: position === undefined ? undefined : { position, at: result.at },
    };
  });
}

/**
 * Returns the result of an earlier attempt of this request.
 * @throws Refusal conflict if that attempt was too late
 */
async function earlierAnswer(
  { resources }: ProposalDeps,
  { retry: notes }: RequestContext,
  commandId: string,
): Promise<Done<AcceptedVersion> | undefined> {
  const attempt = notes?.earlier.get(commandId);
  const written = attempt === undefined ? [] : await resources.written(attempt, commandId);
  const last = written.at(-1);
  if (last === undefined) return undefined;
  const { event, position, metadata } = last;
  // Earlier releases wrote these as part of the command.
  if (event.type === 'ProposalSuperseded' || event.type === 'ProposalExpired')
    throw hasEnded(statusAfter(event));
  if (event.type !== 'ProposalAccepted') throw new TypeError(`${event.type} accepts no proposal`);
  const { resource_type: type, resource_id: id, version } = event.data;
  return { result: { type, id, version }, wrote: { position, at: toMicros(metadata.recorded_at) } };
}

/**
 * Returns a proposal's write, as the application could make it now.
 * @throws Refusal conflict (409) with the reason why the proposal can no longer be written; unavailable
 */
async function writable(
  deps: ProposalDeps,
  by: RequestContext,
  made: MadeProposal,
  home: { readonly record: string; readonly owner: Tenant; readonly granted: GrantedData },
): Promise<readonly Write[]> {
  const { application_id } = made.data;
  try {
    if (!(await deps.isOpen(application_id, home.owner.project)))
      throw conflict([
        'the application that made the proposal, its project or the record’s project was deleted',
      ]);
    const { ctx, suggested } = suggestedBy(deps, by, { made, ...home });
    return await planSuggested(deps, ctx, suggested, recordStream(home.record));
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'unavailable' || error.kind === 'conflict') throw error;
    throw conflict(error.issues.map(({ diagnostics }) => diagnostics));
  }
}

function conflict(reasons: readonly string[]): Refusal {
  return new Refusal(
    'conflict',
    reasons.map((reason) => ({
      code: 'conflict',
      diagnostics: `the proposal can't be written any more: ${reason}`,
    })),
  );
}

/**
 * Returns the metadata for the version that results from a proposal: the author and the credential are those of the
 * application that made the proposal.
 */
function byProposer(
  { metadata }: MadeProposal,
  { requestId }: RequestContext,
  commandId: string,
): MetadataBase {
  const {
    schema_version: _version,
    recorded_at: _at,
    append: _append,
    owner: _owner,
    hash: _hash,
    ...proposers
  }: StoredEvent['metadata'] = metadata;
  return { ...proposers, request_id: requestId, command_id: commandId };
}
