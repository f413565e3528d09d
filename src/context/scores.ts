/** How soon a fact is told, from 0 to 1000, and above that what was asked for by name. docs/context.md says it in words. */
import type { Kind, Need } from './ask.ts';
import type { Focus, Work } from './focus.ts';
import type { Measure } from './measures.ts';

type ByWork = Readonly<Record<Work, number>>;

const row = (review: number, follow_up: number, acute: number, letter: number, general: number): ByWork => ({
  review,
  follow_up,
  acute,
  letter,
  general,
});

/** What a fact is worth by itself. */
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
  visits: row(200, 600, 430, 660, 460),
  stays: row(260, 560, 720, 760, 560),
  plans: row(330, 720, 180, 600, 420),
  immunizations: row(100, 300, 330, 420, 250),
  documents: row(120, 380, 200, 560, 300),
  ai_notes: row(40, 40, 40, 40, 40),
} as const;

/** Names of the rows. */
export type Base = keyof typeof BASE;

/** What is more when it is about something that is asked about. */
const FOCUSED = 420;
const NAMED = 150;

/** Findings that a task always wants. */
const ALWAYS: Readonly<Record<Work, Readonly<Partial<Record<Measure, number>>>>> = {
  review: { pressure: 200, creatinine: 320, filtration: 320, weight: 150, potassium: 100, heartRate: 120 },
  follow_up: { pressure: 200, weight: 150, heartRate: 80 },
  acute: {
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
    pain: 60,
  },
  letter: {
    pressure: 240,
    weight: 60,
    creatinine: 100,
    hemoglobin: 120,
    smoking: 40,
    pregnancy: 250,
    heartRate: 60,
  },
  general: { pressure: 200, heartRate: 60, weight: 80, creatinine: 80, hba1c: 60, pregnancy: 300 },
};

/** What a drug or an illness that the patient has is watched by. */
const BY_DRUG: ByWork = row(430, 190, 220, 220, 220);
const BY_ILLNESS: ByWork = row(180, 260, 240, 320, 280);

/** What is watched in a patient: the place in the list of a drug or an illness, the smallest of all. */
export interface Watched {
  readonly byDrug: ReadonlyMap<Measure, number>;
  readonly byIllness: ReadonlyMap<Measure, number>;
}

/** A finding's. @param ageDays of its newest value */
export function scoreOfFinding(
  kind: Kind,
  measure: Measure | undefined,
  watched: Watched,
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
    score += ALWAYS[work][measure] ?? 0;
    score += Math.max(
      atPlace(BY_DRUG[work], watched.byDrug.get(measure)),
      atPlace(BY_ILLNESS[work], watched.byIllness.get(measure)),
    );
  }
  if (isAbnormal) score += 100;
  // However much speaks for a finding, allergies, drugs and problems come first.
  return (score < 700 ? score : 700 + (score - 700) / 5) - staleness(ageDays);
}

function atPlace(worth: number, place: number | undefined): number {
  return place === undefined ? 0 : Math.max(0, worth - 12 * place);
}

/** The older, the less. */
function staleness(ageDays: number): number {
  if (ageDays < 400) return 0;
  if (ageDays < 1_100) return 60;
  return ageDays < 2_000 ? 150 : 230;
}

/** The n-th of a row's facts, the newest being the first: others say less each time. */
export function nth(base: Base, work: Work, place: number): number {
  return BASE[base][work] / (1 + place * 0.5);
}

/** With what needs and words ask for. @param codes of the fact, without their systems */
export function asked(score: number, focus: Focus, fact: Answer & { readonly text: string }): number {
  const place = focus.needs.findIndex((need) => answers(need, fact));
  const said = fact.text.toLowerCase();
  const words = focus.words.filter((word) => said.includes(word.slice(0, 6))).length;
  const about = focus.illnesses.some(({ words: named }) => named.test(fact.text)) ? 60 : 0;
  const worded = Math.min(score, 990) + Math.min(words, 2) * NAMED * (score < 800 ? 1 : 0.1) + about;
  if (place < 0 || fact.kind === 'ai_notes') return fact.kind === 'ai_notes' ? score : Math.min(worded, 990);
  // What happened of late may be much: it does not crowd out allergies and medications.
  return (focus.needs[place]?.days === undefined ? 1_500 : 850) - place + worded / 1_000_000;
}

/** A code of a fact. */
export interface Coded {
  readonly system: string;
  readonly code: string;
}

/** What a need looks at. */
export interface Answer {
  readonly kind: Kind;
  readonly codes: readonly Coded[];
  readonly ageDays: number;
}

/** Whether a fact is what a need asks for. */
export function answers({ days, kinds, code, system }: Need, fact: Answer): boolean {
  if (days !== undefined) return fact.ageDays <= days;
  if (!kinds.includes(fact.kind)) return false;
  return code === undefined || fact.codes.some((coded) => isCode(coded, code, system));
}

/** Whether it is the code that was asked for, or, of ICD and ATC, one below it. */
function isCode({ system, code }: Coded, wanted: string, of: string | undefined): boolean {
  if (of !== undefined && of !== system) return false;
  return code === wanted || (/icd-10|atc/i.test(system) && code.startsWith(wanted));
}
