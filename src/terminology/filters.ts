/** Compiles the filters of value sets to SQL over a concept `c`. https://hl7.org/fhir/R4/valueset.html#filters */
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Bound } from './binds.ts';
import type { Filter } from './resources.ts';

/**
 * Direction in which a hierarchy is followed: down from the filter's concept, which suits whole sets, or up from each code,
 * which suits a few codes.
 */
export type Walk = 'down' | 'up';

/**
 * Returns SQL for the codes that a concept subsumes, including the concept itself.
 * @param from SQL for the concept's code
 * @param system SQL for the number of its code system
 */
export function subsumedBy(from: string, system: string): string {
  return `(with recursive below(code) as (
    select ${from} union select p.code from terminology.parent p join below b on p.parent = b.code
    where p.system = ${system}) select code from below)`;
}

/** Returns SQL for the codes that subsume a concept, including the concept itself. */
export function subsuming(from: string, system: string): string {
  return `(with recursive above(code) as (
    select ${from} union select p.parent from terminology.parent p join above a on p.code = a.code
    where p.system = ${system}) select code from above)`;
}

/**
 * Returns a filter as a SQL condition.
 * @param system SQL for the code system's number
 * @throws Refusal invalid (422) for an unknown filter
 */
export function filterSql({ property, op, value }: Filter, system: string, walk: Walk, bound: Bound): string {
  const own = property === 'concept' || property === 'code';
  const v = () => bound.add(value, 'text');
  const isA = () =>
    walk === 'down' ? `c.code in ${subsumedBy(v(), system)}` : `${v()} in ${subsuming('c.code', system)}`;
  const list = () =>
    bound.add(
      value.split(',').map((text) => text.trim()),
      'text[]',
    );
  switch (op) {
    case 'is-a':
      if (own) return isA();
      break;
    case 'descendent-of':
      if (own) return `c.code <> ${v()} and ${isA()}`;
      break;
    case 'is-not-a':
      if (own) return `not (${isA()})`;
      break;
    case 'generalizes':
      if (own) return `c.code in ${subsuming(v(), system)}`;
      break;
    case '=':
      if (own) return `c.code = ${v()}`;
      return `${v()} = any(${selectValues(property, bound)})`;
    case 'in':
      if (own) return `c.code = any(${list()})`;
      return `${list()} && ${selectValues(property, bound)}`;
    case 'not-in':
      if (own) return `c.code <> all(${list()})`;
      return `not ${list()} && ${selectValues(property, bound)}`;
    case 'regex': {
      const pattern = bound.pattern(`^(?:${value})$`);
      if (own) return `c.code ~ ${pattern}`;
      return `exists (select from unnest(${selectValues(property, bound)}) as x(value) where x.value ~ ${pattern})`;
    }
    case 'exists':
      if (value === 'true' || value === 'false')
        return `(cardinality(${selectValues(property, bound)}) > 0) = ${value}`;
      break;
  }
  throw new Refusal('invalid', {
    code: 'not-supported',
    diagnostics: cut(`the filter ${property} ${op} ${value} is not supported`, 300),
  });
}

/**
 * Returns SQL for a property's values as text[]. The values come from the hierarchy, from Annal's own columns, or from the
 * code system's other properties.
 */
function selectValues(property: string, bound: Bound): string {
  switch (property) {
    case 'parent':
      return 'array(select p.parent from terminology.parent p where p.system = c.system and p.code = c.code)';
    case 'child':
      return 'array(select p.code from terminology.parent p where p.system = c.system and p.parent = c.code)';
    case 'display':
      return 'array_remove(array[c.display], null)';
    case 'category':
      return 'array_remove(array[c.category], null)';
    case 'unit':
      return 'array_remove(array[c.unit], null)';
    case 'inactive':
      return `array[(not c.active)::text]`;
    default: {
      const said = `c.properties -> ${bound.add(property, 'text')}`;
      return `array(select jsonb_array_elements_text(
        case jsonb_typeof(${said}) when 'array' then ${said} when 'string' then jsonb_build_array(${said}) else '[]'::jsonb end))`;
    }
  }
}
