/** Facts that every task needs: sex and age, allergies, medications, problems. */

import { choice, concept, dosage, notes } from '#src/clinical/reading/words.ts';
import { codes, first, objects, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json.ts';
import { dayOf, daysBetween } from './dates.ts';
import { type Fact, line } from './fact.ts';
import { ageDays, codedIn, codeMembers, dayIn, entriesOf, lookUp, nameOf, type Reading } from './reading.ts';
import type { Entry } from './record.ts';
import { BASE, type Base, type Coded, raiseForRequest } from './scores.ts';

/** Returns sex, age and whether the patient has died. Name and address are left out: no task needs them. */
export function patient({ opened, today }: Reading): Fact[] {
  const { patient: entry } = opened;
  if (entry === undefined) return [];
  const { gender, birthDate, deceasedDateTime, deceasedBoolean } = entry.value;
  const died = text(deceasedDateTime);
  const birth = text(birthDate);
  const age = birth === undefined ? undefined : ageOn(birth, died === undefined ? today : Date.parse(died));
  const said = line(
    ', ',
    text(gender) ?? 'sex not recorded',
    age === undefined ? undefined : `${age}${birth === undefined ? '' : ` (born ${birth})`}`,
    died !== undefined ? `died ${dayOf(died)}` : deceasedBoolean === true ? 'deceased' : undefined,
  );
  const members = {
    gender: text(gender) ?? null,
    birth_date: birth ?? null,
    deceased: died !== undefined || deceasedBoolean === true,
  };
  return [{ kind: 'patient', text: said, entry, also: [], codes: [], score: BASE.patient.general, members }];
}

/** Returns the age in years, below two years in months. */
function ageOn(birth: string, at: number): string | undefined {
  const born = new Date(birth);
  const then = new Date(at);
  if (Number.isNaN(born.getTime()) || Number.isNaN(then.getTime())) return undefined;
  const months =
    (then.getUTCFullYear() - born.getUTCFullYear()) * 12 +
    (then.getUTCMonth() - born.getUTCMonth()) -
    (then.getUTCDate() < born.getUTCDate() ? 1 : 0);
  return months < 24 ? `${Math.max(months, 0)} months` : `${Math.floor(months / 12)} years`;
}

/** Returns the allergies that are still active. */
export function allergies(reading: Reading): Fact[] {
  return entriesOf(reading, 'AllergyIntolerance')
    .filter(({ value }) => !isOver(value))
    .map((entry) => {
      const { value } = entry;
      const name = nameOf(value.code, 'substance not recorded');
      const reactions = objects(value.reaction).map((each) =>
        line(
          ' ',
          concept(each.manifestation),
          text(each.severity) === undefined ? undefined : `(${text(each.severity)})`,
        ),
      );
      const said = line(
        '; ',
        reactions.length === 0 ? name : `${name}: ${reactions.join(', ')}`,
        value.criticality === 'high' ? 'high criticality' : undefined,
        unsure(value),
        since(entry),
        notes(value.note),
      );
      const members = { ...codeMembers(value.code, name), criticality: text(value.criticality) ?? null };
      return factOf(reading, 'allergies', 'allergies', entry, said, members, value.code);
    });
}

/** A drug that the patient takes or took. */
export interface Drug {
  readonly name: string;
  readonly codes: readonly Coded[];
  readonly dose: string | undefined;
  readonly status: string;
  readonly isCurrent: boolean;
  readonly start: string | undefined;
  readonly end: string | undefined;
  readonly entry: Entry;
  /** Other resources that say the same, for example an order beside the statement that the drug is taken. */
  readonly also: readonly Entry[];
  /** The reason for taking it. */
  readonly reason: string | undefined;
}

const CURRENT: ReadonlySet<string> = new Set(['active', 'intended', 'on-hold', 'unknown']);
const NO_ORDER: ReadonlySet<string> = new Set(['draft', 'cancelled']);

/** Status of a drug that an order forbids. */
export const FORBIDDEN = 'not to be given';

/** Returns all drugs. A statement and an order that agree become one. */
export function drugsOf(reading: Reading): Drug[] {
  const found = new Map<string, Drug>();
  for (const entry of entriesOf(reading, 'MedicationStatement', 'MedicationRequest')) {
    const { value } = entry;
    const isIdea = value.intent === 'proposal' || value.intent === 'option';
    const isOverProhibition = value.doNotPerform === true && value.status !== 'active';
    if (isIdea || isOverProhibition || NO_ORDER.has(text(value.status) ?? '')) continue;
    const drug = drugOf(reading, entry);
    const key = [drug.name.toLowerCase(), drug.status, drug.dose ?? ''].join('\n');
    const before = found.get(key);
    found.set(key, before === undefined ? drug : { ...before, also: [...before.also, entry] });
  }
  return [...found.values()];
}

function drugOf(reading: Reading, entry: Entry): Drug {
  const { value, type } = entry;
  const referred = first(value.medicationReference);
  const contained = objects(value.contained).find(
    ({ id }) => `#${text(id) ?? ''}` === text(referred?.reference),
  );
  const code =
    value.medicationCodeableConcept ?? contained?.code ?? lookUp(reading, referred?.reference)?.value.code;
  const recorded = text(value.status) ?? 'unknown';
  const words = recorded === 'not-taken' ? 'not taken' : recorded;
  const status = value.doNotPerform === true ? FORBIDDEN : words;
  const { start, end } = first(value.effectivePeriod) ?? {};
  const reasons = objects(value.reasonReference).map(({ reference }) =>
    concept(lookUp(reading, reference)?.value.code),
  );
  return {
    name: concept(code) ?? text(referred?.display) ?? 'medication without a name',
    codes: codedIn(code),
    dose: dosage(type === 'MedicationStatement' ? value.dosage : value.dosageInstruction),
    status,
    isCurrent: CURRENT.has(status),
    start: text(start) ?? text(value.effectiveDateTime) ?? text(value.authoredOn),
    end: text(end),
    entry,
    also: [],
    reason: line(', ', concept(value.reasonCode), ...reasons) || undefined,
  };
}

/** Returns drugs as facts. */
export function medications(reading: Reading, drugs: readonly Drug[]): Fact[] {
  return drugs.map((drug) => {
    const { name, dose, status, start, end, entry, also, isCurrent, reason } = drug;
    const when =
      end === undefined
        ? line(' ', status, start === undefined ? undefined : `since ${dayOf(start)}`)
        : line(' ', status, `${start === undefined ? 'until' : `${dayOf(start)} to`} ${dayOf(end)}`);
    const said = line(
      '; ',
      dose === undefined ? name : `${name}: ${dose}`,
      when,
      reading.focus.work === 'review' && reason !== undefined ? `for ${reason}` : undefined,
      notes(entry.value.note),
    );
    const [code] = drug.codes;
    const members = {
      code: code?.code ?? null,
      system: code === undefined || code.system === '' ? null : code.system,
      display: name,
      status,
      dosage: dose ?? null,
      start: start ?? null,
      end: end ?? null,
      reason: reason ?? null,
    };
    const base = isCurrent || status === FORBIDDEN ? 'medications' : 'pastMedications';
    const fact = factOf(reading, 'medications', base, entry, said, members, undefined, drug.codes);
    return { ...fact, also };
  });
}

/** Returns problems, past ones included. A problem that is recorded at several visits becomes one fact. */
export function problems(reading: Reading): Fact[] {
  const found = new Map<string, Entry[]>();
  for (const entry of entriesOf(reading, 'Condition')) {
    const { value } = entry;
    const [code] = codedIn(value.code);
    const named = code === undefined ? (concept(value.code) ?? '') : `${code.system}|${code.code}`;
    const key = [named, codes(value.clinicalStatus)[0], unsure(value)].join('\n');
    if (found.get(key)?.push(entry) === undefined) found.set(key, [entry]);
  }
  return [...found.values()].flatMap((same) => problemOf(reading, same) ?? []);
}

/**
 * Returns one problem as a fact.
 * @param same its resources, newest first
 */
function problemOf(reading: Reading, same: readonly Entry[]): Fact | undefined {
  const [entry, ...others] = same;
  if (entry === undefined) return undefined;
  const { value } = entry;
  const name = nameOf(value.code, 'problem without a name');
  const [status = ''] = codes(value.clinicalStatus);
  const over = isOver(value);
  const until = when(value, 'abatement');
  const oldest = same.filter(({ dated }) => dated.date !== null).at(-1) ?? entry;
  const began = when(oldest.value, 'onset') ?? dayIn(oldest);
  const span = over
    ? line(' ', status, until === undefined ? undefined : `${began ?? '?'} to ${until}`)
    : line(' ', status, began === undefined ? undefined : `since ${began}`);
  const said = line(
    '; ',
    `${name}: ${span === '' ? 'status not recorded' : span}`,
    others.length === 0
      ? undefined
      : `recorded ${same.length} times, last ${dayIn(entry) ?? 'without a date'}`,
    concept(value.severity),
    unsure(value),
    notes(value.note),
  );
  const members = {
    ...codeMembers(value.code, name),
    clinical_status: status === '' ? null : status,
    onset: choice(oldest.value, 'onset') ?? null,
    abatement: choice(value, 'abatement') ?? null,
  };
  const fact = factOf(
    reading,
    'problems',
    over ? 'pastProblems' : 'problems',
    entry,
    said,
    members,
    value.code,
  );
  return { ...fact, also: others };
}

/** Returns the day of onset or abatement, or the text that the record has in its place. */
function when(value: JsonObject, name: 'onset' | 'abatement'): string | undefined {
  const moment = text(value[`${name}DateTime`]);
  return moment === undefined ? choice(value, name) : dayOf(moment);
}

/** Tells whether a problem or an allergy is no longer active. */
export function isOver({ clinicalStatus }: JsonObject): boolean {
  return codes(clinicalStatus).some((code) => ['inactive', 'remission', 'resolved'].includes(code));
}

/** Returns the verification status unless it is `confirmed`. */
function unsure({ verificationStatus }: JsonObject): string | undefined {
  return codes(verificationStatus).find((code) => code !== 'confirmed');
}

function since(entry: Entry): string | undefined {
  const day = dayIn(entry);
  return day === undefined ? undefined : `since ${day}`;
}

function factOf(
  reading: Reading,
  kind: Fact['kind'],
  base: Base,
  entry: Entry,
  said: string,
  members: JsonObject,
  code: JsonObject[string] | undefined,
  coded: readonly Coded[] = codedIn(code),
): Fact {
  const { focus, today } = reading;
  const ended = base.startsWith('past') ? daysBetween(entry.dated.at, today) : 0;
  // Facts that ended long ago matter less.
  const score = BASE[base][focus.work] - (ended > 1_100 ? 120 : 0);
  const about = { kind, text: said, codes: coded, ageDays: ageDays(reading, entry) };
  return {
    kind,
    text: said,
    entry,
    also: [],
    codes: coded,
    score: raiseForRequest(score, focus, about),
    members,
  };
}
