/** Creates phrases about states and dates, which each view puts into its own words. Pure. */
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { dayIn } from '#src/shared/time/day.ts';
import type { Absence } from './absence.ts';
import type { Allergy } from './allergies.ts';
import { type Age, readChange } from './changes.ts';
import { type Dated, isFuture } from './dates.ts';
import type { DoseChange } from './doses/dose-change.ts';
import type { Medicine, MedicineSource } from './medicines.ts';
import type { Death } from './person.ts';
import type { Problem, ProblemSource } from './problems.ts';

/** The phrases, each with the names of its dates. */
const DAYS = {
  statusreason: [],
  taken: ['from', 'until'],
  takenfrom: ['day'],
  takensince: ['day'],
  takenuntil: ['day'],
  takenon: ['day'],
  takenplanned: ['from', 'until'],
  planned: ['from', 'until'],
  plannedfrom: ['day'],
  planneduntil: ['day'],
  stopped: [],
  prescribed: ['day'],
  prescribedtwice: ['from', 'until'],
  prescribedtimes: ['from', 'until'],
  prescribedsame: ['day'],
  ordered: ['day'],
  contradicted: [],
  contradictedon: ['day'],
  contradictedorder: ['day'],
  contradictedorderon: ['day'],
  alsoplanned: [],
  alsoplannedfrom: ['day'],
  afterdeath: ['day'],
  alsorecorded: [],
  alsounnamed: [],
  nosubstitution: [],
  nosubstitutionfor: [],
  inwords: [],
  statedby: [],
  dosestate: [],
  doseplanned: [],
  recorded: ['day'],
  reported: ['day'],
  lastreaction: ['day'],
  times: [],
  timesfirst: ['day'],
  timeslast: ['day'],
  since: ['day'],
  onsetage: [],
  onset: [],
  until: ['day'],
  endage: [],
  end: [],
  on: ['day'],
} as const;

export type PhraseName = keyof typeof DAYS;

export interface Phrase {
  readonly says: PhraseName;
  /** FHIR dates with their own precision, by the names in `DAYS`. */
  readonly days: Readonly<Record<string, string>>;
  /** How many times something was prescribed or recorded. */
  readonly times?: number;
  /** A code from medication-statement-status or medicationrequest-status, in `contradicted…`. */
  readonly state?: string;
  /** Only in `onsetage` and `endage`. */
  readonly age?: Age;
  /**
   * The record's own words, in `onset`, `end`, `statusreason`, `alsorecorded`, `inwords`, `nosubstitutionfor` and `statedby`.
   */
  readonly text?: string;
}

function phrase(says: PhraseName, ...dates: readonly string[]): Phrase {
  return { says, days: Object.fromEntries(DAYS[says].map((name, n) => [name, dates[n] ?? ''])) };
}

/** The phrase for a medicine's state: its plain status, or its status together with a fact that qualifies it. */
export type StateName = 'plain' | 'unclear' | 'planned' | 'ofdeceased' | 'forbidden';

/** Returns the phrase for a medicine's state. */
export function stateOfMedicine(
  { standing, status }: Pick<Medicine, 'standing' | 'status'>,
  died: Death | undefined,
): StateName {
  if (standing === 'forbidden' || standing === 'unclear' || standing === 'planned') return standing;
  const isEnded = ENDED.has(status);
  return standing === 'past' && died !== undefined && !isEnded ? 'ofdeceased' : 'plain';
}

const ENDED: ReadonlySet<string> = new Set(['stopped', 'completed', 'not-taken']);

/** The properties of a medicine from which phrases are made. */
type MedicineDates = Pick<
  Medicine,
  | 'standing'
  | 'status'
  | 'from'
  | 'until'
  | 'takenOn'
  | 'prescribed'
  | 'contradicted'
  | 'dated'
  | 'planned'
  | 'statusReason'
  | 'reasons'
  | 'diedBefore'
  | 'today'
>;

/**
 * Returns why a medicine has its state, when it was taken and prescribed (or when it was recorded, if nothing else is known),
 * and what other sources say about it.
 */
