/** What a laboratory's report comes to, whatever form it came in: resources to be, and what is to be told of them. */
import type { JsonObject } from '#src/shared/json.ts';

/** Types that reports become. */
export type LabType = 'Observation' | 'DiagnosticReport' | 'Specimen' | 'DocumentReference';

/** System of the identifier by which a later report finds what an earlier one wrote. */
export const LAB_SYSTEM = 'https://annal.dev/fhir/lab-import';

/** A resource to be. */
export interface Draft {
  readonly type: LabType;
  /** Value of its identifier in `LAB_SYSTEM`: the same in every report of the same result. */
  readonly key: string;
  /** Where it stood, for who sent it: `OBX[3]`, `items.2`. */
  readonly place: string;
  /** What it does not say, and an earlier report did: `value`, or elements' names. */
  readonly keeps?: readonly string[];
  /** Note on a value that it keeps. */
  readonly keptNote?: string;
  /** The latest of the times that the report itself gives the result: a dateTime. A message sent again has the same. */
  readonly made?: string;
  /** What the same request said of it before, oldest first. */
  readonly before?: readonly Draft[];
  /** Without id; references to other drafts are `draftUrl`s. */
  readonly resource: JsonObject;
}

/** A report, read. */
export interface Labs {
  /** One of each type and key. */
  readonly drafts: readonly Draft[];
  /** Codes that are not LOINC's: kept as they are. */
  readonly unmapped: readonly string[];
  readonly warnings: readonly string[];
  /** Warnings that come of a comparison with the record. */
  readonly compared: readonly string[];
  /** Who sent it, as it says itself. */
  readonly source?: string;
}

/** The reference of a draft until it has an id. */
export function draftUrl(type: LabType, key: string): string {
  return `urn:annal:lab:${type}:${key.replaceAll('/', ':')}`;
}

/** A key of its parts, none of which can be taken for two. */
export function keyOf(...parts: readonly string[]): string {
  return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
}

/** The identifier of a key. */
export function identifierOf(key: string): JsonObject {
  return { system: LAB_SYSTEM, value: key };
}

/** What is told of a report while it is read; nothing is told twice. */
export class Notes {
  readonly #unmapped = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #compared = new Set<string>();

  /** A code that is not LOINC's. */
  unmapped(label: string): void {
    this.#unmapped.add(label);
  }

  /** Something that its sender should know. @param place where it stood */
  warn(place: string, text: string): void {
    this.#warnings.add(place === '' ? text : `${place}: ${text}`);
  }

  /** The same of a comparison with the record: only a caller who may read it is told. */
  warnOfRecord(place: string, text: string): void {
    this.#compared.add(place === '' ? text : `${place}: ${text}`);
  }

  /** All that was told. */
  get told(): Pick<Labs, 'unmapped' | 'warnings' | 'compared'> {
    return {
      unmapped: [...this.#unmapped],
      warnings: [...this.#warnings],
      compared: [...this.#compared],
    };
  }
}
