/**
 * Reads the medicines that the patient takes or took, from MedicationStatements and MedicationRequests. Each medicine appears
 * once (docs/clinical-reading.md explains the rules). https://hl7.org/fhir/R4/medicationstatement.html
 */
import { first, objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { type Contradiction, findContradiction } from './contradiction.ts';
import { type Dated, happened, isFuture, isPast, newestFirst } from './dates.ts';
import { beginsLater, isAfterTomorrow, isBounded, readLaterValidity } from './doses/dose-bounds.ts';
import { type DoseChange, findDoseChange, hasNewDose } from './doses/dose-change.ts';
import { compareDates } from './doses/dose-dates.ts';
import { foldName, joinSame } from './join-same.ts';
import { type MedicineSubject, readMedicineSubject, readNoSubstitution } from './medicine-subject.ts';
import { findRevisions, type Revision } from './revisions.ts';
import type { Around, Coded, Told } from './told.ts';

/**
 * A medicine's state. `current`: taken now. `unclear`: recorded as taken, but its period has ended. `planned`: not taken yet.
 * `past`: no longer taken. `forbidden`: must not be given.
 */
export type Standing = 'current' | 'unclear' | 'planned' | 'past' | 'forbidden';

/** A single resource's statement about a medicine. */
export interface MedicineSource<Of extends Told = Told> extends MedicineSubject<Of> {
  /** True for a MedicationRequest. */
  readonly isPrescription: boolean;
  /** A code from medication-statement-status or medicationrequest-status. */
  readonly status: string;
  readonly standing: Standing;
  /** A list of Dosages. */
  readonly dosage: Json | undefined;
  /**
   * When the patient began to take the medicine. Undefined for a prescription, which doesn't say that, unless the prescription
   * only becomes valid later.
   */
  readonly from: string | undefined;
  /** A day on which the patient took the medicine: `effectiveDateTime`, which doesn't say since when or for how long. */
  readonly takenOn: string | undefined;
  /** When the patient stopped taking the medicine. */
  readonly until: string | undefined;
  /** When the medicine was prescribed; undefined for a plan, which isn't a prescription. */
  readonly prescribed: string | undefined;
  readonly dated: Dated;
  /** The person's death, if the medicine was prescribed, or began to be taken, after it. One of the two dates is wrong. */
  readonly diedBefore: string | undefined;
  /** The day on which the record is read, `YYYY-MM-DD`. */
  readonly today: string;
  /** Why the medicine is taken, in the record's words. */
  readonly reasons: readonly string[];
  /** Why the medicine has its status, in the record's words. */
  readonly statusReason: string | undefined;
  /** Set if a prescription allows no substitution: the reason in the record's words, or an empty text if no reason is given. */
  readonly noSubstitution: string | undefined;
  /** Changes made by later versions. */
  readonly revisions: readonly Revision[];
}

export interface Medicine<Of extends Told = Told> {
  readonly name: string | undefined;
  readonly codes: readonly Coded[];
  readonly standing: Standing;
  /** The status of the source that determines the standing. */
  readonly status: string;
  /**
   * How the medicine is taken now, or was last taken: first the sources with the medicine's standing, newest first, without
   * duplicate dosages; then the sources that only plan the medicine.
   */
  readonly doses: readonly MedicineSource<Of>[];
  /** The first and last day of prescribing, and the number of prescriptions. */
  readonly prescribed: { readonly first: string; readonly last: string; readonly times: number } | undefined;
  /** When the patient began to take the medicine, according to the sources with its standing. */
  readonly from: string | undefined;
  /** The last day on which the patient took the medicine, according to the sources with its standing. */
  readonly takenOn: string | undefined;
  /** When the patient stopped taking the medicine, or when a past period ended. */
  readonly until: string | undefined;
  readonly reasons: readonly string[];
  /** A source that contradicts `lead` and isn't older than `lead`. */
  readonly contradicted: Contradiction<MedicineSource<Of>> | undefined;
  /** The first source that plans the medicine, if it is current or unclear. */
  readonly planned: MedicineSource<Of> | undefined;
  /** Why the medicine has its status, according to the source that determines its standing. */
  readonly statusReason: string | undefined;
  /** Changes made by later versions of the sources with its standing. */
  readonly revisions: readonly Revision[];
  /**
   * The dosage before the current one, from an entry that a newer entry follows. Only if the medicine is current or unclear.
   */
  readonly doseChange: DoseChange<MedicineSource<Of>> | undefined;
  /**
   * True if one of the medicine's dosages is new and the others aren't, although nothing says that the new one replaces them.
   */
  readonly hasNewDose: boolean;
  /** The person's death, if one of the sources with its standing is dated after it. */
  readonly diedBefore: string | undefined;
  readonly today: string;
  /**
   * The source that determines the standing. A statement takes precedence over a prescription, because it says how the
   * medicine is really taken.
   */
  readonly lead: MedicineSource<Of>;
  /** The newest first. */
  readonly sources: readonly MedicineSource<Of>[];
  readonly dated: Dated;
}

/** Statuses of medicines that the patient takes or may take: codes from both value sets. */
const CURRENT: ReadonlySet<string> = new Set(['active', 'intended', 'on-hold', 'unknown']);
/** Reads one resource's statement about a medicine. */
export function readMedicineSource<Of extends Told>(
  told: Of,
  around: Around,
  subject = readMedicineSubject(told, around),
): MedicineSource<Of> {
  const { today, look, name, died } = around;
  const { type, value } = told;
  const { effectivePeriod, effectiveDateTime, authoredOn, statusReason } = value;
  const isPrescription = type === 'MedicationRequest';
  const isPlan = isPrescription && value.intent === 'plan';
  const validFrom = isPrescription && !isReported(value) ? readLaterValidity(value, today) : undefined;
  const { name: own, codes, isForbidden } = subject;
  const status = text(value.status) ?? 'unknown';
  const { start, end } = first(effectivePeriod) ?? {};
  const until = text(end);
  const dosage = isPrescription ? value.dosageInstruction : value.dosage;
  const isEnded = until === undefined ? isBounded(dosage, today) : isPast(until, today);
  const starts = isPrescription ? undefined : (text(start) ?? text(effectiveDateTime));
  const isToCome =
    status === 'intended' ||
    (isPlan && !isReported(value)) ||
    validFrom !== undefined ||
    (starts === undefined
      ? beginsLater(dosage, today) || (isPrescription && isAfterTomorrow(text(authoredOn), today))
      : isFuture(starts, today));
  const dated = happened(told);
  const standing = standingBy(status, isForbidden, isEnded, isToCome, died);
  return {
    told,
    name: own,
    codes,
    isForbidden,
    isPrescription,
    status,
    standing,
    dosage,
    from: isPrescription ? (standing === 'planned' ? validFrom : undefined) : text(start),
    takenOn: isPrescription ? undefined : text(effectiveDateTime),
    until,
    prescribed: isPrescription && !isPlan ? text(authoredOn) : undefined,
    dated: isPlan ? { date: dated.date, at: dated.at, means: 'recorded' } : dated,
    diedBefore:
      !isPlan && status !== 'intended' && compareDates(starts ?? text(authoredOn), died?.date) === 'after'
        ? died?.date
        : undefined,
    today,
    reasons: reasonsIn(value, look, name),
    statusReason: statusReason === undefined ? undefined : name(statusReason),
    noSubstitution: isPrescription ? readNoSubstitution(value, name) : undefined,
    revisions: findRevisions(told, around),
  };
}

/**
 * Returns whether a request reports what the patient takes. If such a request is a plan, the plan is already being carried
 * out.
 */
function isReported({ reportedBoolean, reportedReference }: JsonObject): boolean {
  return reportedBoolean === true || reportedReference !== undefined;
}

function standingBy(
  status: string,
  isForbidden: boolean,
  isEnded: boolean,
  isToCome: boolean,
  died: Around['died'],
): Standing {
  if (isForbidden) return 'forbidden';
  if (!CURRENT.has(status) || died !== undefined) return 'past';
  if (isEnded) return 'unclear';
  // A medicine on hold won't be taken as planned, so its status is said.
  return isToCome && status !== 'on-hold' ? 'planned' : 'current';
}

/** Returns the reasons why something is done, as text or as the name of a referenced resource. */
export function reasonsIn(value: JsonObject, look: Around['look'], name: Around['name']): readonly string[] {
  const said = objects(value.reasonCode).flatMap((each) => name(each) ?? []);
  const referred = objects(value.reasonReference).flatMap(
    ({ reference, display }) => name(look(reference, value)?.code) ?? text(display) ?? [],
  );
  return [...new Set([...said, ...referred])];
}

/**
 * Joins the statements of resources about the same medicine.
 * @returns current medicines first, then unclear, planned, forbidden and past ones; newest first within each group
 */
export function joinMedicines<Of extends Told>(sources: readonly MedicineSource<Of>[]): Medicine<Of>[] {
  return groupMedicines(sources).map(joinMedicine).sort(currentFirst);
}

/**
 * Groups resources that state something about the same medicine. Resources belong together if they share a code in a system.
 * They also belong together if they share the name, unless they have different codes in the same system: for example, a gel
 * and tablets. Medicines that must not be given are kept separate.
 */
export function groupMedicines<Subject extends MedicineSubject>(subjects: readonly Subject[]): Subject[][] {
  return joinSame(subjects, ({ isForbidden }) => (isForbidden ? 'not ' : ''));
}

const ORDER: readonly Standing[] = ['current', 'unclear', 'planned', 'forbidden', 'past'];

/** Orders medicines: current ones first, then unclear, planned, forbidden and past ones; newest first within each group. */
export function currentFirst(a: Medicine, b: Medicine): number {
  return ORDER.indexOf(a.standing) - ORDER.indexOf(b.standing) || newestFirst(a, b);
}

/** Joins the sources of one medicine. */
export function joinMedicine<Of extends Told>(group: MedicineSource<Of>[]): Medicine<Of> {
  const sources = group.sort((a, b) => newestFirst(a, b) || (a.told.id < b.told.id ? 1 : -1));
  const standing = ORDER.find((each) => sources.some((source) => source.standing === each)) ?? 'past';
  const own = sources.filter((source) => source.standing === standing);
  const lead = own.find(({ isPrescription }) => !isPrescription) ?? own[0] ?? sources[0];
  if (lead === undefined) throw new TypeError('a medicine has no source');
  const isTaken = standing === 'current' || standing === 'unclear';
  const planned = isTaken ? sources.filter((source) => source.standing === 'planned') : [];
  const doses = dosesIn(lead, [...own, ...planned], standing);
  const doseChange = isTaken ? findDoseChange(sources, own) : undefined;
  return {
    name: nameFor(lead, own, doses) ?? sources.find(({ name }) => name !== undefined)?.name,
    codes: [
      ...new Map(
        sources.flatMap(({ codes }) => codes.map((code) => [`${code.system}|${code.code}`, code])),
      ).values(),
    ],
    standing,
    status: lead.status,
    doses,
    prescribed: prescribedIn(sources),
    from: earliest(own.map(({ from }) => from)),
    takenOn: own.find(({ takenOn }) => takenOn !== undefined)?.takenOn,
    until: latestEnd(own),
    reasons: [...new Set(own.flatMap(({ reasons }) => reasons))],
    contradicted: isTaken || standing === 'planned' ? findContradiction(sources, own, lead) : undefined,
    planned: planned[0],
    statusReason: (lead.statusReason === undefined ? own.find(hasSameReason(lead)) : lead)?.statusReason,
    revisions: own.flatMap(({ revisions }) => revisions),
    doseChange,
    hasNewDose: isTaken && doseChange === undefined && doses.length > 1 && hasNewDose(own),
    diedBefore: own.find(({ diedBefore }) => diedBefore !== undefined)?.diedBefore,
    today: lead.today,
    lead,
    sources,
    dated: own[0]?.dated ?? lead.dated,
  };
}

/** Returns a function that finds sources with the same status as `lead` and a reason for the status. */
function hasSameReason({ status }: MedicineSource): (source: MedicineSource) => boolean {
  return (source) => source.status === status && source.statusReason !== undefined;
}

/**
 * Returns the lead's name, followed by the names of other sources whose dosage isn't shown, because one code may stand for
 * several medicines.
 */
function nameFor(
  lead: MedicineSource,
  own: readonly MedicineSource[],
  doses: readonly MedicineSource[],
): string | undefined {
  const shown = new Set(doses.filter((dose) => dose !== lead).map(({ name = '' }) => foldName(name)));
  const names = new Map<string, string>();
  for (const { name } of [lead, ...own]) {
    if (name === undefined || (name !== lead.name && shown.has(foldName(name)))) continue;
    if (!names.has(foldName(name))) names.set(foldName(name), name);
  }
  return names.size === 0 ? undefined : [...names.values()].join(' / ');
}

/** Returns the sources that have a dosage, without duplicate dosages; for a past medicine, only the newest source. */
function dosesIn<Of extends Told>(
  lead: MedicineSource<Of>,
  own: readonly MedicineSource<Of>[],
  standing: Standing,
): MedicineSource<Of>[] {
  const seen = new Set<string>();
  const said = [lead, ...own.filter((source) => source !== lead)].filter(({ dosage, name }) => {
    if (objects(dosage).length === 0) return false;
    const key = `${JSON.stringify(dosage)} ${name?.toLowerCase() ?? ''}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
  return standing === 'past' ? said.slice(0, 1) : said;
}

function prescribedIn(sources: readonly MedicineSource[]): Medicine['prescribed'] {
  const dates = sources
    .flatMap(({ prescribed }) => prescribed ?? [])
    .sort((a, b) => Date.parse(a) - Date.parse(b));
  const [first, last] = [dates[0], dates.at(-1)];
  return first === undefined || last === undefined ? undefined : { first, last, times: dates.length };
}

function earliest(dates: readonly (string | undefined)[]): string | undefined {
  return dates.filter((date) => date !== undefined).sort((a, b) => Date.parse(a) - Date.parse(b))[0];
}

/** Returns the last day on which a medicine was taken, if every statement about taking it has an end. */
function latestEnd(own: readonly MedicineSource[]): string | undefined {
  const stated = own.filter(({ isPrescription }) => !isPrescription);
  const ends = stated.map(({ until }) => until);
  if (ends.some((end) => end === undefined)) return undefined;
  return ends.filter((end) => end !== undefined).sort((a, b) => Date.parse(b) - Date.parse(a))[0];
}
