/** Generates random resources with R4's structure. They contain the elements that search parameters read, and few others. */
import fc from 'fast-check';
import {
  type ElementDefinition,
  type ElementType,
  isEnumerated,
  jsonName,
  PRIMITIVES,
  typeDefinition,
  valueSet,
} from '#src/fhir/definitions/tables.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Json } from '../naive/published.ts';
import { wordsOf } from '../naive/words.ts';
import * as pool from './pools.ts';

const of = <T>(values: readonly T[]) => fc.constantFrom(...values);
/** Returns any subset of the members, including each with a probability of one half. */
const some = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Json> =>
  fc.record(members, { requiredKeys: [] });
const listOf = <T>(value: fc.Arbitrary<T>) => fc.array(value, { minLength: 1, maxLength: 2 });

const date = of(pool.DAYS);
const dateTime = fc.oneof(date, of(pool.MOMENTS));
const coding = some({ system: of(pool.SYSTEMS), code: of(pool.CODES), display: of(pool.STRINGS) });
const concept = some({ coding: listOf(coding), text: of(pool.STRINGS) });
const identifier = some({ system: of(pool.SYSTEMS), value: of(pool.CODES), type: concept });
const measured = fc.oneof(
  fc.record({ value: of(pool.NUMBERS) }),
  fc.record({ value: of(pool.NUMBERS), unit: of(pool.UNITS) }),
  fc
    .tuple(of(pool.NUMBERS), of(pool.UNITS))
    .map(([value, code]) => ({ value, code, system: 'http://unitsofmeasure.org' })),
);
const compared = fc
  .tuple(of(pool.NUMBERS), of(['<', '<=', '>', '>=']), of(pool.UNITS))
  .map(([value, comparator, code]) => ({ value, comparator, code, system: 'http://unitsofmeasure.org' }));
const quantity = fc.oneof({ weight: 5, arbitrary: measured }, { weight: 1, arbitrary: compared });
const range = fc
  .tuple(of(pool.NUMBERS), of(pool.NUMBERS), of(['mg', 'g']), of([0, 1, 2]))
  .map(([one, other, code, open]) => {
    const end = (value: number) => ({ value, code, system: 'http://unitsofmeasure.org' });
    const [low, high] = [end(Math.min(one, other)), end(Math.max(one, other))];
    return open === 0 ? { low, high } : open === 1 ? { low } : { high };
  });
const period = fc.tuple(dateTime, dateTime, of([0, 1, 2])).map(([one, other, open]) => {
  const [start, end] = Date.parse(one) <= Date.parse(other) ? [one, other] : [other, one];
  return open === 0 ? { start, end } : open === 1 ? { start } : { end };
});

/** Values of datatypes, without the parts that no search reads. */
const DATATYPES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  boolean: fc.boolean(),
  date,
  dateTime,
  instant: of(pool.MOMENTS),
  string: of(pool.STRINGS),
  markdown: of(pool.STRINGS),
  uri: of(pool.URIS),
  url: of(pool.URIS),
  canonical: fc.oneof(of(pool.URIS), of(pool.URIS.map((uri) => `${uri}|1`))),
  CodeableConcept: concept,
  Coding: coding,
  Identifier: identifier,
  ContactPoint: fc.record({ system: of(['phone', 'email']), value: of(pool.CONTACTS) }),
  HumanName: some({ family: of(pool.STRINGS), given: listOf(of(pool.STRINGS)), text: of(pool.STRINGS) }),
  Address: some({
    line: listOf(of(pool.STRINGS)),
    city: of(pool.STRINGS),
    state: of(pool.STRINGS),
    postalCode: of(pool.STRINGS),
    country: of(pool.STRINGS),
    use: of(['home', 'work']),
  }),
  Quantity: quantity,
  SimpleQuantity: quantity,
  Age: quantity,
  Duration: quantity,
  Range: range,
  Period: period,
  Timing: fc.oneof(
    fc.record({ event: listOf(dateTime) }),
    fc.record({ repeat: fc.record({ boundsPeriod: period }) }),
  ),
  Meta: some({
    tag: listOf(coding),
    security: listOf(coding),
    profile: listOf(of(pool.URIS)),
    source: of(pool.URIS),
  }),
};

/** The context that a resource is generated in. */
interface Scope {
  /** Names of the elements that matter. */
  readonly words: ReadonlySet<string>;
  /** Types that references may point to. */
  readonly among: readonly ResourceType[];
}

/** Returns a resource's members. References are written as `Type/#n` for slot n, and are resolved when the ids are known. */
export function resourceOf(type: ResourceType, among: readonly ResourceType[]): fc.Arbitrary<Json> {
  return members(type, { words: wordsOf(type), among }, 0);
}

function members(type: string, scope: Scope, depth: number): fc.Arbitrary<Json> {
  const elements = typeDefinition(type).elements.filter(
    ({ name }) => scope.words.has(name) || name === 'meta',
  );
  const entries = elements.flatMap((element) => {
    const choices = element.types.flatMap((chosen) => {
      const value = valuesOf(element, chosen, scope, depth);
      if (value === undefined) return [];
      const name = jsonName(element, chosen.code);
      return [(element.list ? listOf(value) : value).map((each) => [name, each] as const)];
    });
    return choices.length === 0 ? [] : [fc.option(fc.oneof(...choices), { nil: undefined, freq: 3 })];
  });
  return fc
    .tuple(...entries)
    .map((found) => Object.fromEntries(found.filter((entry) => entry !== undefined)));
}

function valuesOf(
  element: ElementDefinition,
  { code, targets }: ElementType,
  scope: Scope,
  depth: number,
): fc.Arbitrary<unknown> | undefined {
  if (code === 'Reference') return reference(targets, scope.among);
  if (code === 'code') {
    const { binding } = element;
    const codes =
      binding !== undefined && isEnumerated(binding) ? Object.values(valueSet(binding)).flat() : [];
    return of(codes.length === 0 ? pool.OPEN_CODES : codes.slice(0, 3));
  }
  if (code in DATATYPES) return DATATYPES[code];
  if (PRIMITIVES.has(code) || depth === 3 || code === 'SampledData') return undefined;
  return members(code, scope, depth + 1);
}

function reference(
  targets: ReadonlySet<string> | undefined,
  among: readonly ResourceType[],
): fc.Arbitrary<unknown> {
  const here = among.filter((type) => targets === undefined || targets.has(type));
  const named = of(here.length === 0 ? ['ServiceRequest'] : here);
  const slot = fc.nat({ max: pool.SLOTS - 1 });
  const relative = fc.tuple(named, slot).map(([type, n]) => `${type}/#${n}`);
  return fc.oneof(
    { weight: 6, arbitrary: relative.map((text) => ({ reference: text })) },
    { weight: 1, arbitrary: relative.map((text) => ({ reference: `${text}/_history/1` })) },
    // For our own base URL, only types that the parameter may refer to, because there an id can't refer to anything else.
    {
      weight: here.length === 0 ? 0 : 1,
      arbitrary: relative.map((text) => ({ reference: `BASE/${text}` })),
    },
    { weight: 1, arbitrary: named.map((type) => ({ reference: `https://other.example/fhir/${type}/7` })) },
    { weight: 1, arbitrary: fc.record({ identifier }) },
    { weight: 1, arbitrary: fc.constant({ display: 'Somebody' }) },
  );
}
