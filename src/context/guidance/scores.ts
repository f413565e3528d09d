/**
 * Scores by which facts are ordered: from 0 to 1000, and above 1000 for facts that a request names. docs/context.md explains
 * the order.
 */

import { withoutIds } from '#src/fhir/search/text.ts';
import type { Kind, Need } from '../request.ts';
import type { Focus, Work } from './focus.ts';
import type { Source } from './guidelines.ts';
import type { Measure } from './measures.ts';

/** Children's vaccinations rank higher until the age at which the schedule's column "4-6 years" ends. */
export const CHILD_VACCINES = {
  underYears: 7,
  worth: 300,
  source: ['acipChildren'] satisfies Source,
} as const;

type ByWork = Readonly<Record<Work, number>>;

const row = (review: number, follow_up: number, acute: number, letter: number, general: number): ByWork => ({
  review,
  follow_up,
  acute,
  letter,
  general,
});

/**
 * The basis for the order of the sections: IPS 2.0.0 requires allergies, medications and problems; all other sections are
 * optional.
 */
export const SECTIONS_SOURCE: Source = ['ips', 'niceMedicines'];

/**
 * Scores of facts by section and kind of work, before points for the task or the question are added. Allergies, medications
 * and problems come first (`SECTIONS_SOURCE`). The exact numbers are tuned with the tests in test/context.
 */
export const BASE = {
  patient: row(1000, 1000, 1000, 1000, 1000),
  allergies: row(960, 800, 960, 860, 900),
  noAllergies: row(930, 640, 930, 830, 800),
  medications: row(950, 850, 920, 890, 880),
  pastMedications: row(520, 240, 280, 360, 260),
  problems: row(900, 880, 890, 900, 890),
  pastProblems: row(480, 480, 560, 640, 500),
  vitals: row(250, 330, 560, 330, 400),
  labs: row(320, 350, 320, 320, 400),
  observations: row(200, 260, 320, 240, 260),
  social_history: row(420, 520, 400, 620, 420),
  procedures: row(180, 520, 460, 700, 420),
  visits: row(200, 760, 430, 660, 460),
  stays: row(260, 560, 720, 760, 560),
  plans: row(330, 775, 180, 600, 420),
  immunizations: row(100, 300, 330, 420, 250),
  documents: row(120, 380, 200, 560, 300),
  ai_notes: row(40, 40, 40, 40, 40),
} as const;

/** The name of a row in `BASE`. */
export type Base = keyof typeof BASE;

/** Points for a finding that the task or the question is about. */
const FOCUSED = 420;
/** Points for each word of the task or the question that a fact contains. */
const NAMED = 150;

/** Findings that are always needed for a kind of work. */
export interface Always {
  /** The points for each finding. */
  readonly worth: Readonly<Partial<Record<Measure, number>>>;
  /** The guidelines that name the findings; the numbers are tuned with the tests in test/context. */
  readonly source: Source;
}

/**
 * The rules for kinds of work. Acute care needs the parameters of the early warning score, and the blood tests for suspected
 * sepsis. A medication review needs the facts on which the STOPP criteria depend, and the weight, which determines the doses
 * of anticoagulants. Letters and general questions need the vital signs, results, smoking status and pregnancy status that a
 * patient summary contains.
 */
export const ALWAYS: Readonly<Record<Work, Always>> = {
  review: {
    worth: { pressure: 200, creatinine: 320, filtration: 320, weight: 150, potassium: 100, heartRate: 120 },
    source: ['stoppStart', 'ehraAnticoagulants'],
  },
  follow_up: {
    worth: { pressure: 200, weight: 150, heartRate: 80 },
    source: ['uspstfPressure', 'uspstfObesity', 'escHypertension'],
  },
  acute: {
    worth: {
      pressure: 250,
      heartRate: 240,
      saturation: 220,
      breathing: 180,
      temperature: 200,
      weight: 60,
      creatinine: 160,
      glucose: 80,
      hemoglobin: 100,
      potassium: 60,
      pregnancy: 400,
    },
    source: ['news', 'niceSepsis', 'ips'],
  },
  letter: {
    worth: {
      pressure: 240,
      weight: 60,
      creatinine: 100,
      hemoglobin: 120,
      smoking: 40,
      pregnancy: 250,
      heartRate: 60,
    },
    source: ['ips'],
  },
  general: {
    worth: { pressure: 200, heartRate: 60, weight: 80, creatinine: 80, hba1c: 60, pregnancy: 300 },
    source: ['ips'],
  },
};

