/** The result of reading a laboratory's report in any format: drafts of resources, and notes for the sender. */
import type { JsonObject } from '#src/shared/json/json.ts';

/** Types of the resources that are made from reports. */
export type LabType = 'Observation' | 'DiagnosticReport' | 'Specimen' | 'DocumentReference';

/** System of the identifier by which later reports find the resources that earlier reports created. */
export const LAB_SYSTEM = 'https://annal.dev/fhir/lab-import';

/** The key that earlier versions of Annal gave a result; it didn't include the sender. */
export interface FormerKey {
  readonly key: string;
  /** The report's sender; empty if unknown. The key may match only resources from the same sender. */
  readonly sender: string;
}

/** A resource to be. */
export interface Draft {
  readonly type: LabType;
  /** Value of the resource's identifier in `LAB_SYSTEM`; it is the same in every report of the same result. */
  readonly key: string;
  readonly former?: FormerKey;
  /** The result's place in the report: `OBX[3]`, `items.2`. */
  readonly place: string;
  /** Members that are taken from an earlier report if this one lacks them: `value`, or names of elements. */
  readonly keeps?: readonly string[];
  /** Note to add to a value that is kept. */
  readonly keptNote?: string;
  /** The latest time that the report itself states for the result: a dateTime. It is the same if the message is sent again. */
  readonly made?: string;
  /** Earlier drafts of the same resource in the same request, oldest first. */
  readonly before?: readonly Draft[];
  /** Without an id; references to other drafts are `draftUrl`s. */
  readonly resource: JsonObject;
}

/** A report, read. */
export interface Labs {
  /** One draft per type and key. */
  readonly drafts: readonly Draft[];
  /** Codes that are not from LOINC; they are kept unchanged. */
  readonly unmapped: readonly string[];
  readonly warnings: readonly string[];
  /** Warnings from comparing the report with the record. */
  readonly compared: readonly string[];
  /** The sender, as the report names it. */
  readonly source?: string;
}

/** Returns the reference by which a draft is known until it has an id. */
export function draftUrl(type: LabType, key: string): string {
  return `urn:annal:lab:${type}:${key.replaceAll('/', ':')}`;
}

/** Joins parts into an unambiguous key. */
export function joinKey(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** Returns the identifier for a key. */
export function makeIdentifier(key: string): JsonObject {
  return { system: LAB_SYSTEM, value: key };
}

/** Notes collected while a report is read. Each note is kept once. */
export class Notes {
  readonly #unmapped = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #compared = new Set<string>();

  /** Notes a code that isn't from LOINC. */
  unmapped(label: string): void {
    this.#unmapped.add(label);
  }

  /**
   * Adds a warning for the sender.
   * @param place the place in the report
   */
  warn(place: string, text: string): void {
    this.#warnings.add(place === '' ? text : `${place}: ${text}`);
  }

  /**
   * Adds a warning that results from comparing the report with the record. It is shown only to callers who may read the
   * record.
   */
  warnOfRecord(place: string, text: string): void {
    this.#compared.add(place === '' ? text : `${place}: ${text}`);
  }

  /** Returns all notes. */
  get told(): Pick<Labs, 'unmapped' | 'warnings' | 'compared'> {
    return {
      unmapped: [...this.#unmapped],
      warnings: [...this.#warnings],
      compared: [...this.#compared],
    };
  }
}
