/** The parts of a record as the page shows them: texts, and phrases that the page has words for. */
import type { Standing } from '#src/clinical/reading/medicines.ts';
import type { WordLanguage } from '#src/clinical/reading/names/code-words.ts';
import type { Death } from '#src/clinical/reading/person.ts';
import type { Around, Replaced } from '#src/clinical/reading/told.ts';
import type { ToldRow } from '#src/clinical/summary/not-listed.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import type { TextKey } from '../../pages/languages/language.ts';

/** Kinds of sections, in the order of the page: parts whose omission could do harm come first. */
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

/** Sections that the guide wants in every summary: without entries they say so. */
export const REQUIRED = ['allergies', 'medications', 'problems'] as const;

/** Tells whether a kind is among some. */
export const isAmong = <Of extends Kind>(kinds: readonly Of[], kind: Kind): kind is Of =>
  kinds.some((each) => each === kind);

/** Writes texts of the page, days and numbers in its language. */
export interface Say {
  /** Returns a text. @param values of its placeholders */
  (key: TextKey, values?: Readonly<Record<string, unknown>>): string;
  readonly number: (number: number) => string;
  /** Returns a FHIR date in words. */
  readonly day: (date: string) => string;
  /** Returns the time of a FHIR date as it is written; an empty text if it has none. */
  readonly time: (date: string) => string;
  readonly moment: (date: string) => string;
}

/** A phrase, or a text that the record has instead of one. */
export interface PagePhrase {
  /** `known.on`: only the day. */
  readonly key?: TextKey | 'known.on';
  /** FHIR dates, by the names of their places. */
  readonly days?: Readonly<Record<string, string>>;
  readonly times?: number | undefined;
  readonly state?: string | undefined;
  readonly doses?: number;
  readonly values?: Readonly<Record<string, string>>;
  /** Instead of the text of the key. */
  readonly text?: string | undefined;
  /** Comes before it, with a colon. */
  readonly before?: string | undefined;
  /** Keys of the page's own texts, by the names of their places. */
  readonly words?: Readonly<Record<string, TextKey>>;
  /** Fills the place `when`. */
  readonly when?: PagePhrase;
  /** Fills the place `before`: texts of what was before, each with a phrase. */
  readonly earlier?: readonly Earlier[];
}

/** Something that was before. */
export type Earlier = ({ readonly text: string } | { readonly key: TextKey }) & {
  readonly when?: PagePhrase;
};

/** A change, and the mark of a recent one. */
export interface Change extends PagePhrase {
  readonly isDose?: boolean;
  readonly mark?: PagePhrase | undefined;
}

/** How a value is flagged; empty for one that isn't. */
export type Flag =
  | ''
  | 'critical'
  | 'high'
  | 'low'
  | 'abnormal'
  | 'critical-high'
  | 'critical-low'
  | 'critical-abnormal';

/** A file of a document. */
export interface ShownFile {
  readonly contentType: string;
  /** base64; empty for one that the link doesn't have. */
  readonly data: string;
  readonly title: string;
}

/** A part of a measurement. */
export interface Part {
  readonly name: string;
  readonly value: string;
}

/** An entry. Its texts may have marks, which `inWords` replaces. */
export interface Row {
  readonly kind: Kind | 'patient';
  readonly name: string;
  readonly details: readonly string[];
  readonly says: readonly PagePhrase[];
  /** A FHIR date; empty for none. */
  readonly date: string;
  /** The same as a number to sort by. */
  readonly at: number;
  /** The meaning of the date, unless it says when it happened. */
  readonly means: '' | 'recorded' | 'reported';
  readonly flag: Flag;
  /** The word of the flag; `flaggedKey` instead, if it is one of the page's own. */
  readonly flagged: string;
  readonly flaggedKey?: TextKey;
  readonly value: string;
  readonly range: string;
  readonly files: readonly ShownFile[];
  readonly isOver: boolean;
  /** Of a measurement: results with the same key are of one kind. */
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

/** A row that says nothing yet. */
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

/** An entry before an AI changed it, in the words of a summary's narrative. */
export interface ToldBefore {
  readonly kind: Kind;
  readonly text: string;
}

/** An allergy that somebody refuted. */
export interface RefutedRow {
  readonly name: string;
  readonly state: string;
  readonly since?: PagePhrase;
  /** Separates the day from the state. */
  readonly by: string;
  readonly before?: PagePhrase;
}

/** The person of a record. */
export interface ShownPatient {
  readonly name: string;
  readonly birthDate: string;
  readonly gender: string;
  readonly died: Death | undefined;
  readonly identifiers: readonly string[];
  readonly phone: string;
  readonly address: string;
}

/** A record as the page shows it. */
export interface ShownRecord {
  readonly patient: ShownPatient;
  /** When it was made, as a FHIR date; empty if it doesn't say. */
  readonly made: string;
  readonly isSummary: boolean;
  /** True for a collection of a record's entries. */
  readonly isRecord: boolean;
  readonly sections: ReadonlyMap<Kind, readonly Row[]>;
  /** How many entries of a section can't be understood. */
  readonly hidden: ReadonlyMap<Kind, number>;
  /** Sections without entries because all that the record has are over. */
  readonly onlyPast: ReadonlySet<Kind>;
  /** How many past entries a section doesn't list. */
  readonly notListed: ReadonlyMap<Kind, number>;
  readonly refuted: readonly RefutedRow[];
  /** How many entries are left out because an AI changed them. */
  readonly changed: number;
  /** Those before that. */
  readonly before: readonly (Row | ToldBefore)[];
}

/** The look-ups of the reading with what makes its texts safe to show and puts them into the page's language. */
export interface PageAround extends Around {
  readonly lang: WordLanguage;
  readonly codes: (concept: unknown) => string[];
  /** The rows of a summary's narrative about medicines, by `Type/id`. */
  readonly told: ReadonlyMap<string, ToldRow>;
  /** The changes that a summary's narrative tells, by `Type/id`. */
  readonly changes: ReadonlyMap<string, readonly string[]>;
  /** The versions that current ones replaced, by `Type/id`. */
  readonly replaced: ReadonlyMap<string, readonly Replaced[]>;
  /** Returns a member as a text that can't change the text around it. */
  readonly clean: (value: unknown) => string;
  readonly day: (date: string) => string;
  readonly doses: (dosage: Json | undefined) => string;
  readonly doseNumber: (immunization: JsonObject) => string;
  /** Returns an allergy's reactions in words. @param name its own, which causes don't repeat */
  readonly reactions: (allergy: JsonObject, name?: string) => string;
}
