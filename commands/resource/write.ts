/**
 * The path of every write: targets → links → patches → checks → one append, which is the commit point. If a write to a record
 * also creates directory entries, the append carries them, and a second append writes them to the directory. A single command
 * is a transaction with one entry.
 */
import { later } from '#src/events/position.ts';
import { BEGINNING, type Position } from '#src/events/store.ts';
import { directoryStream, recordPatient, recordStream } from '#src/events/streams.ts';
import { withAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import { printJson } from '#src/shared/json/json.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type CommandContext, metadataBase, type WriteResult, type Written } from '../command.ts';
import { retry, Stale } from '../kernel/kernel.ts';
import { checkAuthorship } from './authorship.ts';
import { carriedResult } from './current.ts';
import { type Blame, decideCarrying, touchedIds } from './decide.ts';
import type { Results, WriteDeps } from './deps.ts';
import { type Plan, type Planned, planWrites } from './plan.ts';
import { refuse, runForEntry, type WriteRequest } from './request.ts';
import { lockKey } from './resolve.ts';
import { searchReferences } from './searches.ts';
import { grantIds, requireActiveGrant } from './under-grant.ts';
import { refuseConditions, refuseMatching, withoutStored } from './write-only.ts';

/** Looks up existing resources and builds write requests from them. */
export type Prepare = () => Promise<readonly WriteRequest[]>;

/**
 * Writes all requests or none, without looking for an earlier attempt: only a request with an `Idempotency-Key` can have one.
 * @param transaction true to resolve links between requests (a transaction Bundle)
 * @param prepare builds the requests from the current state; called again after each change. Default: the requests as they
 *   were sent
 */
export async function writeFirst(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
  prepare: Prepare = async () => requests,
): Promise<Written<Results>> {
  if (requests.some(({ criteria }) => criteria !== undefined)) refuseConditions(ctx.caller, requests);
  return write(deps, ctx, prepare, transaction);
}

/**
 * Writes all requests or none.
 * @param prepare called again if the data that the requests were built from has changed
 * @param transaction true to resolve links between requests (a transaction Bundle)
 */
export function write(
  deps: WriteDeps,
  context: CommandContext,
  prepare: Prepare,
  transaction: boolean,
): Promise<Written<Results>> {
  return writeAll(deps, context, prepare, transaction).catch((error: unknown) => {
    throw withoutStored(context.caller, error);
  });
}

async function writeAll(
  deps: WriteDeps,
  context: CommandContext,
  prepare: Prepare,
  transaction: boolean,
): Promise<Written<Results>> {
  const ctx = isAuthorPlain(context)
    ? context
    : { ...context, authorship: await checkAuthorship(context, deps) };
  return retry(Stale, async () => writeLocked(deps, ctx, await prepare(), transaction));
}

/** Returns true if the author headers name nobody who would have to be in the directory. Under a grant, more is checked. */
function isAuthorPlain({ caller, authorship }: CommandContext): boolean {
  const { actingAs, authorRef, onBehalfOf, faults } = authorship;
  return caller.sees.within === undefined && (actingAs ?? authorRef ?? onBehalfOf ?? faults) === undefined;
}

async function writeLocked(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  const criteria = await criteriaKeys(deps, ctx, requests, transaction);
  const keys = [...new Set([...criteria, ...contentKeys(deps, requests)])].sort();
  if (keys.length === 0) return planAndAppend(deps, ctx, requests, transaction);
  return deps.locks.hold(keys, async () => {
    const written = await planAndAppend(deps, ctx, requests, transaction);
    // The next command that locks the same criteria must see what this request wrote. (The content sweeper doesn't need this:
    // it reads the log.)
    if (criteria.length > 0 && written.position !== undefined) await deps.settle(written.position);
    return written;
  });
}

/** Returns the lock keys for documents whose bytes are stored before the event that refers to them. */
function contentKeys({ contents }: WriteDeps, requests: readonly WriteRequest[]): string[] {
  return requests.flatMap(({ id, stored }) =>
    stored === undefined || id === undefined ? [] : [contents.lock(id)],
  );
}

/** Returns the lock keys for criteria that are searched before the write. */
async function criteriaKeys(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<string[]> {
  const keys = new Set<string>();
  for (const { type, criteria } of requests) {
    if (criteria !== undefined) keys.add(lockKey(ctx, type, criteria));
  }
  if (transaction) {
    const references = await inSlices(searchReferences(requests, deps.bases));
    for (const { search } of references.values())
      if (search !== undefined) keys.add(lockKey(ctx, search.type, search.criteria));
  }
  return [...keys];
}

async function planAndAppend(
  deps: WriteDeps,
  ctx: CommandContext,
  requests: readonly WriteRequest[],
  transaction: boolean,
): Promise<Written<Results>> {
  const plan = await planWrites(deps, ctx, requests, transaction);
  await ctx.permitted;
  const append = () => appendWrites(deps, ctx, plan, transaction);
  const isDocument = plan.planned.some(
    ({ write: one }) => one.kind !== 'remove' && one.finalized !== undefined,
  );
  return isDocument ? deps.attachments.store(ctx, plan.planned, append) : append();
}

const RANK = { DELETE: 0, POST: 1, PUT: 2, PATCH: 2 } as const;

/** Appends to the record, together with the new directory entries that it carries, or appends to the directory. */
async function appendWrites(
  deps: WriteDeps,
  ctx: CommandContext,
  { planned, results, seen }: Plan,
  transaction: boolean,
): Promise<Written<Results>> {
  if (planned.length === 0) {
    await confirmGrant(deps, ctx);
    return { result: results, position: known(seen) };
  }
  const ordered = [...planned].sort(
    (a, b) => RANK[a.request.method] - RANK[b.request.method] || a.request.index - b.request.index,
  );
  const records = new Set(
    ordered.filter(({ stream }) => recordPatient(stream) !== undefined).map(({ stream }) => stream),
  );
  if (records.size > 1) {
    const [first] = records;
    const other = ordered.find(({ stream }) => recordPatient(stream) !== undefined && stream !== first);
    throw new Refusal('invalid', {
      code: 'business-rule',
      diagnostics:
        'a transaction can write to one patient’s record only, and this one writes to several; send it as a batch, or send one transaction per patient',
      expression: other?.request.at ?? 'Bundle.entry',
    });
  }
  const { within } = ctx.caller.sees;
  // Under a grant everything goes through the record, because the grant is stored there.
  const record = within === undefined ? [...records][0] : recordStream(within.record);
  const stream = record ?? directoryStream(ctx.caller.sees.owner);
  const own = ordered.filter((one) => one.stream === stream);
  const carried = ordered.filter((one) => one.stream !== stream);
  for (const { write: one, request } of carried) {
    if (one.kind === 'create') {
      if (within === undefined || (await deps.isPersonal(ctx.caller.sees.owner))) continue;
      const what = `the directory of the record’s project cannot be written under a grant, and this entry would add a ${one.type}; refer to an existing one, or name it with display and identifier`;
      throw refuse('invalid', request, 'business-rule', what);
    }
    // A caller with the scope `read` gets `unchanged` for an entry that is identical to the stored version; other callers must
    // not learn that.
    if (request.method === 'PUT') refuseMatching(ctx.caller, request);
    const what = `${one.type}/${one.id} is a directory entry: a transaction that writes to a record cannot change or delete it; send that in a separate request`;
    throw refuse('invalid', request, 'business-rule', what);
  }
  const metadata = metadataBase(ctx, transaction ? ctx.ids.at(0, 'transaction') : undefined);
  const writes = own.map(({ write: one }) => one);
  const carrying =
    carried.length === 0 ? undefined : { id: ctx.ids.at(0, 'carry'), event: carry(ctx, carried) };
  const blame: Blame = (index, work) => runForEntry(own[index]?.request.at, work);
  const handled = await deps.resources.handle<WriteResult[]>({
    stream,
    metadata,
    now: ctx.now,
    retry: ctx.retry,
    owner: ctx.caller.sees.owner,
    touches: [...touchedIds(stream, writes), ...(within === undefined ? [] : grantIds(ctx.caller))],
    decide(state, clock) {
      if (within !== undefined) requireActiveGrant(state, ctx.caller);
      return decideCarrying(state, clock, writes, carrying, blame);
    },
  });
  const byAi = isByAi(metadata);
  own.forEach(({ request }, index) => {
    const result = handled.result[index];
    if (result !== undefined) results.set(request.index, byAi ? withLabel(result) : result);
  });
  // Reads must also show the results that are reported as already done, even if another request wrote them.
  let position = later(handled.position ?? handled.seen ?? BEGINNING, seen);
  if (carrying !== undefined) {
    const completed = await deps.completeCarried(
      { metadata: { owner: ctx.caller.sees.owner, ...metadata }, event: carrying.event },
      ctx.now,
    );
    for (const { request, write: one } of carried) {
      const result =
        completed.results.find(({ id }) => id === one.id) ??
        (await carriedResult(deps, directoryStream(ctx.caller.sees.owner), one));
      results.set(request.index, result);
    }
    position = later(position, completed.position ?? BEGINNING);
  }
  return { result: results, position: known(position) };
}

function known(position: Position): Position | undefined {
  return position === BEGINNING ? undefined : position;
}

function withLabel(result: WriteResult): WriteResult {
  const { body } = result;
  return body === undefined ? result : { ...result, body: withAiLabel(body) };
}

/**
 * Checks a grant if nothing is appended, because then no decision checks it.
 * @throws Refusal unauthenticated (401)
 */
async function confirmGrant({ resources }: WriteDeps, { caller }: CommandContext): Promise<void> {
  const { within } = caller.sees;
  if (within === undefined) return;
  const { state } = await resources.read(recordStream(within.record), grantIds(caller));
  requireActiveGrant(state, caller);
}

function carry(ctx: CommandContext, carried: readonly Planned[]) {
  const entries = carried.map(({ write: one }) => ({
    event_id: one.eventId,
    resource_type: one.type,
    resource_id: one.id,
    resource: one.kind === 'create' ? printJson(one.resource.value, one.resource.exact) : '',
  }));
  return {
    type: 'DirectoryEntriesCarried' as const,
    data: { stream: directoryStream(ctx.caller.sees.owner), entries },
  };
}
