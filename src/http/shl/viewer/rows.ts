/** Defines the parts of a record in the form that the page shows: texts, and phrases for which the page has words. */
import type { Standing } from '#src/clinical/reading/medicines.ts';
import type { WordLanguage } from '#src/clinical/reading/names/code-words.ts';
import type { Death } from '#src/clinical/reading/person.ts';
import type { Around, Replaced } from '#src/clinical/reading/told.ts';
import type { ToldRow } from '#src/clinical/summary/not-listed.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import type { TextKey } from '../../pages/languages/language.ts';

/** Kinds of sections, in page order. Kinds whose omission could do harm come first. */
export const ORDER = [
  'allergies',
  'medications',
  'problems',
  'results',
  'vitals',
  'immunizations',
  'procedures',
  'devices',
  'past',
  'pregnancy',
  'functional',
  'plan',
  'social',
  'directives',
  'documents',
  'other',
] as const;

/** The kind of a section. */
export type Kind = (typeof ORDER)[number];

/** Sections that the guide requires in every summary. If a required section has no entries, the page says so. */
export const REQUIRED = ['allergies', 'medications', 'problems'] as const;

/** Returns whether a kind is among the given kinds. */
export const isAmong = <Of extends Kind>(kinds: readonly Of[], kind: Kind): kind is Of =>
  kinds.some((each) => each === kind);

/** Formats the page's texts, days and numbers in the page's language. */
export interface Say {
  /**
   * Returns a text.
   * @param values the values for its placeholders
   */
  (key: TextKey, values?: Readonly<Record<string, unknown>>): string;
  readonly number: (number: number) => string;
  /** Returns a FHIR date in words. */
  readonly day: (date: string) => string;
  /** Returns the time in a FHIR date as written; an empty string if it has none. */
  readonly time: (date: string) => string;
  readonly moment: (date: string) => string;
}

/** A phrase, or text from the record in its place. */
export interface PagePhrase {
  /** `known.on` shows only the day. */
  readonly key?: TextKey | 'known.on';
  /** FHIR dates, by placeholder name. */
  readonly days?: Readonly<Record<string, string>>;
  readonly times?: number | undefined;
  readonly state?: string | undefined;
  readonly doses?: number;
  readonly values?: Readonly<Record<string, string>>;
  /** Used instead of the text for the key. */
  readonly text?: string | undefined;
  /** Precedes the text, with a colon. */
  readonly before?: string | undefined;
  /** Keys of the page's own texts, by placeholder name. */
  readonly words?: Readonly<Record<string, TextKey>>;
  /** Fills the placeholder `when`. */
  readonly when?: PagePhrase;
  /** Fills the placeholder `before`: earlier texts, each with a phrase. */
  readonly earlier?: readonly Earlier[];
}

/** An earlier statement. */
export type Earlier = ({ readonly text: string } | { readonly key: TextKey }) & {
  readonly when?: PagePhrase;
};

/** A change, with its badge if it is recent. */
export interface Change extends PagePhrase {
  readonly isDose?: boolean;
  readonly mark?: PagePhrase | undefined;
}

/** How a value is flagged; empty if it isn't flagged. */
export type Flag =
  | ''
  | 'critical'
  | 'high'
  | 'low'
  | 'abnormal'
  | 'critical-high'
  | 'critical-low'
  | 'critical-abnormal';

/** A document's file. */
export interface ShownFile {
  readonly contentType: string;
  /** base64; empty if the link doesn't contain the file. */
  readonly data: string;
  readonly title: string;
}

/** A part of a measurement. */
export interface Part {
  readonly name: string;
  readonly value: string;
}

