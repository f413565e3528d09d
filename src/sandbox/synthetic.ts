/** The generator's output: resources with their authors, in records and a directory. */
import type { ResourceType } from '#src/fhir/types.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** A resource's author, as the author headers of a request would name it (docs/spec/interface.md, section 5). */
export interface Author {
  readonly type: AuthorType;
  /** `Practitioner/<id>` in the directory. */
  readonly reference?: string;
  readonly sourceSystem: string;
}

/** A resource, without its version and time, and its author. */
export interface Authored {
  readonly type: ResourceType;
  readonly id: string;
  readonly resource: JsonObject;
  readonly author: Author;
}

/** A patient's record; the Patient comes first. */
export interface SyntheticRecord {
  readonly patient: string;
  readonly resources: readonly Authored[];
}

/** A sandbox's content. */
export interface SyntheticData {
  readonly directory: readonly Authored[];
  readonly records: readonly SyntheticRecord[];
}
