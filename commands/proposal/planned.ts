/** Plans the write that a proposal suggests, when it is made and again when it is accepted. Writes nothing. */
import { readCategories } from '#src/fhir/search/categories.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { allows } from '#src/shared/access/access.ts';
import { mayRead } from '#src/shared/access/caller.ts';
import { outsideGrant } from '#src/shared/access/outside-grant.ts';
import { parseStored } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { CommandContext, SubmittedResource } from '../command.ts';
import { currentVersion } from '../resource/current.ts';
import type { Write } from '../resource/decide.ts';
import type { WriteDeps } from '../resource/deps.ts';
import { planWrites } from '../resource/plan.ts';
import type { WriteRequest } from '../resource/request.ts';
import { outdated } from '../resource/write-only.ts';

/** A suggested write. With an `id`, it is an update. */
export interface Suggested {
  readonly type: ResourceType;
  readonly id?: string;
  readonly resource: SubmittedResource;
}

/**
 * Returns the planned write.
 * @param stream the record's stream: a proposal can't be about another record, or about the directory
 * @throws Refusal in the same cases as the write; invalid (422) if a document contains bytes
 */
export async function planSuggested(
  deps: WriteDeps,
  ctx: CommandContext,
  { type, id, resource }: Suggested,
  stream: string,
): Promise<readonly Write[]> {
  const request: WriteRequest =
    id === undefined
      ? { index: 0, method: 'POST', type, resource }
      : { index: 0, method: 'PUT', type, id, resource };
  const { planned } = await planWrites(deps, ctx, [request], false);
  const [one] = planned;
  if (one === undefined || one.stream !== stream)
    throw refusal(`a proposal is about one resource of the patient's record, which this ${type} isn't`);
  const { write } = one;
  await requireWithin(deps, ctx, write, stream);
  if (write.kind !== 'remove' && (write.finalized ?? []).length > 0)
    throw refusal(
      'a proposal holds no bytes: leave out attachment.data, and upload the content once the document exists',
    );
  return [write];
}

/**
 * Checks a write against a grant's categories: the resource must belong to them both before and after the write
 * (docs/spec/decisions.md, section 9, "Categories"). A proposal can't restore a deleted resource.
 * @throws Refusal forbidden (403), conflict (409)
 */
async function requireWithin(
  { resources }: WriteDeps,
  { caller }: CommandContext,
  write: Write,
  stream: string,
): Promise<void> {
  const { within } = caller.sees;
  if (within === undefined || write.kind === 'remove') return;
  const { type, id, resource } = write;
  const letter = write.kind === 'create' ? 'c' : 'u';
  const states = [resource.value];
  if (write.kind === 'update') {
    const { body } = await currentVersion(resources, stream, type, id);
    if (body === undefined)
      throw outdated(
        mayRead(caller, type),
        type,
        id,
        `${type}/${id} is deleted, and a proposal can't restore it`,
      );
    states.push(parseStored(body));
  }
  if (!states.every((state) => allows(within.access, type, letter, readCategories(type, state))))
    throw outsideGrant(type, letter);
}

function refusal(diagnostics: string): Refusal {
  return new Refusal('invalid', { code: 'business-rule', diagnostics, expression: 'resource' });
}