export function medicinePhrases(medicine: MedicineDates): Phrase[] {
  const {
    standing,
    status,
    until,
    prescribed,
    contradicted,
    dated,
    planned,
    statusReason,
    diedBefore,
    reasons,
  } = medicine;
  const said = takenPhrases(medicine);
  const isDated = until !== undefined && !isFuture(until, medicine.today);
  if (status === 'stopped' && standing === 'past' && !isDated) said.unshift(phrase('stopped'));
  if (standing === 'forbidden' && reasons.length > 0)
    said.unshift({ ...phrase('statusreason'), text: reasons.join(', ') });
  if (statusReason !== undefined) said.unshift({ ...phrase('statusreason'), text: statusReason });
  if (prescribed !== undefined)
    said.push(standing === 'forbidden' ? phrase('ordered', prescribed.last) : prescribedPhrase(prescribed));
  const isUndated = said.every(({ says }) => says === 'stopped' || says === 'statusreason');
  if (isUndated && dated.date !== null && dated.means === 'recorded')
    said.push(phrase('recorded', dated.date));
  if (diedBefore !== undefined) said.push(phrase('afterdeath', diedBefore));
  if (contradicted !== undefined) said.push(...contradictionPhrases(contradicted));
  if (planned !== undefined) {
    const { from = planned.takenOn } = planned;
    said.push(from === undefined ? phrase('alsoplanned') : phrase('alsoplannedfrom', from));
  }
  return said;
}

/** Returns phrases that a medicine's prescriptions allow no substitution, without duplicate reasons. */
export function substitutionPhrases({ sources, standing }: Pick<Medicine, 'sources' | 'standing'>): Phrase[] {
  if (standing === 'past' || standing === 'forbidden') return [];
  const own = sources.filter((source) => source.standing === standing);
  const reasons = new Set(own.flatMap(({ noSubstitution }) => noSubstitution ?? []));
  const said = [...reasons].filter((reason) => reason !== '');
  if (said.length > 0) return said.map((text) => ({ ...phrase('nosubstitutionfor'), text }));
  return reasons.size === 0 ? [] : [phrase('nosubstitution')];
}

/**
 * Returns when a medicine was or will be taken. If the day is in the future, the medicine is planned, whatever its status is.
 */
function takenPhrases({
  standing,
  from,
  until,
  takenOn,
  today,
}: Pick<MedicineDates, 'standing' | 'from' | 'until' | 'takenOn' | 'today'>): Phrase[] {
  const start = from ?? (until === undefined ? takenOn : undefined);
  if (start !== undefined && isFuture(start, today))
    return [until === undefined ? phrase('plannedfrom', start) : phrase('planned', start, until)];
  if (until !== undefined) {
    const isLater = isFuture(until, today);
    if (from === undefined) return [phrase(isLater ? 'planneduntil' : 'takenuntil', until)];
    return [phrase(isLater ? 'takenplanned' : 'taken', from, until)];
  }
  if (from !== undefined) return [phrase(standing === 'past' ? 'takenfrom' : 'takensince', from)];
  return takenOn === undefined ? [] : [phrase('takenon', takenOn)];
}

function contradictionPhrases({ source, day }: NonNullable<Medicine['contradicted']>): Phrase[] {
  const { status: state, isPrescription, prescribed = source.dated.date, statusReason } = source;
  const said =
    day !== undefined
      ? phrase(isPrescription ? 'contradictedorderon' : 'contradictedon', day)
      : isPrescription && prescribed !== null
        ? phrase('contradictedorder', prescribed)
        : phrase('contradicted');
  const why = statusReason === undefined ? [] : [{ ...phrase('statusreason'), text: statusReason }];
  return [{ ...said, state }, ...why];
}

/**
 * Returns what distinguishes a dosage from the other dosages of the same medicine: when it was prescribed or since when it has
 * been taken, and its status if that differs from the lead's. Empty if this is the only dosage.
 */
export function dosePhrases(
  dose: MedicineSource,
  { doses, lead }: Pick<Medicine, 'doses' | 'lead'>,
): Phrase[] {
  if (doses.length < 2) return [];
  const { standing, status } = dose;
  const when = dosePhrase(dose);
  const isOther = status !== lead.status && standing !== 'planned';
  const state = isOther ? [{ ...phrase('dosestate'), state: status }] : [];
  const isOnlyPlanned =
    standing === 'planned' && lead.standing !== 'planned' && !when?.says.startsWith('planned');
  return [...state, ...(isOnlyPlanned ? [phrase('doseplanned')] : []), ...(when === undefined ? [] : [when])];
}

/**
 * Returns when a source's dosage was prescribed or taken, otherwise when it was recorded; undefined if the source doesn't say.
 */
function dosePhrase(dose: MedicineSource): Phrase | undefined {
  const { prescribed: day } = dose;
  const prescribed = day === undefined ? undefined : { first: day, last: day, times: 1 };
  const others = { contradicted: undefined, planned: undefined, statusReason: undefined, reasons: [] };
  return medicinePhrases({ ...dose, ...others, prescribed })[0];
}

/** A dosage before the current one: its source, and when it was prescribed or taken. */
export interface EarlierDose {
  readonly source: MedicineSource;
  readonly when: Phrase | undefined;
}

