/** Makes proposals: an application under a grant suggests a write, and the proposal is checked like that write. */
import { recordStream } from '#src/events/streams.ts';
import { withoutVersion } from '#src/fhir/without-version.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import { printJson } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { type CommandContext, type Done, metadataBase } from '../command.ts';
import { PastOf } from '../consent/on-record.ts';
import { retry, Stale } from '../kernel/kernel.ts';
import { checkAuthorship } from '../resource/authorship.ts';
import { touchedIds } from '../resource/decide.ts';
import { withoutStored } from '../resource/write-only.ts';
import { type DraftedProposal, propose as decide, proposalKeys } from './decide.ts';
import type { ProposalDeps } from './deps.ts';
import { planSuggested } from './planned.ts';
import type { NewProposal } from './proposals.ts';

/** The maximum size of a proposed resource, in characters of its JSON: a list shows up to 200 proposals. */
const LONGEST = 100_000;

/**
 * Makes a proposal.
 * @throws Refusal in the same cases as `Proposals.propose`
 */
export async function propose(
  deps: ProposalDeps,
  context: CommandContext,
  proposal: NewProposal,
): Promise<Done<{ readonly proposalId: string }>> {
  const { caller, ids, now } = context;
  const { within } = caller.sees;
  const { credential, project } = caller.calls;
  if (within === undefined || credential.kind !== 'grant')
    throw new TypeError('proposals are made under a grant');
  const { record, patient } = within;
  const { grantId, applicationId } = credential;
  const stream = recordStream(record);
  const proposalId = ids.prefixed('prop_');
  const commandId = ids.at(0, `command/${stream}/propose`);
  const attempt = context.retry?.earlier.get(commandId);
  const [earlier] = attempt === undefined ? [] : await deps.resources.written(attempt, commandId);
  if (earlier !== undefined) {
    const { position, metadata } = earlier;
    return { result: { proposalId }, wrote: { position, at: toMicros(metadata.recorded_at) } };
  }
  const ctx = { ...context, authorship: await checkAuthorship(context, deps) };
  const { operation, type, resource, rationale } = proposal;
  const text = printJson(withoutVersion(resource.value), resource.exact);
  refuseLong(text);
  const drafted: DraftedProposal = {
    proposal_id: proposalId,
    grant_id: grantId,
    application_id: applicationId,
    project_id: project.project,
    environment: project.environment,
    patient,
    operation,
    resource_type: type,
    ...(proposal.operation === 'update'
      ? { resource_id: proposal.id, base_version: proposal.baseVersion }
      : {}),
    resource: text,
    rationale,
  };
  const past = new PastOf(deps.resources, stream);
  const made = retry(Stale, async () => {
    await past.load(record);
    const writes = await planSuggested(deps, ctx, proposal, stream);
    await ctx.permitted;
    const { result: at, position } = await deps.resources.handle({
      stream,
      metadata: { ...metadataBase(ctx), command_id: commandId },
      now,
      retry: context.retry,
      owner: caller.sees.owner,
      touches: [...touchedIds(stream, writes), ...proposalKeys(grantId), ...past.ids],
      decide(state, clock) {
        const data = decide(state, past.at, clock, mayRead(caller, type), drafted, writes);
        const at = clock.next();
        return {
          drafts: [{ id: ids.at(0, `event/${stream}/propose`), at, event: { type: 'ProposalMade', data } }],
          result: at,
        };
      },
    });
    return { result: { proposalId }, wrote: position === undefined ? undefined : { position, at } };
  });
  return made.catch((error: unknown) => {
    throw withoutStored(caller, error);
  });
}

/** @throws Refusal too_large (413) */
function refuseLong(text: string): void {
  if (text.length <= LONGEST) return;
  throw new Refusal('too_large', {
    code: 'too-long',
    diagnostics: `a proposed resource has at most ${LONGEST} characters of JSON, this one has ${text.length}`,
    expression: 'resource',
  });
}
