/** Converts records of the judged set to tracks, and decides whether a planted effect was found. */
import type { Finding } from '#src/insight/finding.ts';
import { DAY, inOrder, type Point, type Track } from '#src/insight/track.ts';
import type { JudgedRecord, JudgedSeries } from './judged-set.ts';

const START = Date.UTC(2020, 0, 6, 8);

/** Returns a record's tracks. */
export function tracksOf({ series }: JudgedRecord): Track[] {
  return series.map(trackOf);
}

function trackOf({ code, values, range }: JudgedSeries): Track {
  const points = values.map(({ day, value, comparator }, n): Point => {
    const at = START + Math.round(day * DAY);
    return {
      date: new Date(at).toISOString(),
      at,
      offset: 0,
      value,
      bound: comparator ?? null,
      low: range?.low ?? null,
      high: range?.high ?? null,
      source: { fhir: `Observation/${code}-${n}`, version: 1, authorType: 'device' },
    };
  });
  return { codes: [{ system: 'http://loinc.org', code }], unit: 'mmol/L', points: inOrder(points) };
}

/** Returns whether a record's findings include the planted effect: its kind, its direction and its place. */
export function isFound({ planted, series }: JudgedRecord, findings: readonly Finding[]): boolean {
  if (planted === undefined) return findings.length > 0;
  const dayOf = (date: string | undefined): number => (Date.parse(date ?? '') - START) / DAY;
  const last = series[0]?.values.at(-1)?.day ?? 0;
  const tells = ({ kind, direction, effect, window }: Finding): boolean => {
    switch (planted.kind) {
      case 'trend':
        return kind === 'trend' && direction === (planted.change > 0 ? 'up' : 'down');
      case 'step':
        return (
          kind === 'change_point' &&
          direction === (planted.size > 0 ? 'up' : 'down') &&
          Math.abs(dayOf(effect.since) - planted.day) <= last / 5
        );
      case 'gap':
        return (
          kind === 'gap' &&
          Math.abs(dayOf(window.from) - planted.from) < 0.01 &&
          Math.abs(dayOf(window.to) - planted.to) < 0.01
        );
      case 'lag':
        return (
          kind === 'correlation' &&
          direction === (planted.rho > 0 ? 'together' : 'opposite') &&
          Math.abs((effect.lag_days ?? -1) - planted.days) <= Math.max(0.5, planted.days / 4)
        );
    }
  };
  return findings.some(tells);
}