/** Returns since when a medicine has had its current dosage, and the previous dosages. */
export function doseChangePhrases({ since, before }: DoseChange<MedicineSource>): {
  readonly since: Phrase;
  readonly before: readonly EarlierDose[];
} {
  return {
    since: phrase(since.means, since.day),
    before: before.map((source) => {
      const { status } = source;
      // If a medicine was stopped but its end isn't recorded, the day of prescribing is more useful than the fact that the end
      // isn't known.
      const when = dosePhrase(status === 'stopped' ? { ...source, status: 'completed' } : source);
      return { source, when };
    }),
  };
}

/** Returns how many times and when a medicine was prescribed; two days of prescribing aren't a period. */
function prescribedPhrase({ first, last, times }: NonNullable<Medicine['prescribed']>): Phrase {
  if (times === 1) return phrase('prescribed', first);
  if (dayIn(first) === dayIn(last)) return { ...phrase('prescribedsame', last), times };
  return { ...phrase(times === 2 ? 'prescribedtwice' : 'prescribedtimes', first, last), times };
}

/** Returns a date with its meaning; undefined if the date is missing. */
export function datePhrase({ date, means }: Dated): Phrase | undefined {
  if (date === null) return undefined;
  if (means === 'recorded' || means === 'reported') return phrase(means, date);
  if (means === 'last_reaction') return phrase('lastreaction', date);
  return phrase(means === 'onset' ? 'since' : 'on', date);
}

/**
 * Returns a statement of absence in its own words, when it was made and by whom, and the recorded entries that contradict it.
 */
export function absencePhrases({ words, dated, by, against, isAgainstUnnamed }: Absence): Phrase[] {
  return [
    ...(words === undefined ? [] : [{ ...phrase('inwords'), text: words }]),
    ...[datePhrase(dated) ?? []].flat(),
    ...(by === undefined ? [] : [{ ...phrase('statedby'), text: by }]),
    ...(against.length === 0 ? [] : [{ ...phrase('alsorecorded'), text: against.join(', ') }]),
    ...(isAgainstUnnamed ? [phrase('alsounnamed')] : []),
  ];
}

/** Returns when a Condition or an AllergyIntolerance began (`onset`) or ended (`abatement`); empty if it doesn't say. */
export function changePhrases(value: JsonObject, name: 'onset' | 'abatement'): Phrase[] {
  const change = readChange(value, name);
  if (change === undefined) return [];
  const isStart = name === 'onset';
  if ('date' in change) return [phrase(isStart ? 'since' : 'until', change.date)];
  if ('age' in change) return [{ ...phrase(isStart ? 'onsetage' : 'endage'), age: change.age }];
  return [{ ...phrase(isStart ? 'onset' : 'end'), text: change.words }];
}

/** Returns since when an allergy has existed; if that is unknown, when its last reaction was, or when it was recorded. */
export function allergyPhrases({ told, dated }: Allergy): Phrase[] {
  const began = changePhrases(told.value, 'onset');
  return began.length > 0 ? began : [datePhrase(dated) ?? []].flat();
}

/**
 * Returns when a problem began and ended. For an active problem, this is when it first began; for a problem that has ended, it
 * is the last episode.
 */
export function problemPhrases({ sources, oldest, isOver, isOfDeceased }: Problem): Phrase[] {
  const lead = sources[0] ?? oldest;
  return episodePhrases(isOver && !isOfDeceased ? lead : oldest, lead);
}

/**
 * Returns how many times a problem is recorded, if more than once, and the day that `problemPhrases` leaves out: for an active
 * problem, when it last began; for a problem that has ended, when it first began.
 */
export function repeatPhrases({ sources, oldest, isOver, isOfDeceased }: Problem): Phrase[] {
  const { length: times } = sources;
  if (times === 1) return [];
  const [lead = oldest] = sources;
  const [first, last] = [readOnset(oldest), readOnset(lead)];
  const isOneDay = oldest.dated.at === lead.dated.at || dayIn(first ?? '') === dayIn(last ?? '');
  if (first === undefined || last === undefined || isOneDay) return [{ ...phrase('times'), times }];
  return [{ ...(isOver && !isOfDeceased ? phrase('timesfirst', first) : phrase('timeslast', last)), times }];
}

function readOnset({ dated: { date, means } }: ProblemSource): string | undefined {
  return means === 'onset' ? (date ?? undefined) : undefined;
}

/**
 * Returns when a problem began according to one source, and when it ended according to another; if they don't say, when it was
 * recorded.
 */
export function episodePhrases(first: ProblemSource, last: ProblemSource): Phrase[] {
  const said = [...changePhrases(first.told.value, 'onset'), ...changePhrases(last.told.value, 'abatement')];
  return said.length > 0 ? said : [datePhrase(first.dated) ?? []].flat();
}
