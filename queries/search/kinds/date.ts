/** Dates against elements that are periods, or moments of some precision: https://hl7.org/fhir/R4/search.html#prefix */
import { parameterKey } from '#src/fhir/search/keys.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import type { Period } from '#src/fhir/search/period.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Binds } from '../../binds.ts';
import { type Prefix, parsePrefixedDate } from '../dates.ts';
import type { SearchScope } from '../parameter.ts';
import { type Predicate, valuesPredicate } from '../predicate.ts';
import { keyOf, type RawParameter, refuseModifier } from '../raw.ts';

/** Any of the dates. @throws Refusal `malformed` */
export function datePredicate(
  parameter: RawParameter,
  { code }: CompiledParameter,
  { tenant, type, now }: SearchScope,
): Predicate {
  refuseModifier(parameter);
  const key = searchKey(parameterKey(tenant, type, code));
  const dates = parameter.values.map((value) => parsePrefixedDate(keyOf(parameter), value));
  const any = (binds: Binds) =>
    dates.map(({ prefix, period }) => `(${condition(prefix, period, now, binds)})`).join(' or ');
  return valuesPredicate({ table: 'period', as: 'p', key, condition: any });
}

/** `p.low` is in every condition that it can bound: index search.period_by_low (key, low). */
function condition(prefix: Prefix, { from, to }: Period, now: Micros, binds: Binds): string {
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
      const slack = Math.abs(now - from) / 10;
      return `p.low < ${bound(to + slack)} and p.high > ${bound(from - slack)}`;
    }
  }
}