/** Points for the first finding that monitors one of the patient's drugs or illnesses; later findings get fewer points. */
const BY_DRUG: ByWork = row(430, 190, 220, 220, 220);
const BY_ILLNESS: ByWork = row(180, 260, 240, 320, 280);

/** Findings that monitor a patient, each with its best place in the lists of the patient's drugs or illnesses. */
export interface MonitoredFindings {
  readonly byDrug: ReadonlyMap<Measure, number>;
  readonly byIllness: ReadonlyMap<Measure, number>;
}

/**
 * Returns a finding's score.
 * @param ageDays age of the finding's newest value in days
 */
export function scoreOfFinding(
  kind: Kind,
  measure: Measure | undefined,
  watched: MonitoredFindings,
  focus: Focus,
  ageDays: number,
  isAbnormal: boolean,
): number {
  const { work } = focus;
  let score =
    BASE[kind === 'vitals' || kind === 'labs' || kind === 'social_history' ? kind : 'observations'][work];
  if (measure !== undefined) {
    const places = focus.illnesses.map(({ watch }) => watch.indexOf(measure)).filter((place) => place >= 0);
    if (focus.measures.has(measure)) score += FOCUSED - 15 * Math.min(...places, 8);
    score += ALWAYS[work].worth[measure] ?? 0;
    score += Math.max(
      atPlace(BY_DRUG[work], watched.byDrug.get(measure)),
      atPlace(BY_ILLNESS[work], watched.byIllness.get(measure)),
    );
  }
  if (isAbnormal) score += 100;
  // Findings never outrank allergies, medications and problems.
  return (score < 700 ? score : 700 + (score - 700) / 5) - staleness(ageDays);
}

function atPlace(worth: number, place: number | undefined): number {
  return place === undefined ? 0 : Math.max(0, worth - 12 * place);
}

/**
 * Returns the points that a finding loses because its value is old. The thresholds have no clinical basis: a little over one,
 * three and five years.
 */
function staleness(ageDays: number): number {
  if (ageDays < 400) return 0;
  if (ageDays < 1_100) return 60;
  return ageDays < 2_000 ? 150 : 230;
}

/** Returns the score of the n-th newest fact in a list; the score falls with each place. */
export function scoreAtPlace(base: Base, work: Work, place: number): number {
  return BASE[base][work] / (1 + place * 0.5);
}

/** Returns a fact's score, raised if a need, a word or an illness in the request names it. */
export function raiseForRequest(
  score: number,
  focus: Focus,
  fact: Answer & { readonly text: string },
): number {
  const place = focus.needs.findIndex((need) => answersNeed(need, fact));
  // IDs are removed from the text, because the order of facts shows which words were found.
  const said = withoutIds(fact.text.toLowerCase());
  const words = focus.words.filter((word) => said.includes(word.slice(0, 6))).length;
  const about = focus.illnesses.some(({ words: named }) => named.test(fact.text)) ? 60 : 0;
  const worded = Math.min(score, 990) + Math.min(words, 2) * NAMED * (score < 800 ? 1 : 0.1) + about;
  if (place < 0 || fact.kind === 'ai_notes') return fact.kind === 'ai_notes' ? score : Math.min(worded, 990);
  // A timeline may match many facts, so it ranks below allergies and medications.
  return (focus.needs[place]?.days === undefined ? 1_500 : 850) - place + worded / 1_000_000;
}

/** A code of a fact. */
export interface Coded {
  readonly system: string;
  readonly code: string;
}

/** The properties of a fact that are compared with needs. */
export interface Answer {
  readonly kind: Kind;
  readonly codes: readonly Coded[];
  readonly ageDays: number;
}

/** Returns whether a fact meets a need. */
export function answersNeed({ days, kinds, code, system }: Need, fact: Answer): boolean {
  if (days !== undefined) return fact.ageDays <= days;
  if (!kinds.includes(fact.kind)) return false;
  return code === undefined || fact.codes.some((coded) => isCode(coded, code, system));
}

/** Returns whether a code is the wanted code or, in ICD-10 and ATC, a more specific code below it. */
function isCode({ system, code }: Coded, wanted: string, of: string | undefined): boolean {
  if (of !== undefined && of !== system) return false;
  return code === wanted || (/icd-10|atc/i.test(system) && withoutIds(code).startsWith(wanted));
}
