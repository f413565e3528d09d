/** Warnings: contradictions in the record, and counts of resources that patient safety leaves out. */

import { concept } from '#src/clinical/reading/words.ts';
import { codes } from '#src/fhir/parts.ts';
import { type Drug, FORBIDDEN, isOver } from './clinical.ts';
import { DAY, dayOf } from './dates.ts';
import { CLASSES } from './drugs.ts';
import { inLine } from './fact.ts';
import { codedIn, dayIn, entriesOf, nameOf, type Reading } from './reading.ts';
import { type Entry, versionedOf } from './record.ts';
import type { Coded } from './scores.ts';

/** A warning. */
export interface Warning {
  readonly kind: 'contradiction' | 'gap' | 'left_out' | 'not_found';
  readonly text: string;
  /** Versions that it is about. */
  readonly fhir: readonly string[];
  /** Number of resources, in warnings that count some. */
  readonly count?: number;
}

const contradiction = (text: string, ...entries: readonly Entry[]): Warning => ({
  kind: 'contradiction',
  text,
  fhir: [...new Set(entries.map(versionedOf))],
});

/** Returns a warning for each current drug that an allergy speaks against: the same substance, ATC group or class. */
export function allergyContradictions(reading: Reading, drugs: readonly Drug[]): Warning[] {
  const current = drugs.filter(({ isCurrent }) => isCurrent);
  return entriesOf(reading, 'AllergyIntolerance')
    .filter(({ value }) => !isOver(value))
    .flatMap((allergy) => {
      const substance = concept(allergy.value.code) ?? '';
      const all = codedIn(allergy.value.code);
      return current
        .filter((drug) => isAgainst(drug, substance, all))
        .map((drug) =>
          contradiction(
            `${inLine(drug.name)} is ${drug.status}, but there is an allergy to ${inLine(substance)}`,
            drug.entry,
            allergy,
          ),
        );
    });
}

function isAgainst(drug: Drug, substance: string, all: readonly Coded[]): boolean {
  const name = drug.name.toLowerCase();
  const word = substance.toLowerCase().trim();
  const named = CLASSES.filter(({ words }) => words.test(substance));
  // A class's name may end another drug's: nystatin isn't a statin, apomorphine isn't an opioid.
  const isClass = named.length > 0 || CLASSES.some(({ words }) => words.test(drug.name));
  const has = isClass ? hasWord : (text: string, part: string) => text.includes(part);
  if (word.length > 3 && (has(name, word) || (name.length > 3 && has(word, name)))) return true;
  const atc = atcOf(drug.codes);
  const same = atcOf(all).some((code) => {
    const group = code.slice(0, CHEMICAL_GROUP);
    return group.length >= SMALLEST_GROUP && atc.some((each) => each.startsWith(group));
  });
  return (
    same ||
    named.some(({ words, codes: group }) => words.test(drug.name) || atc.some((each) => group.test(each)))
  );
}

/** Tells whether a text has another from the beginning of a word on. */
function hasWord(text: string, part: string): boolean {
  const [whole, wanted] = [text, part].map((each) => ` ${each.replace(/[^\p{L}\p{N}]+/gu, ' ')}`);
  return whole?.includes(wanted ?? '') === true;
}

/** Lengths of ATC codes: 3 characters are a therapeutic group, 5 a chemical group, 7 a substance. */
const [SMALLEST_GROUP, CHEMICAL_GROUP, SUBSTANCE] = [3, 5, 7];

function atcOf(all: readonly Coded[]): string[] {
  return all.flatMap(({ system, code }) => (/atc/i.test(system) ? [code.trim().toUpperCase()] : []));
}

/** Statuses of drugs that aren't taken (FHIR R4 medication statuses). */
const NOT_TAKEN: ReadonlySet<string> = new Set(['stopped', 'completed', 'on-hold', 'not taken', FORBIDDEN]);

/** Returns warnings for drugs that are both active and not, active in several doses, or active after their end. */
export function drugContradictions({ today }: Reading, drugs: readonly Drug[]): Warning[] {
  return groupsOf(drugs).flatMap((same) => {
    const names = new Map(same.map(({ name }) => [name.toLowerCase(), name]));
    const name = inLine([...names.values()].join(' / '));
    const active = same.filter(({ status }) => status === 'active');
    const [one, other] = active;
    if (one === undefined) return [];
    const over = same.find((drug) => NOT_TAKEN.has(drug.status) && overlaps(drug, one));
    const ended = active.find(({ end }) => end !== undefined && Date.parse(end) < today - DAY);
    return [
      ...(over === undefined
        ? []
        : [contradiction(`${name} is both active and ${over.status}`, one.entry, over.entry)]),
      ...(other === undefined
        ? []
        : [
            contradiction(
              `${name} is active in several doses: ${active.map(({ dose }) => inLine(dose ?? 'not said')).join('; ')}`,
              ...active.map(({ entry }) => entry),
            ),
          ]),
      ...(ended?.end === undefined
        ? []
        : [
            contradiction(
              `${inLine(ended.name)} is active, but its end was ${dayOf(ended.end)}`,
              ended.entry,
            ),
          ]),
    ];
  });
}

