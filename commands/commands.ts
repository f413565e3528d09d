/** The write side as the HTTP interfaces see it: one method per command. `app.ts` creates it with `openCommands`. */
import type { IfMatch, WriteEntry } from '#src/fhir/bundle.ts';
import type { Patch } from '#src/fhir/patch/patch.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type {
  CommandContext,
  KeepResult,
  RequestContext,
  SubmittedResource,
  WriteResult,
  Written,
} from './command.ts';
import type { StoredBytes } from './document/finalize.ts';

/** The target of a command: a resource given by id, or the one that matches search criteria (`identifier=s|v`). */
export type Target = { readonly id: string } | { readonly criteria: string };

/** Commands on records and directories. All of them reject with `Refusal`. */
export interface Commands {
  /**
   * Creates a resource. With `ifNoneExist`, creates it only if nothing matches; if a resource matches, returns `matched` with
   * its body.
   * @throws Refusal invalid (422) with every fault; precondition_failed if several resources match
   */
  create(
    ctx: CommandContext,
    type: ResourceType,
    resource: SubmittedResource,
    ifNoneExist?: string,
  ): Promise<Written<WriteResult>>;
  /**
   * Replaces a resource with its next version, or restores a deleted one.
   * @throws Refusal 400 404 405 409 412 422
   */
  update(
    ctx: CommandContext,
    type: ResourceType,
    target: Target,
    resource: SubmittedResource,
    ifMatch?: IfMatch,
  ): Promise<Written<WriteResult>>;
  /** Applies a JSON Patch or FHIRPath Patch. @throws Refusal 404 410 412 422 */
  patch(
    ctx: CommandContext,
    type: ResourceType,
    target: Target,
    patch: Patch,
    ifMatch?: IfMatch,
  ): Promise<Written<WriteResult>>;
  /**
   * Deletes a resource; undefined if it doesn't exist.
   * @throws Refusal 405 409 412
   */
  remove(
    ctx: CommandContext,
    type: ResourceType,
    target: Target,
    ifMatch?: IfMatch,
  ): Promise<Written<WriteResult | undefined>>;
  /**
   * Writes all entries or none, in one atomic append. Returns the results by entry index.
   * @param exact whether the Bundle's tree contains LosslessNumbers
   * @throws Refusal whose issues name `Bundle.entry[i]`
   */
  transaction(
    ctx: CommandContext,
    writes: readonly WriteEntry[],
    exact: boolean,
  ): Promise<Written<ReadonlyMap<number, WriteResult>>>;
  /**
   * Runs a transaction that depends on the current state. No other command under the same key runs at the same time.
   * @param decide looks up and returns the entries; called again if the target of an entry's `ifMatch` has changed
   * @returns results by entry index; if an earlier attempt of this request wrote the entries, `decide` isn't called, and the
   * results are in the order of the attempt's events
   */
  decided(
    ctx: CommandContext,
    key: string,
    decide: () => Promise<readonly WriteEntry[]>,
  ): Promise<Written<ReadonlyMap<number, WriteResult>>>;
  /**
   * Runs each entry as a separate command, in the order DELETE, POST, PUT/PATCH. A refusal becomes the result of its entry.
   * @param keep by default, results are kept unchanged
   */
  batch(
    ctx: CommandContext,
    writes: readonly WriteEntry[],
    exact: boolean,
    keep?: KeepResult,
  ): Promise<Written<ReadonlyMap<number, WriteResult | Error>>>;
  /**
   * Makes bytes that are already in the document store the content of a document: writes the document's next version and
   * `DocumentFinalized`.
   * @throws Refusal 404 409 422
   */
  finalizeDocument(ctx: CommandContext, id: string, bytes: StoredBytes): Promise<Written<WriteResult>>;
  /**
   * Returns the reason why a create, update or delete would be refused now; undefined if it would succeed. Writes nothing.
   * @throws Refusal unavailable (503)
   */
  rehearse(
    ctx: CommandContext,
    method: 'POST' | 'PUT' | 'DELETE',
    type: ResourceType,
    id?: string,
    resource?: SubmittedResource,
  ): Promise<Refusal | undefined>;
  /**
   * Removes a patient's record physically, including its history (docs/spec/interface.md, section 4.2). Resolves when nothing
   * is left of the record.
   * @throws Refusal 403 404
   */
  purge(ctx: CommandContext, patientId: string): Promise<Written<void>>;
  /**
   * Removes a person's personal record like `purge`. The event about the request doesn't name the person.
   * @throws Refusal 403 for a record that belongs to a project; 404 for a record that no longer exists
   */
  purgePersonal(by: RequestContext, person: PersonId, patientId: string): Promise<Written<void>>;
}
