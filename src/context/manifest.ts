/** What a context was made from, so that it can be made again. */
import { createHash } from 'node:crypto';
import type { MadeContext } from './make.ts';
import type { ContextRequest } from './request.ts';

/** It. The record's events up to `at` are the rest. */
export interface Manifest {
  /** Form of the manifest and of the rules by which contexts are made. */
  readonly form: 1;
  readonly patient: string;
  /** Instant of the record's last change. */
  readonly at: string;
  /** The day on which it was asked for, UTC: ages and gaps count from it. */
  readonly day: string;
  readonly ask: ContextRequest;
  readonly directory: MadeContext['directory'];
  readonly displays: MadeContext['displays'];
}

/** Writes it: the same for the same. */
export function printManifest({ form, patient, at, day, ask, directory, displays }: Manifest): string {
  const { task, question, needs, budget_tokens, format, window_days } = ask;
  const asked = { task, question, needs, budget_tokens, format, window_days };
  return JSON.stringify({ form, patient, at, day, ask: asked, directory, displays });
}

/** Its id: of the project and environment whose it is, and of all that it says. */
export function manifestId(tenantId: string, printed: string): string {
  return `ctx_${createHash('sha256').update(`${tenantId}\n${printed}`).digest('base64url').slice(0, 24)}`;
}
