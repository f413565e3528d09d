/**
 * The material that an answer is made again from: its receipt, and texts of the log. The form of this is part of every archived renderer
 * (docs/decisions/0032-receipts.md): members are added, never changed.
 */
import type { AuthorType } from '#src/shared/access/author.ts';
import type { NamedVersion, ReceiptKind } from '#src/shared/access/receipt.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** One version of a resource. */
export interface LoggedVersion extends NamedVersion {
  readonly type: string;
  /** Instant. */
  readonly recordedAt: string;
  /** FHIR JSON as reads show it; null: the resource was deleted. */
  readonly body: string | null;
  readonly authorType: AuthorType | null;
  readonly source: string | null;
}

/** The material of one answer. */
export interface Material {
  readonly kind: ReceiptKind;
  readonly record: string;
  /** Instant of the last change that the answer knew of. */
  readonly position: string | null;
  readonly parameters: JsonObject;
  readonly inputs: JsonObject;
  /** The versions that the receipt names. */
  readonly named: readonly NamedVersion[];
  /** Every version of the record until the answer was made, in order. */
  readonly versions: readonly LoggedVersion[];
  /** Every version of entries of the directory, in order, as far as `inputs` may name them. */
  readonly directory: readonly LoggedVersion[];
  /** Bytes of documents, base64, by the names in `inputs`. */
  readonly files: Readonly<Record<string, string>>;
  /** The key by which a grant's hidden ids are made, base64. */
  readonly hiddenKey: string;
}

/** An input of an answer that no longer exists. */
export class InputGone extends Error {
  override readonly name = 'InputGone';
}
