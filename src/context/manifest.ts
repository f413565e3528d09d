/** The manifest of a context: its inputs, so that the same context can be made again. */
import { createHash } from 'node:crypto';
import type { TypeAccess } from '#src/shared/access.ts';
import type { MadeContext } from './make.ts';
import type { ContextRequest } from './request.ts';

/** The grant under which a context was made, and what it covered. */
export interface GrantManifest {
  readonly id: string;
  /** The id that the application knows the patient by. */
  readonly patient: string;
  /** What it let the application read and search, by type. */
  readonly types: Readonly<Record<string, readonly TypeAccess[]>>;
  /** Instant of the record's last change, whether the grant covers it or not. */
  readonly until: string;
}

/** A manifest. The record's events up to `at` are the remaining input. */
export interface Manifest {
  /** Version of the manifest and of the rules by which contexts are made. */
  readonly form: 1;
  readonly patient: string;
  /** Instant of the record's last change, under a grant of the last that it covers. */
  readonly at: string;
  /** The day of the request, UTC: ages and gaps are counted from it. */
  readonly day: string;
  readonly ask: ContextRequest;
  readonly directory: MadeContext['directory'];
  readonly displays: MadeContext['displays'];
  readonly grant?: GrantManifest;
}

/** Prints a manifest; equal manifests give equal texts. */
export function printManifest(manifest: Manifest): string {
  const { form, patient, at, day, ask, directory, displays, grant } = manifest;
  const { task, question, needs, budget_tokens, format, window_days } = ask;
  const asked = { task, question, needs, budget_tokens, format, window_days };
  return JSON.stringify({ form, patient, at, day, ask: asked, directory, displays, grant });
}

/**
 * Returns a manifest's id, a hash of whom it was made for and the printed manifest. Under a grant neither the record's last
 * change nor its real id is part of it: ids would show when something changes that the grant doesn't cover, and confirm a
 * real id that somebody suspects. Contexts with the same id are the same.
 */
export function manifestId(madeFor: string, manifest: Manifest): string {
  const { grant } = manifest;
  const printed = printManifest(
    grant === undefined ? manifest : { ...manifest, patient: grant.patient, grant: { ...grant, until: '' } },
  );
  return `ctx_${createHash('sha256').update(`${madeFor}\n${printed}`).digest('base64url').slice(0, 24)}`;
}
