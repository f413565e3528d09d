/** Decisions about a project's access to production, which is by request (docs/spec/decisions.md, section 7). Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type ProjectState, requireOpen } from './state.ts';

/** The projects that get production keys and applications: all, or those that an operator has allowed. */
export type ProductionAccess = 'open' | 'request';

/** The inputs to a decision on production besides the project's own events. */
export interface ProductionRule {
  readonly access: ProductionAccess;
  /** When the project's newest production application was registered; undefined if it never had one. */
  readonly newestApplication?: Micros | undefined;
}

/** The thing to make in a project's environment. */
interface Made extends ProductionRule {
  readonly what: 'keys' | 'applications' | 'tokens';
  readonly environment: Environment;
}

/**
 * Checks that a project is open and may make keys, applications or tokens of an environment.
 * @throws Refusal not_found for a missing or closed project; forbidden for production that an operator must allow first,
 * with the way to ask
 */
export function requireAccess(state: Readonly<ProjectState>, id: string, made: Made): void {
  const { what, environment } = made;
  requireOpen(state, id);
  if (environment !== 'production' || hasProduction(state, made)) return;
  const next =
    state.request === undefined
      ? `an owner or admin asks for it with \`POST /admin/projects/${id}/production-requests\` and {"use": "…"}, and an operator of this installation answers, in the dashboard or`
      : `the request ${state.request} is pending: an operator of this installation answers, in the dashboard or`;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `production ${what} need approval here: ${next} with \`annal production allow ${id}\`; sandbox ${what} need no approval`,
  });
}

/**
 * Asks the operator for production.
 * @param use the purpose that the project needs it for
 * @throws Refusal conflict for a project that already has production, or whose request is pending
 */
export function requestProduction(id: string, request: string, use: string, rule: ProductionRule) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    if (hasProduction(state, rule))
      throw conflict(`${id} is already allowed to create production keys and applications`);
    if (state.request !== undefined)
      throw conflict(`the request ${state.request} of this project is waiting for the operator's answer`);
    return [{ type: 'ProductionAccessRequested', data: { project_id: id, request_id: request, use } }];
  };
}

/**
 * Refuses the request that waits.
 * @param reason for the members of the organization
 * @throws Refusal conflict if none waits
 */
export function refuseProduction(id: string, reason?: string) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    const { request: request_id } = state;
    if (request_id === undefined)
      throw conflict(`${id} has no production request that is waiting for an answer`);
    const data = { project_id: id, request_id, ...(reason === undefined ? {} : { reason }) };
    return [{ type: 'ProductionAccessRefused', data }];
  };
}

/** Allows a project production keys and applications, and with that the request that waits; no event if nothing changes. */
export function allowProduction(id: string) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    if (state.production && state.request === undefined) return [];
    return [{ type: 'ProductionAccessAllowed', data: { project_id: id } }];
  };
}

/**
 * Answers a request as the operator.
 * @param reason of a refusal, for the members of the organization
 * @throws Refusal conflict if it was answered already
 */
export function answerRequest(
  id: string,
  request: string,
  { allow, reason }: { readonly allow: boolean; readonly reason?: string | undefined },
) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    if (state.request !== request) throw conflict(`the request ${request} was already answered`);
    return (allow ? allowProduction(id) : refuseProduction(id, reason))(state);
  };
}

/**
 * Withdraws production; no event if it was withdrawn before and nothing of production was made since.
 * @param newestApplication see `ProductionRule`
 */
export function withdrawProduction(id: string, newestApplication?: Micros) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    if (state.withdrawnAt !== undefined && !hasProduction(state, { access: 'request', newestApplication }))
      return [];
    return [{ type: 'ProductionAccessWithdrawn', data: { project_id: id } }];
  };
}

/**
 * Tells whether a project may make things of production. Projects that had keys or applications of production before it
 * was by request count as allowed until an operator withdraws it.
 */
function hasProduction(
  { production, withdrawnAt = 0 }: Readonly<ProjectState>,
  { access, newestApplication = 0 }: ProductionRule,
): boolean {
  return access === 'open' || production || newestApplication > withdrawnAt;
}

function conflict(diagnostics: string): Refusal {
  return new Refusal('conflict', { code: 'business-rule', diagnostics });
}
