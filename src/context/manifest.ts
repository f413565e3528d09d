/** The manifest of a context: its inputs, so that the same context can be made again. */
import { createHash } from 'node:crypto';
import type { MadeContext } from './make.ts';
import type { ContextRequest } from './request.ts';

/** A manifest. The record's events up to `at` are the remaining input. */
export interface Manifest {
  /** Version of the manifest and of the rules by which contexts are made. */
  readonly form: 1;
  readonly patient: string;
  /** Instant of the record's last change. */
  readonly at: string;
  /** The day of the request, UTC: ages and gaps are counted from it. */
  readonly day: string;
  readonly ask: ContextRequest;
  readonly directory: MadeContext['directory'];
  readonly displays: MadeContext['displays'];
}

/** Prints a manifest; equal manifests give equal texts. */
export function printManifest({ form, patient, at, day, ask, directory, displays }: Manifest): string {
  const { task, question, needs, budget_tokens, format, window_days } = ask;
  const asked = { task, question, needs, budget_tokens, format, window_days };
  return JSON.stringify({ form, patient, at, day, ask: asked, directory, displays });
}

/** Returns a manifest's id, a hash of whom it was made for and the printed manifest. */
export function manifestId(madeFor: string, printed: string): string {
  return `ctx_${createHash('sha256').update(`${madeFor}\n${printed}`).digest('base64url').slice(0, 24)}`;
}
