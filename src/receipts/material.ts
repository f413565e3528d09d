/**
 * The material from which an answer is recreated: its receipt, and texts from the log. The form of this material is part of
 * every archived renderer (docs/decisions/0032-receipts.md): members may be added, but never changed.
 */
import type { AuthorType } from '#src/shared/access/author.ts';
import type { NamedVersion, ReceiptKind } from '#src/shared/access/receipt.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** One version of a resource. */
export interface LoggedVersion extends NamedVersion {
  readonly type: string;
  /** Instant. */
  readonly recordedAt: string;
  /** FHIR JSON in the form that reads return; null if the resource was deleted. */
  readonly body: string | null;
  readonly authorType: AuthorType | null;
  readonly source: string | null;
}

/** The material for one answer. */
export interface Material {
  readonly kind: ReceiptKind;
  readonly record: string;
  /** Time of the last change that the answer includes, as an instant. */
  readonly position: string | null;
  readonly parameters: JsonObject;
  readonly inputs: JsonObject;
  /** The versions that the receipt names. */
  readonly named: readonly NamedVersion[];
  /** All versions in the record up to when the answer was made, in order. */
  readonly versions: readonly LoggedVersion[];
  /** All versions of the directory entries that `inputs` may name, in order. */
  readonly directory: readonly LoggedVersion[];
  /** Bytes of documents as base64, by the names in `inputs`. */
  readonly files: Readonly<Record<string, string>>;
  /** The key for deriving a grant's hidden ids, as base64. */
  readonly hiddenKey: string;
}

/** Thrown if one of an answer's inputs no longer exists. */
export class InputGone extends Error {
  override readonly name = 'InputGone';
}
