/** Collects facts about events and plans: visits, operations, vaccinations, documents, care plans. */

import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { nameCoded, nameCodes } from '#src/clinical/reading/names/name-code.ts';
import { isIdea } from '#src/clinical/reading/status.ts';
import { readCodes } from '#src/clinical/reading/told.ts';
import { subpotentText } from '#src/clinical/reading/vaccinations.ts';
import { choice } from '#src/clinical/reading/words.ts';
import { codes, first, objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { DAY } from './dates.ts';
import { type Fact, line } from './fact.ts';
import { type Base, CHILD_VACCINES, raiseForRequest, scoreAtPlace } from './guidance/scores.ts';
import {
  ageDays,
  around,
  codeMembers,
  findDay,
  listEntries,
  listStated,
  lookUp,
  nameOr,
  type Reading,
} from './reading.ts';
import type { Entry } from './record.ts';
import type { Kind } from './request.ts';

/** Returns visits and hospital stays, newest first. */
export function encounters(reading: Reading): Fact[] {
  const count = { visits: 0, stays: 0 };
  return listEntries(reading, 'Encounter')
    .filter(({ value }) => value.status !== 'cancelled' && value.status !== 'planned')
    .map((entry, n) => {
      const { value } = entry;
      const code = text(first(value.class)?.code) ?? '';
      const [base, word]: ['visits' | 'stays', string] = STAYS.has(code)
        ? ['stays', code === 'EMER' ? 'emergency visit' : 'stay in hospital']
        : ['visits', 'visit'];
      const end = text(first(value.period)?.end);
      const last =
        base === 'stays' && end !== undefined && dayIn(end) !== findDay(entry) ? ` to ${dayIn(end)}` : '';
      const said = line(
        ': ',
        `${word} ${findDay(entry) ?? 'without a date'}${last}`,
        readReason(reading, value) ?? nameConcept(value.type),
      );
      const place = count[base];
      count[base] += 1;
      const members = {
        class: code === '' ? null : code,
        end: end ?? null,
        status: text(value.status) ?? null,
      };
      return { ...makeFact(reading, 'encounters', base, place, entry, said, members), place: n };
    });
}

/** Classes of encounters that are treated as stays rather than visits. http://terminology.hl7.org/CodeSystem/v3-ActCode */
const STAYS: ReadonlySet<string> = new Set(['IMP', 'ACUTE', 'NONAC', 'OBSENC', 'SS', 'EMER']);

function readReason(
  reading: Reading,
  { reasonCode, reasonReference, diagnosis }: JsonObject,
): string | undefined {
  const said = nameConcept(reasonCode);
  if (said !== undefined) return said;
  const referred = [
    ...objects(reasonReference),
    ...objects(diagnosis).flatMap(({ condition }) => objects(condition)),
  ];
  return (
    line(', ', ...referred.map(({ reference }) => nameConcept(lookUp(reading, reference)?.value.code))) ||
    undefined
  );
}

/** Returns procedures. A procedure that was repeated at the same body site is listed once, with the number of repetitions. */
export function procedures(reading: Reading): Fact[] {
  const byName = new Map<string, Entry[]>();
  for (const entry of listEntries(reading, 'Procedure')) {
    const { status, code, bodySite } = entry.value;
    if (status === 'preparation' || status === 'not-done') continue;
    const name = line(', ', nameOr(code, 'procedure without a name'), nameConcept(bodySite));
    if (byName.get(name)?.push(entry) === undefined) byName.set(name, [entry]);
  }
  return [...byName].flatMap(([name, [entry, ...others]], place) => {
    if (entry === undefined) return [];
    const { value } = entry;
    const said = line(
      '; ',
      line(' ', name, findDay(entry) ?? choice(value, 'performed')),
      others.length === 0
        ? undefined
        : `${others.length + 1} times since ${others.map(findDay).findLast((day) => day !== undefined) ?? 'an unknown time'}`,
      nameConcept(value.outcome),
      complicationText(entry),
      ...others.map((other) => complicationText(other, findDay(other) ?? 'no date')),
      value.status === 'completed' ? undefined : nameCodes('en', 'eventStatus', value.status),
      reasonText(value.statusReason),
    );
    const members = { ...codeMembers(value.code, name), times: others.length + 1 };
    const fact = makeFact(reading, 'procedures', 'procedures', place / 2, entry, said, members, value.code);
    return [{ ...fact, also: others }];
  });
}

/**
 * Returns a procedure's complications.
 * @param day the procedure's day, unless it is the newest of several
 */
function complicationText({ value }: Entry, day?: string): string | undefined {
  const said = nameConcept(value.complication);
  const of = day === undefined ? '' : ` (${day})`;
  return said === undefined ? undefined : `complication${of}: ${said}`;
}

/** Returns why something has its status. */
function reasonText(statusReason: Json | undefined, reason = nameConcept(statusReason)): string | undefined {
  return reason === undefined ? undefined : `reason: ${reason}`;
}

function whyNotGiven({ statusReason }: JsonObject): string | undefined {
  return reasonText(statusReason, nameCoded('en', statusReason, 'noImmunization'));
}

/** Returns vaccinations, one line per vaccine, and one per vaccine that wasn't given and reason. */
export function immunizations(reading: Reading): Fact[] {
  const byVaccine = new Map<string, Entry[]>();
  for (const entry of listStated(reading, 'Immunization')) {
    const { status, vaccineCode } = entry.value;
    if (status !== 'completed' && status !== 'not-done') continue;
    const why = status === 'completed' ? undefined : whyNotGiven(entry.value);
    const key = `${String(status)} ${why} ${nameOr(vaccineCode, 'vaccine without a name')}`;
    if (byVaccine.get(key)?.push(entry) === undefined) byVaccine.set(key, [entry]);
  }
  const isChild = isYoung(reading);
  return [...byVaccine.values()].flatMap(([latest, ...others], place) => {
    if (latest === undefined) return [];
    const days = [latest, ...others].map(doseDay);
    const shown = days.length > 5 ? [...days.slice(0, 4), `and ${days.length - 4} before`] : days;
    const { vaccineCode, status } = latest.value;
    const name = nameOr(vaccineCode, 'vaccine without a name');
    const isGiven = status === 'completed';
    const members = { ...codeMembers(vaccineCode, name), doses: isGiven ? days.length : 0 };
    const said = isGiven
      ? line(': ', name, shown.join(', '))
      : line(
          '; ',
          `${name}: ${nameCodes('en', 'immunizationStatus', status) ?? 'not given'} ${shown.join(', ')}`,
          whyNotGiven(latest.value),
        );
    const fact = makeFact(
      reading,
      'immunizations',
      'immunizations',
      place / 5,
      latest,
      said,
      members,
      vaccineCode,
    );
    return [
      { ...fact, also: others, score: fact.score + (isChild && fact.score < 700 ? CHILD_VACCINES.worth : 0) },
    ];
  });
}

/** Returns when a dose was given, and whether it was too weak to count. */
function doseDay(entry: Entry): string {
  const day = findDay(entry) ?? choice(entry.value, 'occurrence') ?? 'no date';
  const subpotent = subpotentText(entry.value, 'en');
  return subpotent === undefined ? day : `${day} (${subpotent})`;
}

/** Returns whether the patient is young enough for primary vaccinations to be still in progress. */
function isYoung({ opened, today }: Reading): boolean {
  const birth = Date.parse(text(opened.patient?.value.birthDate) ?? '');
  return today - birth < CHILD_VACCINES.underYears * 365.25 * DAY;
}

/** Returns documents, and reports that have a conclusion. */
export function documents(reading: Reading): Fact[] {
  const reports = listEntries(reading, 'DiagnosticReport').filter(
    ({ value: { conclusion, conclusionCode, status } }) =>
      (conclusion !== undefined || conclusionCode !== undefined) &&
      status !== 'registered' &&
      status !== 'cancelled',
  );
  const current = listEntries(reading, 'DocumentReference').filter(({ value }) => value.status === 'current');
  return [...current, ...reports]
    .sort((a, b) => b.dated.at - a.dated.at)
    .map((entry, place) => {
      const { value } = entry;
      const [content] = objects(value.content);
      const title = text(first(content?.attachment)?.title);
      const kind = entry.type === 'DiagnosticReport' ? nameConcept(value.code) : nameConcept(value.type);
      const name = kind ?? title ?? 'document';
      const about = line(
        '; ',
        title === name ? undefined : title,
        unfinished(value),
        text(value.description),
        text(value.conclusion),
        nameConcept(value.conclusionCode),
      );
      const said = line(': ', line(' ', name, findDay(entry)), about);
      const code: Json | undefined = entry.type === 'DiagnosticReport' ? value.code : value.type;
      return makeFact(
        reading,
        'documents',
        'documents',
        place / 2,
        entry,
        said,
        codeMembers(code, name),
        code,
      );
    });
}

/** Returns the status of a document or report, if it isn't final. */
function unfinished({ docStatus, status }: JsonObject): string | undefined {
  const said = text(docStatus) ?? text(status) ?? '';
  return ['preliminary', 'partial', 'unknown'].includes(said)
    ? nameCodes('en', 'resultStatus', said)
    : undefined;
}

/** Returns care plans, care teams, and goals, except goals with the same name as a plan. */
export function plans(reading: Reading): Fact[] {
  // After a death, no plan is current; all plans are counted as past plans.
  if (around(reading).died !== undefined) return [];
  const carePlans = listEntries(reading, 'CarePlan').filter(
    ({ value }) =>
      ['active', 'on-hold'].includes(text(value.status) ?? '') &&
      value.intent !== 'proposal' &&
      value.intent !== 'option',
  );
  const titles = new Set(carePlans.map(({ value }) => text(value.title)?.toLowerCase()));
  const goals = listEntries(reading, 'Goal').filter(
    ({ value }) =>
      !['completed', 'cancelled', 'rejected', 'proposed'].includes(text(value.lifecycleStatus) ?? '') &&
      !titles.has(nameConcept(value.description)?.toLowerCase()),
  );
  const teams = listEntries(reading, 'CareTeam').filter(({ value }) => value.status === 'active');
  const lines: [Entry, string][] = [
    ...carePlans.map((entry): [Entry, string] => [entry, planLine(entry.value)]),
    ...goals.map((entry): [Entry, string] => [
      entry,
      line('; ', `aim: ${nameConcept(entry.value.description) ?? 'not said'}`, goalState(entry.value)),
    ]),
    ...teams.map((entry): [Entry, string] => [
      entry,
      `care team: ${text(entry.value.name) ?? nameConcept(entry.value.category) ?? 'without a name'}`,
    ]),
  ];
  return lines.map(([entry, said], place) => {
    const when = findDay(entry);
    const whole = line('; ', said, when === undefined ? undefined : `since ${when}`);
    return makeFact(reading, 'plans', 'plans', place / 4, entry, whole, {
      status: text(entry.value.status) ?? codes(entry.value.lifecycleStatus)[0] ?? null,
    });
  });
}

/** Returns the state of a goal, if it isn't active, and the reason for the state. */
function goalState({ lifecycleStatus, statusReason }: JsonObject): string | undefined {
  const reason = text(statusReason);
  return (
    line(
      '; ',
      lifecycleStatus === 'active' ? undefined : nameCodes('en', 'goalStatus', lifecycleStatus),
      reason === undefined ? undefined : `reason: ${reason}`,
    ) || undefined
  );
}

/** Statuses of care plans and goals that have ended. */
const OVER: ReadonlySet<string> = new Set(['completed', 'revoked', 'cancelled']);

/** Returns the number of care plans and goals that have ended. */
export function countPastPlans(reading: Reading): number {
  const { facts } = reading.opened;
  const isDead = around(reading).died !== undefined;
  const carePlans = (facts.get('CarePlan') ?? []).filter(
    ({ value: { status, intent } }) => (isDead || OVER.has(text(status) ?? '')) && !isIdea(intent),
  );
  const goals = (facts.get('Goal') ?? []).filter(
    ({ value }) => isDead || OVER.has(text(value.lifecycleStatus) ?? ''),
  );
  return carePlans.length + goals.length;
}

function planLine({ title, category, description, activity }: JsonObject): string {
  const name = text(title) ?? nameConcept(category) ?? text(description) ?? 'plan without a name';
  const activities = objects(activity).flatMap(({ detail, reference }) => {
    const { code, description: said } = first(detail) ?? {};
    return nameConcept(code) ?? text(said) ?? text(first(reference)?.display) ?? [];
  });
  return line(': ', name, activities.join(', '));
}

function makeFact(
  reading: Reading,
  kind: Kind,
  base: Base,
  place: number,
  entry: Entry,
  said: string,
  members: JsonObject,
  code?: Json,
): Fact {
  const about = { kind, text: said, codes: readCodes(code), ageDays: ageDays(reading, entry) };
  return {
    kind,
    text: said,
    entry,
    also: [],
    codes: about.codes,
    score: raiseForRequest(scoreAtPlace(base, reading.focus.work, place), reading.focus, about),
    members,
  };
}
