/**
 * Compares dates with elements that are periods, or times with a given precision: https://hl7.org/fhir/R4/search.html#prefix
 */
import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import type { Period } from '#src/fhir/search/period.ts';
import { isSingle } from '#src/fhir/search/timeline.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Binds } from '../../database/binds.ts';
import { parameterKeys, valuesPredicate } from '../predicates/conditions.ts';
import { type Prefix, parsePrefixedDate } from '../predicates/dates.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { periodsFrom, type Span } from '../predicates/span.ts';
import { parameterKey, type RawParameter, refuseModifier } from '../raw.ts';

/**
 * Matches any of the dates.
 * @throws Refusal `malformed`
 */
export function datePredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  refuseModifier(parameter, ['missing']);
  const span = dateSpan(parameter, scope);
  return valuesPredicate({
    table: 'period',
    as: 'p',
    keys: parameterKeys(compiled, scope),
    single: isSingle(scope.type, compiled),
    condition: dateCondition(parameter, scope),
    ...(span === undefined ? {} : { span }),
  });
}

/**
 * Returns the span of periods that follows from any of the dates; undefined if a lower bound already limits where the periods
 * begin, or if there are no bounds.
 */
export function dateSpan(parameter: RawParameter, { now }: Pick<SearchScope, 'now'>): Span | undefined {
  const dates = parameter.values.map((value) => parsePrefixedDate(parameterKey(parameter), value));
  if (dates.every(({ prefix }) => prefix === 'eq' || prefix === 'sa')) return undefined;
  const ends = dates.map(({ prefix, period }) => earliestEnd(prefix, period, now));
  return ends.every((end) => end !== undefined)
    ? periodsFrom(ends.reduce((first, end) => Math.min(first, end)))
    : undefined;
}

/** Returns the earliest possible end of a period that matches a date. */
function earliestEnd(prefix: Prefix, { from, to, isWithin }: Period, now: Micros): Micros | undefined {
  switch (prefix) {
    case 'eq':
    case 'ge':
      return from;
    case 'gt':
    case 'sa':
      return isWithin === true ? from : to;
    case 'ap':
      return from - approximateSlack(from, now);
    default:
      return undefined;
  }
}

/** Returns the tolerance of `ap`: a tenth of the date's distance from now. */
function approximateSlack(from: Micros, now: Micros): number {
  return Math.abs(now - from) / 10;
}

/**
 * Returns the condition that rows `p` of search.period match one of the dates.
 * @throws Refusal `malformed`
 */
export function dateCondition(
  parameter: RawParameter,
  { now }: Pick<SearchScope, 'now'>,
): (binds: Binds) => string {
  const dates = parameter.values.map((value) => parsePrefixedDate(parameterKey(parameter), value));
  return (binds) =>
    dates.map(({ prefix, period }) => `(${condition(prefix, period, now, binds)})`).join(' or ');
}

/** Prefixes that match if a part of a period is before or after a date. */
const OPEN: ReadonlySet<Prefix> = new Set(['lt', 'le', 'gt', 'ge']);

/**
 * Every condition includes `p.low` if it implies a bound for it: index search.period_by_low (key, low). A date may be finer
 * than a microsecond, which is the precision of periods here; part of its microsecond is then before the date, and part is
 * after it.
 */
function condition(prefix: Prefix, period: Period, now: Micros, binds: Binds): string {
  const isInverted = period.isWithin === true && OPEN.has(prefix);
  const [from, to] = isInverted ? [period.to, period.from] : [period.from, period.to];
  const bound = (moment: Micros) => binds.add(Math.round(moment), 'int8');
  const low = () => bound(from);
  const high = () => bound(to);
  switch (prefix) {
    case 'eq':
      return `p.low >= ${low()} and p.low < ${high()} and p.high <= ${high()}`;
    case 'ne':
      return `p.low < ${low()} or p.high > ${high()}`;
    case 'gt':
      return `p.high > ${high()}`;
    case 'ge':
      return `p.low >= ${low()} or p.high > ${high()}`;
    case 'lt':
      return `p.low < ${low()}`;
    case 'le':
      return `p.low < ${low()} or p.low < ${high()} and p.high <= ${high()}`;
    case 'sa':
      return `p.low >= ${high()}`;
    case 'eb':
      return `p.low < ${low()} and p.high <= ${low()}`;
    case 'ap': {
      const slack = approximateSlack(from, now);
      return `p.low < ${bound(to + slack)} and p.high > ${bound(from - slack)}`;
    }
  }
}