/** An entry. Its texts may contain marks, which `inWords` replaces. */
export interface Row {
  readonly kind: Kind | 'patient';
  readonly name: string;
  readonly details: readonly string[];
  readonly says: readonly PagePhrase[];
  /** A FHIR date; empty if there is none. */
  readonly date: string;
  /** The same date as a number to sort by. */
  readonly at: number;
  /** The meaning of the date; empty if it is the date on which the entry happened. */
  readonly means: '' | 'recorded' | 'reported';
  readonly flag: Flag;
  /** The word for the flag. `flaggedKey` is used instead if the word is one of the page's own. */
  readonly flagged: string;
  readonly flaggedKey?: TextKey;
  readonly value: string;
  readonly range: string;
  readonly files: readonly ShownFile[];
  readonly isOver: boolean;
  /** For a measurement: measurements with the same key are of the same kind. */
  readonly key?: string;
  readonly parts?: readonly Part[];
  /** True for a measurement without a value. */
  readonly isEmpty?: boolean;
  readonly isJudged?: boolean;
  readonly isReport?: boolean;
  readonly isAbsence?: boolean;
  /** Of a medicine. */
  readonly standing?: Standing;
  readonly changes?: readonly Change[];
  readonly marks?: readonly PagePhrase[];
}

/** A row without content. */
export const EMPTY = {
  ...{
    name: '',
    details: [],
    says: [],
    date: '',
    at: 0,
    means: '',
    flag: '',
    flagged: '',
    value: '',
    range: '',
  },
  ...{ files: [], isOver: false },
} as const satisfies Omit<Row, 'kind'>;

/** An entry as it was before an AI changed it, in the words of a summary's narrative. */
export interface ToldBefore {
  readonly kind: Kind;
  readonly text: string;
}

/** An allergy that somebody refuted. */
export interface RefutedRow {
  readonly name: string;
  readonly state: string;
  readonly since?: PagePhrase;
  /** The separator between the status and the day. */
  readonly by: string;
  readonly before?: PagePhrase;
}

/** The person whose record it is. */
export interface ShownPatient {
  readonly name: string;
  readonly birthDate: string;
  readonly gender: string;
  readonly died: Death | undefined;
  readonly identifiers: readonly string[];
  readonly phone: string;
  readonly address: string;
}

/** A record in the form that the page shows. */
export interface ShownRecord {
  readonly patient: ShownPatient;
  /** When the record was created, as a FHIR date; empty if unknown. */
  readonly made: string;
  readonly isSummary: boolean;
  /** True if the link contains a collection of a record's entries. */
  readonly isRecord: boolean;
  readonly sections: ReadonlyMap<Kind, readonly Row[]>;
  /** How many entries in a section can't be interpreted. */
  readonly hidden: ReadonlyMap<Kind, number>;
  /** Sections without entries because everything in the record is over. */
  readonly onlyPast: ReadonlySet<Kind>;
  /** How many past entries a section doesn't list. */
  readonly notListed: ReadonlyMap<Kind, number>;
  readonly refuted: readonly RefutedRow[];
  /** How many entries are left out because an AI changed them. */
  readonly changed: number;
  /** Those before that. */
  readonly before: readonly (Row | ToldBefore)[];
}

/**
 * The look-up functions for the clinical reading, plus functions that make text safe to show and translate it into the page's
 * language.
 */
export interface PageAround extends Around {
  readonly lang: WordLanguage;
  readonly codes: (concept: unknown) => string[];
  /** The rows about medicines in a summary's narrative, by `Type/id`. */
  readonly told: ReadonlyMap<string, ToldRow>;
  /** The changes described in a summary's narrative, by `Type/id`. */
  readonly changes: ReadonlyMap<string, readonly string[]>;
  /** The versions that current versions replaced, by `Type/id`. */
  readonly replaced: ReadonlyMap<string, readonly Replaced[]>;
  /** Returns a member as text without characters that could affect the text around it. */
  readonly clean: (value: unknown) => string;
  readonly day: (date: string) => string;
  readonly doses: (dosage: Json | undefined) => string;
  readonly doseNumber: (immunization: JsonObject) => string;
  /**
   * Returns an allergy's reactions in words.
   * @param name the allergy's own name, which is left out of the causes
   */
  readonly reactions: (allergy: JsonObject, name?: string) => string;
}
