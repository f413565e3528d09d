/**
 * What a credential without the scope `read` cannot ask of a write: nothing that tells what is stored. It may name resources
 * by their ids, and send what is to be there.
 */
import { probeIn } from '#src/fhir/patch/probe.ts';
import { type Caller, mayRead } from '#src/shared/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { WriteRequest } from './request.ts';

/** @throws Refusal forbidden (403) for a search in a condition: whether it matches tells what is there. */
export function refuseConditions(caller: Caller, requests: readonly WriteRequest[]): void {
  if (mayRead(caller)) return;
  for (const { criteria, at } of requests)
    if (criteria !== undefined) throw lacksRead('a conditional write is a search', at);
}

/** @throws Refusal forbidden (403) for searches that stand as references. */
export function refuseSearches(caller: Caller, owner: WriteRequest): void {
  if (!mayRead(caller)) throw lacksRead('a reference that is a search', owner.at);
}

/** @throws Refusal forbidden (403) for a patch that asks for stored values. */
export function refuseProbing(caller: Caller, { patch, at }: WriteRequest): void {
  if (patch === undefined || mayRead(caller)) return;
  const probe = probeIn(patch);
  if (probe !== undefined) throw lacksRead(probe, at);
}

function lacksRead(what: string, at: string | undefined): Refusal {
  const entry = at === undefined ? '' : `${at}: `;
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `${entry}the credential lacks the scope read, which ${what} needs`,
    ...(at === undefined ? {} : { expression: at }),
  });
}
