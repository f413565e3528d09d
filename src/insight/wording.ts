/** Puts findings into words: what was observed, without explanation or advice. Pure. */

import { dayIn } from '#src/shared/time/day.ts';
import { RHYTHM_METHODS } from './detect/rhythm.ts';
import type { Finding } from './finding.ts';
import type { Coded } from './track.ts';

/** Names of codes, by `system|code`. */
export type Names = ReadonlyMap<string, string>;

/** Returns a unit as people write it. */
export type WriteUnit = (unit: string) => string;

/** Returns a finding's title, on one line. */
export function writeTitle(finding: Finding, names: Names, writeUnit: WriteUnit): string {
  const { kind, codes, direction, effect, window, method } = finding;
  const [first = 'values', second = 'values'] = codes.map((code) => nameCode(code, names));
  const period = `from ${dayIn(window.from)} to ${dayIn(window.to)}`;
  const size = quantity(Math.abs(effect.value), effect.unit, writeUnit);
  switch (kind) {
    case 'trend':
    case 'change_point':
      return `${first} ${writePredicate(finding, writeUnit)}`;
    case 'out_of_range':
      return `${first} was ${direction} its reference range ${finding.evidence.length} times in a row ${period}`;
    case 'gap':
      return `No ${first} was recorded for ${rounded(effect.value)} days ${period}`;
    case 'correlation':
      if (method === RHYTHM_METHODS.day) return `${first} differed by up to ${size} between times of the day`;
      if (method === RHYTHM_METHODS.week)
        return `${first} differed by up to ${size} between days of the week`;
      if (effect.since !== undefined)
        return `${second} was ${direction === 'up' ? 'higher' : 'lower'} by about ${size} in the year after ${dayIn(effect.since)}, when ${first} is recorded to have started, than in the year before`;
      return `${first} and ${second} varied ${direction === 'together' ? 'together' : 'in opposite directions'}${lag(effect.lag_days ?? 0, first, second)}`;
  }
}

/**
 * Returns a short predicate for a trend or change, for text that already states the newest value.
 * @param isDated whether to state when a trend began
 */
export function writeBriefPredicate(
  { kind, direction, effect, window }: Finding,
  isDated: boolean,
  writeUnit: WriteUnit,
): string {
  const size = quantity(Math.abs(effect.value), effect.unit, writeUnit);
  if (kind === 'change_point')
    return `${direction === 'up' ? 'higher' : 'lower'} by about ${size} since ${dayIn(effect.since ?? '')}`;
  const since = isDated ? ` since ${dayIn(window.from)}` : '';
  return `${direction === 'up' ? 'rose' : 'fell'} by about ${size}${since}`;
}

/** Returns the predicate for a trend or change. */
function writePredicate({ kind, direction, effect, window }: Finding, writeUnit: WriteUnit): string {
  const size = quantity(Math.abs(effect.value), effect.unit, writeUnit);
  if (kind === 'change_point')
    return `was ${direction === 'up' ? 'higher' : 'lower'} by about ${size} since ${dayIn(effect.since ?? '')}`;
  return `${direction === 'up' ? 'rose' : 'fell'} by about ${size} from ${dayIn(window.from)} to ${dayIn(window.to)}`;
}

function lag(days: number, first: string, second: string): string {
  if (Math.abs(days) < 0.5) return '';
  return days > 0
    ? `, ${second} ${rounded(days)} days after ${first}`
    : `, ${first} ${rounded(-days)} days after ${second}`;
}

function nameCode({ system, code }: Coded, names: Names): string {
  return names.get(`${system}|${code}`) ?? code;
}

function quantity(value: number, unit: string | null, writeUnit: WriteUnit): string {
  return `${rounded(value)} ${writeUnit(unit ?? '')}`.trim();
}

/** Three significant digits are enough in words. */
const rounded = (value: number): number => Number(value.toPrecision(3));
