/** Decisions about a project's access to production, which has to be requested (docs/spec/decisions.md, section 7). Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type ProjectState, requireOpen } from './state.ts';

/** The projects that get production keys and applications: all projects, or only those that an operator has allowed. */
export type ProductionAccess = 'open' | 'request';

/** The inputs to a decision on production access, other than the project's own events. */
export interface ProductionRule {
  readonly access: ProductionAccess;
  /**
   * The time at which the project's newest production application was registered; undefined if it never had a production
   * application.
   */
  readonly newestApplication?: Micros | undefined;
}

/** The kind of thing to create in a project's environment. */
interface Made extends ProductionRule {
  readonly what: 'keys' | 'applications' | 'tokens';
  readonly environment: Environment;
}

/**
 * Checks that a project is open and may create keys, applications or tokens for an environment.
 * @throws Refusal not_found for a missing or closed project; forbidden for production access that an operator must allow
 *   first, with instructions for requesting it
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
 * Asks the operator for production access.
 * @param use the purpose for which the project needs it
 * @throws Refusal conflict for a project that already has production access, or whose request is pending
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
 * Refuses the pending request.
 * @param reason shown to the organization's members
 * @throws Refusal conflict if no request is pending
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

/**
 * Allows a project to have production keys and applications, which also grants its pending request; writes no event if nothing
 * changes.
 */
export function allowProduction(id: string) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    if (state.production && state.request === undefined) return [];
    return [{ type: 'ProductionAccessAllowed', data: { project_id: id } }];
  };
}

/**
 * Answers a request as the operator.
 * @param reason for a refusal, shown to the organization's members
 * @throws Refusal conflict if the request has already been answered
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
 * Withdraws production access; writes no event if it was already withdrawn and nothing has been created in production since.
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
 * Returns true if a project may create things in production. Projects that had production keys or applications before access
 * to production had to be requested count as allowed until an operator withdraws their access.
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
