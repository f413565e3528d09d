/**
 * Refuses writes whose responses would reveal stored data to a credential without the scope `read`. Such a credential can name
 * resources by id, and send complete resources.
 */
import { TooLarge } from '#src/events/store.ts';
import { probeIn } from '#src/fhir/patch/probe.ts';
import { accessIn, type Caller, mayRead } from '#src/shared/access/caller.ts';
import { requireOnType } from '#src/shared/access/outside-grant.ts';
import type { Issue } from '#src/shared/issue.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { issuesAt, runForEntry, type WriteRequest } from './request.ts';

/**
 * Refuses conditions from a caller without the scope `read`, because a match reveals stored data.
 * @throws Refusal forbidden (403)
 */
export function refuseConditions(caller: Caller, requests: readonly WriteRequest[]): void {
  // Under a grant, or for a client whose scopes name types, a condition needs the letter `s` instead (`under-grant.ts`).
  if (mayRead(caller) || accessIn(caller.sees) !== undefined) return;
  for (const { criteria, at } of requests)
    if (criteria !== undefined) throw lacksRead('a conditional write', at);
}

/**
 * Refuses a conditional reference from a caller without the scope `read`, or under a grant without `s` on its type.
 * @param type the searched type; undefined if it isn't supported
 * @throws Refusal forbidden (403)
 */
export function refuseSearch(caller: Caller, owner: WriteRequest, type: string | undefined): void {
  if (accessIn(caller.sees) === undefined) {
    if (!mayRead(caller)) throw lacksRead('a reference that is a search', owner.at);
  } else if (type !== undefined) runForEntry(owner.at, () => requireOnType(caller.sees, type, 's'));
}

/**
 * Refuses writes that would reveal whether a directory entry is identical to the one that was sent.
 * @throws Refusal forbidden (403)
 */
export function refuseMatching(caller: Caller, { at, type }: WriteRequest): void {
  if (!mayRead(caller, type)) throw lacksRead('comparing a directory entry with the stored one', at);
}

/**
 * Refuses updates to documents with stored content, because they are compared with that content.
 * @throws Refusal forbidden (403)
 */
export function refuseContents(caller: Caller, { at, type, stored, resource, patch }: WriteRequest): void {
  const isServices = stored !== undefined || (patch === undefined && resource?.madeOf !== undefined);
  if (mayRead(caller, type) || isServices) return;
  throw lacksRead('comparing the attachments with the stored content', at);
}

/** The issue that a caller without the scope `read` gets for a failed patch: details would reveal the stored resource. */
export const PATCH_FAULT: Issue = {
  code: 'value',
  diagnostics:
    'the patch cannot be applied, or its result is invalid; use a credential with the scope read to see why',
};

/** Returns the error to throw instead of one that might reveal the resource that a patch is applied to. */
export function hiddenFault(caller: Caller, { patch, at, type }: WriteRequest, error: unknown): unknown {
  const isShown = mayRead(caller, type) || patch === undefined;
  if (isShown || !(error instanceof Refusal) || error.kind === 'forbidden') return error;
  return new Refusal('invalid', issuesAt(at, [PATCH_FAULT]));
}

/**
 * Returns the refusal of a proposal for a version that isn't current. If the caller isn't allowed to read the type, the
 * refusal is the same for every reason.
 * @param isShown true if the caller may read the type
 * @param diagnostics shown to a caller that may read the type
 */
export function outdated(isShown: boolean, type: string, id: string, diagnostics: string): Refusal {
  const told = isShown ? diagnostics : `the proposal doesn't change the current version of ${type}/${id}`;
  return new Refusal('conflict', { code: 'conflict', diagnostics: told });
}

/**
 * Returns a write's error as the caller may see it: without stored versions and sizes if the caller isn't allowed to read
 * them.
 */
export function withoutStored(caller: Caller, error: unknown): unknown {
  if (mayReadAll(caller)) return error;
  if (error instanceof TooLarge)
    return new Refusal('too_large', {
      code: 'too-long',
      diagnostics: `the request writes more than ${error.limit} bytes, the limit of one request; split it`,
    });
  if (!(error instanceof Refusal) || error.kind !== 'precondition_failed') return error;
  const issues = error.issues.flatMap(({ expression }) =>
    issuesAt(expression, [
      {
        code: 'conflict',
        diagnostics: "If-Match doesn't name the current version; read the resource again",
      },
    ]),
  );
  return new Refusal(error.kind, issues);
}

/**
 * Refuses patches that test stored values.
 * @throws Refusal forbidden (403)
 */
export function refuseProbing(caller: Caller, { patch, at, type }: WriteRequest): void {
  if (patch === undefined || mayRead(caller, type)) return;
  const probe = probeIn(patch);
  if (probe !== undefined) throw lacksRead(probe, at);
}

/** Returns true if a caller may read everything that the caller may write. */
function mayReadAll(caller: Caller): boolean {
  const access = accessIn(caller.sees);
  if (access === undefined) return mayRead(caller);
  return [...access.types.keys()].every((type) => mayRead(caller, type));
}

function lacksRead(what: string, at: string | undefined): Refusal {
  const entry = at === undefined ? '' : `${at}: `;
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `${entry}${what} requires the scope read, which this credential doesn't have`,
    ...(at === undefined ? {} : { expression: at }),
  });
}