/** Groups drugs by substance: by ATC code, by name where there is no code. */
function groupsOf(drugs: readonly Drug[]): Drug[][] {
  const substanceOf = (drug: Drug): string | undefined =>
    atcOf(drug.codes).find(({ length }) => length === SUBSTANCE);
  const bySubstance = new Map<string, Drug[]>();
  const byName = new Map<string, Drug[]>();
  for (const drug of drugs) {
    const substance = substanceOf(drug);
    if (substance === undefined) add(byName, drug.name.toLowerCase(), drug);
    else add(bySubstance, substance, drug);
  }
  for (const coded of bySubstance.values()) {
    for (const name of new Set(coded.map((drug) => drug.name.toLowerCase()))) {
      for (const drug of byName.get(name) ?? []) coded.push(drug);
    }
  }
  const coded = new Set([...bySubstance.values()].flat());
  const others = [...byName.values()].filter((same) => same.some((drug) => !coded.has(drug)));
  return [...bySubstance.values(), ...others];
}

function add<T>(groups: Map<string, T[]>, key: string, item: T): void {
  if (groups.get(key)?.push(item) === undefined) groups.set(key, [item]);
}

/** Tells whether two courses overlap; one that ended before the other began contradicts nothing. */
function overlaps({ end }: Drug, { start }: Drug): boolean {
  return end === undefined || start === undefined || Date.parse(end) > Date.parse(start);
}

/** Returns a warning for each problem that is both active and over. */
export function problemContradictions(reading: Reading): Warning[] {
  const byProblem = new Map<string, Entry[]>();
  for (const entry of entriesOf(reading, 'Condition')) {
    const [code] = codedIn(entry.value.code);
    const key =
      code === undefined ? (concept(entry.value.code) ?? '').toLowerCase() : `${code.system}|${code.code}`;
    add(byProblem, key, entry);
  }
  return [...byProblem.values()].flatMap((same) => {
    const active = same.find(({ value }) => codes(value.clinicalStatus).includes('active'));
    const over = same.find(({ value }) => isOver(value) && !endedBefore(value, active));
    if (active === undefined || over === undefined) return [];
    const [status] = codes(over.value.clinicalStatus);
    return [
      contradiction(
        `${inLine(concept(active.value.code) ?? 'a problem')} is both active and ${status}`,
        active,
        over,
      ),
    ];
  });
}

/** Tells whether an episode ended before another began, which contradicts nothing. */
function endedBefore({ abatementDateTime }: Entry['value'], active: Entry | undefined): boolean {
  if (typeof abatementDateTime !== 'string' || active === undefined) return false;
  return Date.parse(abatementDateTime) <= active.dated.at;
}

/** Types of resources that describe something past or begun. */
const HAPPENED = [
  ...['Observation', 'DiagnosticReport', 'Condition', 'AllergyIntolerance', 'MedicationStatement'],
  ...['Procedure', 'Immunization'],
];
/** Statuses of events that may be in the future, or that never happened. */
const TO_COME: ReadonlySet<string> = new Set([
  ...['intended', 'on-hold', 'preparation', 'not-done', 'registered', 'cancelled'],
]);
/** Most resources that a warning names. */
const NAMED = 5;

/** Returns a warning about resources dated after today: they would rank as the newest. */
export function futureDates(reading: Reading): Warning[] {
  const { facts } = reading.opened;
  const later = HAPPENED.flatMap((type) => {
    const entries = facts.get(type) ?? [];
    // Entries are sorted newest first.
    const past = entries.findIndex(({ dated }) => dated.at <= reading.today + DAY);
    return past < 0 ? entries : entries.slice(0, past);
  }).filter(({ value }) => !TO_COME.has(String(value.status)));
  if (later.length === 0) return [];
  const named = later.slice(0, NAMED).map((entry) => {
    const { code, vaccineCode, medicationCodeableConcept } = entry.value;
    const said = nameOf(code ?? vaccineCode ?? medicationCodeableConcept, entry.type);
    return `${inLine(said)} (${dayIn(entry) ?? ''})`;
  });
  const more = later.length > NAMED ? `, and ${later.length - NAMED} more` : '';
  return [contradiction(`dated after today: ${named.join(', ')}${more}`, ...later.slice(0, NAMED))];
}

/** Returns a warning per reason for which resources were left out, with their number. */
export function leftOutWarnings({ opened }: Reading): Warning[] {
  return [...opened.leftOut]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, count]) => ({
      kind: 'left_out',
      text: `${count} ${count === 1 ? 'resource' : 'resources'} ${reason} left out`,
      fhir: [],
      count,
    }));
}
