import { expect } from 'chai';
import { isDuring } from '#src/fhir/during.ts';
import { toMicros } from '#src/shared/time/time.ts';

/** https://hl7.org/fhir/R4/datatypes.html#Period: the end includes any matching time. */
describe('a moment in a Period', () => {
  const noon = toMicros('2026-05-15T12:00:00Z');
  const cases: readonly [string, unknown, boolean][] = [
    ['no period', undefined, true],
    ['an empty one', {}, true],
    ['ends that are extensions only', { _start: { extension: [] }, _end: { extension: [] } }, true],
    ['a start this day', { start: '2026-05-15' }, true],
    ['a start the next day', { start: '2026-05-16' }, false],
    ['a start this month', { start: '2026-05' }, true],
    ['a start the next month', { start: '2026-06' }, false],
    ['a start this year', { start: '2026' }, true],
    ['a start the next year', { start: '2027' }, false],
    ['a start at this very second', { start: '2026-05-15T12:00:00Z' }, true],
    ['a start a millisecond later', { start: '2026-05-15T12:00:00.001Z' }, false],
    ['a start at this moment elsewhere', { start: '2026-05-15T14:00:00+02:00' }, true],
    ['a start that only reads as earlier', { start: '2026-05-15T09:00:00-05:00' }, false],
    ['a start that only reads as the next day', { start: '2026-05-16T01:00:00+14:00' }, true],
    ['an end this day', { end: '2026-05-15' }, true],
    ['an end the day before', { end: '2026-05-14' }, false],
    ['an end this month', { end: '2026-05' }, true],
    ['an end the month before', { end: '2026-04' }, false],
    ['an end this year', { end: '2026' }, true],
    ['an end the year before', { end: '2025' }, false],
    ['an end at this very second', { end: '2026-05-15T12:00:00Z' }, true],
    ['an end a second before', { end: '2026-05-15T11:59:59Z' }, false],
    ['an end that only reads as later', { end: '2026-05-15T13:30:00+02:00' }, false],
    ['an end that only reads as earlier', { end: '2026-05-15T08:30:00-05:00' }, true],
    ['both ends about it', { start: '2026-05-15', end: '2026-05-15' }, true],
    ['both ends before', { start: '2020', end: '2025-12' }, false],
    ['both ends after', { start: '2026-06', end: '2030' }, false],
    ['an end that is no date', { end: '2026-02-30' }, false],
  ];
  for (const [name, period, inside] of cases) {
    it(`${name}: ${inside ? 'in' : 'out'}`, () => expect(isDuring(period, noon)).to.equal(inside));
  }
});
