/** The result of reading a laboratory's report in any format: drafts of resources, and notes for the sender. */
import type { JsonObject } from '#src/shared/json/json.ts';

/** Types that reports become. */
export type LabType = 'Observation' | 'DiagnosticReport' | 'Specimen' | 'DocumentReference';

/** System of the identifier by which later reports find the resources of earlier ones. */
export const LAB_SYSTEM = 'https://annal.dev/fhir/lab-import';

/** The key under which earlier versions of Annal stored a result, without its sender. */
export interface FormerKey {
  readonly key: string;
  /** The report's sender; empty if unknown. Only a resource of the same sender may be found by the key. */
  readonly sender: string;
}

/** A resource to be. */
export interface Draft {
  readonly type: LabType;
  /** Value of its identifier in `LAB_SYSTEM`: the same in every report of the same result. */
  readonly key: string;
  readonly former?: FormerKey;
  /** Its place in the report: `OBX[3]`, `items.2`. */
  readonly place: string;
  /** Values that this report lacks and an earlier one may have: `value`, or names of elements. */
  readonly keeps?: readonly string[];
  /** Note on a value that it keeps. */
  readonly keptNote?: string;
  /** The latest of the times that the report itself gives the result: a dateTime. A message sent again has the same. */
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
  /** Codes that are not LOINC's: kept as they are. */
  readonly unmapped: readonly string[];
  readonly warnings: readonly string[];
  /** Warnings from a comparison with the record. */
  readonly compared: readonly string[];
  /** The sender, as the report names it. */
  readonly source?: string;
}

/** Returns the reference of a draft until it has an id. */
export function draftUrl(type: LabType, key: string): string {
  return `urn:annal:lab:${type}:${key.replaceAll('/', ':')}`;
}

/** Returns a key of its parts, unambiguously. */
export function joinKey(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** Returns the identifier of a key. */
export function makeIdentifier(key: string): JsonObject {
  return { system: LAB_SYSTEM, value: key };
}

/** Notes collected while a report is read, each once. */
export class Notes {
  readonly #unmapped = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #compared = new Set<string>();

  /** Notes a code that isn't LOINC's. */
  unmapped(label: string): void {
    this.#unmapped.add(label);
  }

  /**
   * Adds a warning for the sender.
   * @param place in the report
   */
  warn(place: string, text: string): void {
    this.#warnings.add(place === '' ? text : `${place}: ${text}`);
  }

  /** Adds a warning from a comparison with the record, shown only to callers who may read it. */
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
