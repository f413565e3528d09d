/** The manifest of a context: the inputs from which the same context can be generated again. */
import { createHash } from 'node:crypto';
import type { TypeAccess } from '#src/shared/access/access.ts';
import type { ReceiptDraft } from '#src/shared/access/receipt.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { toMicros } from '#src/shared/time/time.ts';
import type { MadeContext } from './make.ts';
import type { Version } from './record.ts';
import type { ContextRequest } from './request.ts';

/** The grant for which a context was generated, and what it covers. */
export interface GrantManifest {
  readonly id: string;
  /** The id under which the application knows the patient. */
  readonly patient: string;
  /** The types that the application could read and search, with the letters for each. */
  readonly types: Readonly<Record<string, readonly TypeAccess[]>>;
  /** When the record last changed, regardless of whether the grant covers the change. */
  readonly until: string;
}

/**
 * The version of the rules for generating contexts. Increase it with every change that makes the same record, request and day
 * produce a different response; otherwise `test/context/forms.test.ts` fails.
 */
export const FORM = 21;

/** A manifest. The only other input is the record's events up to `at`. */
export interface Manifest {
  /** The `FORM` with which the response was generated. Manifests in form 1 have neither `answer` nor `version`. */
  readonly form: number;
  /** The response's SHA-256, as returned by `hashAnswer`. */
  readonly answer?: string;
  /** The Annal version that first generated the response. */
  readonly version?: string;
  readonly patient: string;
  /** When the record last changed; under a grant, the last change that the grant covers. */
  readonly at: string;
  /** The day of the request in UTC, on which ages and gaps are based. */
  readonly day: string;
  readonly ask: ContextRequest;
  readonly directory: MadeContext['directory'];
  readonly displays: MadeContext['displays'];
  readonly grant?: GrantManifest;
}

/**
 * Returns the draft of a context's receipt.
 * @param versions the versions in the context
 * @param of `tenant`: the record's owner, as a UUID; `name`: the manifest's id; `isPast`: whether the context is as of a past
 *   time
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

/** Prints a manifest; equal manifests always produce equal text. */
export function printManifest(manifest: Manifest): string {
  const { form, answer, version, patient, at, day, ask, directory, displays, grant } = manifest;
  const { task, question, needs, budget_tokens, format, window_days } = ask;
  const asked = { task, question, needs, budget_tokens, format, window_days };
  return JSON.stringify({ form, answer, version, patient, at, day, ask: asked, directory, displays, grant });
}

/**
 * Returns a response's SHA-256 in hexadecimal. Under a grant, it is the hash of the response as the application sees it, so
 * that the application can't use the hash to confirm the patient's real id.
 * @param body the response without `manifest_id`, which is derived from this hash.
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
 * Returns a manifest's id: a hash of the result of `madeFor` and of the printed manifest without `version`. It identifies the
 * inputs and the response, so two different responses never share an id, and contexts with the same id are the same. Under a
 * grant, the hash includes neither the time of the record's last change nor the patient's real id. Otherwise, an id would
 * reveal a change that the grant doesn't cover, and could confirm a suspected real id.
 */
export function manifestId(madeFor: string, manifest: Manifest): string {
  const { version: _, grant, ...inputs } = manifest;
  const printed = printManifest(
    grant === undefined ? inputs : { ...inputs, patient: grant.patient, grant: { ...grant, until: '' } },
  );
  return `ctx_${createHash('sha256').update(`${madeFor}\n${printed}`).digest('base64url').slice(0, 24)}`;
}
