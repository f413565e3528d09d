/**
 * The material from which an answer is recreated: its receipt, and texts from the log. Every archived renderer depends on the
 * form of this material (docs/decisions/0032-receipts.md), so members may be added but never changed.
 */
import type { AuthorType } from '#src/shared/access/author.ts';
import type { NamedVersion, ReceiptKind } from '#src/shared/access/receipt.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** One version of a resource. */
export interface LoggedVersion extends NamedVersion {
  readonly type: string;
  /** Instant. */
  readonly recordedAt: string;
  /** FHIR JSON as reads return it; null if the resource was deleted. */
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
  /** All versions in the record up to the time when the answer was made, in order. */
  readonly versions: readonly LoggedVersion[];
  /** All versions of the directory entries that `inputs` may name, in order. */
  readonly directory: readonly LoggedVersion[];
  /** Bytes of documents in base64, by the names in `inputs`. */
  readonly files: Readonly<Record<string, string>>;
  /** The key from which a grant's hidden ids are derived, in base64. */
  readonly hiddenKey: string;
}

/** Thrown if an input that an answer needs no longer exists. */
export class InputGone extends Error {
  override readonly name = 'InputGone';
}
