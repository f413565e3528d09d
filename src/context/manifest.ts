/** The manifest of a context: its inputs, so that the same context can be made again. */
import { createHash } from 'node:crypto';
import type { TypeAccess } from '#src/shared/access/access.ts';
import type { ReceiptDraft } from '#src/shared/access/receipt.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { toMicros } from '#src/shared/time/time.ts';
import type { MadeContext } from './make.ts';
import type { Version } from './record.ts';
import type { ContextRequest } from './request.ts';

/** The grant under which a context was made, and its coverage. */
export interface GrantManifest {
  readonly id: string;
  /** The id that the application knows the patient by. */
  readonly patient: string;
  /** The types that the application could read and search, with their letters. */
  readonly types: Readonly<Record<string, readonly TypeAccess[]>>;
  /** Instant of the record's last change, whether the grant covers it or not. */
  readonly until: string;
}

/**
 * The version of the rules by which contexts are made. Raise it with every change after which the same record, request and
 * day give another answer: `test/context/forms.test.ts` fails otherwise.
 */
export const FORM = 17;

/** A manifest. The record's events up to `at` are the remaining input. */
export interface Manifest {
  /** The `FORM` with which the answer was made. Manifests of form 1 have neither `answer` nor `version`. */
  readonly form: number;
  /** SHA-256 of the answer, as `hashAnswer` returns it. */
  readonly answer?: string;
  /** The version of Annal that made the answer first. */
  readonly version?: string;
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

/**
 * Returns what a context's receipt says of it.
 * @param versions that the context shows
 * @param of `tenant`: the owner of the record, as a UUID; `name`: the manifest's id; `isPast`: it is as of a moment
 */
export function draftContext(
  { answer: _, directory, displays, ...manifest }: Manifest,
  versions: readonly Version[],
  { tenant, name, isPast }: { readonly tenant: string; readonly name: string; readonly isPast: boolean },
): ReceiptDraft {
  const { form, patient: record, grant, at } = manifest;
  return {
    ...{ kind: 'context', form, record, position: toMicros(grant?.until ?? at), name },
    parameters: { tenant, is_past: isPast, manifest: JSON.parse(JSON.stringify(manifest)) },
    versions,
    inputs: { directory, displays },
  };
}

/** Prints a manifest; equal manifests give equal texts. */
export function printManifest(manifest: Manifest): string {
  const { form, answer, version, patient, at, day, ask, directory, displays, grant } = manifest;
  const { task, question, needs, budget_tokens, format, window_days } = ask;
  const asked = { task, question, needs, budget_tokens, format, window_days };
  return JSON.stringify({ form, answer, version, patient, at, day, ask: asked, directory, displays, grant });
}

/**
 * Returns the SHA-256 of an answer, hexadecimal. Under a grant it is that of the answer as the application sees it, so that
 * it can't confirm the patient's real id.
 * @param body the answer without `manifest_id`, which is derived from this hash.
 */
export function hashAnswer(
  body: JsonObject,
  { patient, grant }: Pick<Manifest, 'patient' | 'grant'>,
): string {
  const text = JSON.stringify(body);
  const shown = grant === undefined ? text : text.replaceAll(patient, grant.patient);
  return createHash('sha256').update(shown).digest('hex');
}

/**
 * Returns a manifest's id, a hash of whom it was made for and the printed manifest without `version`: it names the inputs
 * and the answer, so two different answers never share an id. Under a grant neither the record's last
 * change nor its real id is part of it: ids would show when something changes that the grant doesn't cover, and confirm a
 * real id that somebody suspects. Contexts with the same id are the same.
 */
export function manifestId(madeFor: string, manifest: Manifest): string {
  const { version: _, grant, ...inputs } = manifest;
  const printed = printManifest(
    grant === undefined ? inputs : { ...inputs, patient: grant.patient, grant: { ...grant, until: '' } },
  );
  return `ctx_${createHash('sha256').update(`${madeFor}\n${printed}`).digest('base64url').slice(0, 24)}`;
}
