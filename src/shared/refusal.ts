/**
 * Errors that callers can receive: one closed catalogue of kinds, which is mapped to HTTP in one place (`src/http/errors.ts`).
 * Any other exception is a bug and results in a 500.
 */
import { listed } from './faults.ts';
import type { Issue } from './issue.ts';

/** Stable error codes for REST v1, admin and `/me` (docs/spec/decisions.md, section 2), with their HTTP status. */
export const STATUS_OF = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  invalid: 422,
  throttled: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type RefusalKind = keyof typeof STATUS_OF;

/** A refused request, with the faults that were found: at most `MAX_FAULTS`, and a note about the rest. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly issues: readonly Issue[];
  /** Response headers, such as `Retry-After` or `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    readonly kind: RefusalKind,
    issues: Issue | readonly Issue[],
    headers: Record<string, string> = {},
  ) {
    const all = Array.isArray(issues) ? (issues as readonly Issue[]) : [issues as Issue];
    super(all[0]?.diagnostics ?? kind);
    this.issues = listed(all);
    this.headers = headers;
  }

  /** Returns the HTTP status. */
  get status(): number {
    return STATUS_OF[this.kind];
  }
}

/**
 * Returns the refusal for an id that the caller can't see, regardless of whether it exists (docs/spec/interface.md, section
 * 7).
 */
export function notFound(type: string, id: string): Refusal {
  return new Refusal('not_found', { code: 'not-found', diagnostics: `${type}/${id} doesn't exist` });
}

/** Returns a refusal (503) that asks the caller to retry. */
export function unavailable(diagnostics: string, retryAfterSeconds = 1): Refusal {
  return new Refusal(
    'unavailable',
    { code: 'transient', diagnostics },
    { 'Retry-After': String(retryAfterSeconds) },
  );
}
/**
 * Returns the refusal (503) for read models whose tables are missing.
 * @param models the names of these read models, as far as known
 */
export function tablesMissing(models: readonly string[]): Refusal {
  const command = ['annal rebuild', ...models].join(' ');
  return unavailable(
    `tables of a read model are missing; run \`${command}\` or restart the service to create them`,
  );
}
