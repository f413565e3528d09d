/** Rules 22 to 28: sex and age for diagnoses, units, and code formats. */

import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { canonicalRange } from '#src/fhir/units/canonical.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { ATC, bundledResources, LOINC } from '#src/terminology/bundled/bundled.ts';
import type { Concept } from '#src/terminology/resources.ts';
import { limitsOf } from './limits.ts';
import {
  codesIn,
  codingsIn,
  eachRecord,
  eachResource,
  nameOf,
  type RecordView,
  type Rule,
  walk,
} from './view.ts';

interface Known {
  readonly display: string;
  readonly category?: string;
  readonly unit?: string;
}

let known: ReadonlyMap<string, Known> | undefined;

/** Returns a code from the bundled LOINC or ATC; undefined if it isn't bundled. */
function bundled(system: string, code: string): Known | undefined {
  known ??= new Map(
    bundledResources().flatMap((resource): [string, Known][] => {
      if (resource.resourceType !== 'CodeSystem' || (resource.url !== LOINC && resource.url !== ATC))
        return [];
      const entries: [string, Known][] = [];
      const add = (concepts: readonly Concept[]): void => {
        for (const concept of concepts) {
          entries.push([`${resource.url}|${concept.code}`, { ...concept, display: concept.display ?? '' }]);
          add(concept.concept ?? []);
        }
      };
      add(resource.concept ?? []);
      return entries;
    }),
  );
  return known.get(`${system}|${code}`);
}

const SEXES: readonly (readonly [code: string, sex: string, from: number, to: number])[] = [
  ['19080-1', 'female', 12, 55],
  ['82810-3', 'female', 12, 55],
  ['Z34', 'female', 12, 55],
  ['O', 'female', 12, 55],
  ['2857-1', 'male', 35, 120],
  ['C61', 'male', 35, 120],
  ['N40', 'male', 35, 120],
];

/** Minimum age for diagnoses, in years. */
const ADULT_DIAGNOSES: Readonly<Record<string, number>> = {
  E11: 25,
  I10: 25,
  I48: 30,
  I50: 40,
  J44: 35,
  N18: 30,
  G30: 60,
  C50: 25,
  C61: 40,
  M81: 50,
  M10: 25,
  E78: 18,
  D51: 30,
};

const systemFaults = (
  record: RecordView,
  system: string,
  check: (coding: { code: string; display: string }, resource: JsonObject) => string | undefined,
): string[] =>
  record.resources.flatMap((resource) => {
    const faults: string[] = [];
    walk(resource, (object) => {
      for (const coding of codingsIn(object)) {
        const fault = coding.system === system ? check(coding, resource) : undefined;
        if (fault !== undefined) faults.push(`${nameOf(resource)}: ${coding.code} ${fault}`);
      }
    });
    return faults;
  });

const at = (resource: JsonObject): number =>
  Date.parse(String(resource.onsetDateTime ?? resource.effectiveDateTime));

export const CODE_RULES: readonly Rule[] = [
  eachRecord('pregnancy is of women, the prostate of men', (record) =>
    [...record.of('Condition'), ...record.of('Observation')].flatMap((resource) =>
      codesIn(resource.code).flatMap((code) =>
        SEXES.filter(([prefix]) => (prefix.includes('-') ? code === prefix : code.startsWith(prefix)))
          .filter(([, sex, from, to]) => {
            const age = record.age(at(resource));
            return record.patient.gender !== sex || age < from || age > to;
          })
          .map(() => `${nameOf(resource)}: ${code} of a ${String(record.patient.gender)} person`),
      ),
    ),
  ),
  eachResource('diagnoses fit the age', 'Condition', (condition, record) =>
    codesIn(condition.code)
      .filter((code) => record.age(at(condition)) < (ADULT_DIAGNOSES[code.slice(0, 3)] ?? 0))
      .map((code) => `${code} at ${record.age(at(condition))} years`),
  ),
  eachRecord('units are UCUM, of the dimension of the code', (record) =>
    record.values().flatMap(({ code, unit, name }) => {
      const own = canonicalRange(unit, '1', '1')?.dimension;
      const wanted = bundled(LOINC, code)?.unit ?? limitsOf(code, 40)?.unit ?? '';
      return own !== undefined && own === canonicalRange(wanted, '1', '1')?.dimension
        ? []
        : [`${name}: ${unit} for ${code}`];
    }),
  ),
  eachRecord('LOINC codes have their check digit, and the words that LOINC has', (record) =>
    systemFaults(record, LOINC, ({ code, display }) => {
      if (/^LA\d{1,6}-\d$/.test(code)) return undefined; // an answer
      if (!isLoincCode(code)) return 'is no LOINC code';
      const there = bundled(LOINC, code);
      return there === undefined || there.display === display
        ? undefined
        : `is “${there.display}”, not “${display}”`;
    }),
  ),
  eachRecord('diagnoses are ICD-10', (record) => [
    ...systemFaults(record, 'http://hl7.org/fhir/sid/icd-10', ({ code, display }) =>
      /^[A-TV-Z]\d\d(\.\d)?$/.test(code) && display !== 'undefined'
        ? undefined
        : 'is no ICD-10 code with its words',
    ),
    ...record
      .of('Condition')
      .filter(({ code }) => codingsIn(code).every(({ system }) => !system.endsWith('/icd-10')))
      .map((one) => `${nameOf(one)}: no ICD-10`),
  ]),
  eachRecord('medications and vaccines are ATC of the fifth level, with the words that ATC has', (record) => [
    ...systemFaults(record, ATC, ({ code, display }) => {
      if (!/^[A-DGHJLMNPRSV]\d\d[A-Z]{2}\d\d$/.test(code)) return 'is no substance of ATC';
      const there = bundled(ATC, code);
      return there === undefined || there.display === display
        ? undefined
        : `is “${there.display}”, not “${display}”`;
    }),
    ...[...record.of('MedicationStatement'), ...record.of('Immunization')]
      .filter(({ medicationCodeableConcept: medication, vaccineCode: vaccine }) =>
        codingsIn(medication ?? vaccine).every(({ system }) => system !== ATC),
      )
      .map((one) => `${nameOf(one)}: no ATC`),
  ]),
  eachResource('observations are in the category of their code', 'Observation', (observation) => {
    const [category] = Array.isArray(observation.category) ? observation.category.filter(isObject) : [];
    const [own] = codesIn(category);
    const [code = ''] = codesIn(observation.code);
    const wanted = bundled(LOINC, code)?.category;
    if (own === undefined) return ['no category'];
    return wanted === undefined || wanted === own ? [] : [`${code} is ${wanted}, not ${own}`];
  }),
];
