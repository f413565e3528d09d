/** Determines which findings monitor this patient's illnesses and drugs, and warns about overdue ones. */

import type { Medicine } from '#src/clinical/reading/medicines.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { isOver } from '#src/clinical/reading/status.ts';
import { readCodes } from '#src/clinical/reading/told.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { NAMELESS } from './clinical.ts';
import { DAY, daysBetween } from './dates.ts';
import { inLine } from './fact.ts';
import { DRUGS } from './guidance/drugs.ts';
import type { Due } from './guidance/due.ts';
import { findIllnesses } from './guidance/illnesses.ts';
import type { Measure } from './guidance/measures.ts';
import type { MonitoredFindings } from './guidance/scores.ts';
import { listEntries, type Reading } from './reading.ts';
import { type Entry, versionReference } from './record.ts';
import type { Series } from './series.ts';
import type { Warning } from './warnings.ts';

interface Monitor {
  readonly name: string;
  readonly entry: Entry;
  readonly watch: readonly Measure[];
  readonly due: readonly Due[];
}

/** Findings to monitor, and the illnesses and drugs that require them. */
export interface Monitoring extends MonitoredFindings {
  readonly watchers: readonly Monitor[];
}

/** Returns the findings to monitor because of active problems and current medicines. */
export function findMonitoring(reading: Reading, medicines: readonly Medicine<Entry>[]): Monitoring {
  const seen = new Set<string>();
  const ofIllness = listEntries(reading, 'Condition').flatMap((entry): Monitor[] => {
    const { value } = entry;
    const name = nameConcept(value.code) ?? '';
    if (isOver(value.clinicalStatus) || seen.has(name)) return [];
    seen.add(name);
    const icd = readCodes(value.code).flatMap(({ system, code }) => (/icd/i.test(system) ? [code] : []));
    return findIllnesses(name, icd).map(({ watch, due = [] }) => ({ name, entry, watch, due }));
  });
  const ofDrug = medicines.flatMap(
    ({ name = NAMELESS, codes: all, standing, sources: [source] }): Monitor[] =>
      source !== undefined && (standing === 'current' || standing === 'unclear')
        ? DRUGS.filter(
            ({ codes, words }) =>
              words.test(name) || all.some(({ system, code }) => /atc/i.test(system) && codes.test(code)),
          ).map(({ watch, due = [] }) => ({ name, entry: source.told, watch, due }))
        : [],
  );
  return {
    byDrug: placesIn(ofDrug),
    byIllness: placesIn(ofIllness),
    watchers: [...ofIllness, ...ofDrug],
  };
}

function placesIn(watchers: readonly Monitor[]): Map<Measure, number> {
  const places = new Map<Measure, number>();
  for (const { watch } of watchers) {
    for (const [place, measure] of watch.entries()) {
      places.set(measure, Math.min(place, places.get(measure) ?? place));
    }
  }
  return places;
}

/** Returns a warning for each overdue finding. */
export function gapWarnings(
  { today, covered }: Reading,
  { watchers }: Monitoring,
  series: readonly Series[],
): Warning[] {
  const coverage = covered('Observation');
  if (coverage === 'none') return [];
  const among = coverage === 'all' ? '' : ' among what the grant covers';
  const found = new Map<string, Warning>();
  for (const { name, entry, due } of watchers) {
    for (const { measures, name: finding, days } of due) {
      const latest = findNewest(series, measures, today + DAY);
      const isDue = latest === undefined || daysBetween(latest.dated.at, today) > days;
      if (!isDue || found.has(finding)) continue;
      const last = latest?.dated.date;
      const when = last === undefined || last === null ? 'none is recorded' : `the last is of ${dayIn(last)}`;
      found.set(finding, {
        kind: 'gap',
        text: `${inLine(name)}: no ${finding} within ${days} days${among}; ${when}`,
        fhir: [entry, ...(latest === undefined ? [] : [latest])].map(versionReference),
      });
    }
  }
  return [...found.values()];
}

/** Returns the newest value that isn't dated later than a given time. */
function findNewest(
  series: readonly Series[],
  measures: readonly Measure[],
  until: number,
): Entry | undefined {
  return series
    .filter(({ measure }) => measure !== undefined && measures.includes(measure))
    .flatMap(({ entries }) => entries.find(({ dated }) => dated.at <= until) ?? [])
    .sort((a, b) => b.dated.at - a.dated.at)[0];
}
