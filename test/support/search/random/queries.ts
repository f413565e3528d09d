/** Generates random queries for values that occur in random resources. */
import fc from 'fast-check';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { PREFIXES } from '../naive/interval.ts';
import { type Published, publishedParameter } from '../naive/published.ts';
import { judgedCodes } from '../naive/words.ts';
import * as pool from './pools.ts';

const of = <T>(values: readonly T[]) => fc.constantFrom(...values);
const escaped = (text: string) => text.replaceAll(/[\\,|$]/g, '\\$&');

const token = fc.oneof(
  of(pool.CODES),
  of([...pool.CODES, ...pool.OPEN_CODES, ...pool.CONTACTS, 'true', 'false', 'active', 'final', 'male']),
  fc.tuple(of(pool.SYSTEMS), of([...pool.CODES, ''])).map(([system, code]) => `${system}|${code}`),
  of(pool.CODES).map((code) => `|${code}`),
);
const prefix = of(['', ...PREFIXES]);
const date = fc
  .tuple(prefix, fc.oneof(of(pool.DAYS), of(pool.MOMENTS)))
  .map(([before, text]) => before + text);
const unit = fc.oneof(
  fc.constant(''),
  of(pool.UNITS).map((code) => `|http://unitsofmeasure.org|${code}`),
  of(pool.UNITS).map((code) => `||${code}`),
);
const quantity = fc
  .tuple(prefix, of([...pool.NUMBERS.map(String), '1.0', '1.50', '0.0010']), unit)
  .map((parts) => parts.join(''));
const string = fc
  .tuple(of(pool.STRINGS), fc.boolean(), of([1, 3, 100]))
  .map(([text, upper, length]) => escaped((upper ? text.toUpperCase() : text).slice(0, length)));
const uri = of(pool.URIS);

/** Values for each parameter type, and the modifiers to combine with them. */
const KINDS: Readonly<Record<string, { values: fc.Arbitrary<string>; modifiers: readonly string[] }>> = {
  token: { values: token, modifiers: ['', '', ':not'] },
  date: { values: date, modifiers: [''] },
  quantity: { values: quantity, modifiers: [''] },
  string: { values: string, modifiers: ['', '', ':exact', ':contains'] },
  uri: { values: uri, modifiers: ['', ':below', ':above'] },
};

const slot = fc.nat({ max: pool.SLOTS - 1 }).map((n) => `#${n}`);

function reference({ code, targets }: Published): fc.Arbitrary<string> {
  const types = targets.filter(isResourceType);
  const named = of(types.length === 0 ? ['ServiceRequest'] : types);
  return fc.oneof(
    fc.tuple(named, slot).map(([type, n]) => `${code}=${type}/${n}`),
    fc.tuple(named, slot).map(([type, n]) => `${code}=BASE/${type}/${n}`),
    fc.tuple(named, slot).map(([type, n]) => `${code}=@${type}/${n}`),
    types.length === 0
      ? fc.constant(`${code}:missing=false`)
      : fc.tuple(named, slot).map(([type, n]) => `${code}:${type}=@${type}/${n}`),
    fc
      .oneof(
        of(pool.URIS),
        named.map((type) => `https://other.example/fhir/${type}/7`),
      )
      .map((url) => `${code}=${url}`),
    of(pool.URIS).map((url) => `${code}=${escaped(`${url}|1`)}`),
    token.filter((text) => !text.startsWith('|')).map((text) => `${code}:identifier=${text}`),
  );
}

function composite({ code, parts }: Published): fc.Arbitrary<string> {
  const values = parts.map(({ type }) =>
    type === 'reference'
      ? slot.map((n) => `DocumentReference/${n}`)
      : (KINDS[type]?.values ?? fc.constant('')),
  );
  return fc.tuple(...values).map((texts) => `${code}=${texts.join('$')}`);
}

function simple(parameter: Published): fc.Arbitrary<string> {
  const { code, type } = parameter;
  if (type === 'reference') return reference(parameter);
  if (type === 'composite') return composite(parameter);
  const kind = KINDS[type];
  if (kind === undefined) throw new Error(`nothing is asked of ${type}`);
  return fc
    .tuple(of(kind.modifiers), fc.array(kind.values, { minLength: 1, maxLength: 2 }))
    .map(([modifier, values]) => `${code}${modifier}=${values.join(',')}`);
}

function published(type: ResourceType): Published[] {
  return judgedCodes(type).flatMap((code) => publishedParameter(type, code) ?? []);
}

/**
 * Returns one of a type's parameters with a value.
 * @param among types that chains and `_has` may use, up to `depth` levels
 */
export function conditionOf(
  type: ResourceType,
  among: readonly ResourceType[],
  depth: number,
): fc.Arbitrary<string> {
  const parameters = published(type);
  const plain = of(parameters).chain((parameter) =>
    fc.oneof(
      { weight: 6, arbitrary: simple(parameter) },
      {
        // R4: allowed for all parameters except composites.
        weight: parameter.type === 'composite' ? 0 : 1,
        arbitrary: fc.boolean().map((missing) => `${parameter.code}:missing=${missing}`),
      },
    ),
  );
  if (depth === 0) return plain;
  const links = parameters.flatMap(({ code, type: kind, targets }) =>
    kind === 'reference'
      ? among.filter((each) => targets.includes(each)).map((target) => ({ code, target }))
      : [],
  );
  const referring = (REFERRING.get(type) ?? []).filter(({ from }) => among.includes(from));
  const chains =
    links.length === 0
      ? []
      : [
          of(links).chain(({ code, target }) =>
            conditionOf(target, among, depth - 1).map((rest) => `${code}:${target}.${rest}`),
          ),
        ];
  const backwards =
    referring.length === 0
      ? []
      : [
          of(referring).chain(({ from, code }) =>
            conditionOf(from, among, depth - 1).map((rest) => `_has:${from}:${code}:${rest}`),
          ),
        ];
  return fc.oneof(
    { weight: 4, arbitrary: plain },
    ...[...chains, ...backwards].map((arbitrary) => ({ weight: 1, arbitrary })),
  );
}

/** Returns one of a type's date or quantity parameters twice, as two bounds on the same values. */
export function windowOf(type: ResourceType): fc.Arbitrary<string> {
  const ordered = published(type).filter((parameter) => ['date', 'quantity'].includes(parameter.type));
  if (ordered.length === 0) return conditionOf(type, [], 0);
  return of(ordered)
    .chain((parameter) => fc.tuple(simple(parameter), simple(parameter)))
    .map((parts) => parts.join('&'));
}

/** The types of random resources. Provenances aren't among them: searches use the Provenances that writes create. */
export const RANDOM_TYPES: readonly ResourceType[] = [
  'Patient',
  'Observation',
  'Condition',
  'MedicationStatement',
  'MedicationRequest',
  'AllergyIntolerance',
  'Immunization',
  'Procedure',
  'Encounter',
  'DiagnosticReport',
  'Specimen',
  'DocumentReference',
  'CarePlan',
  'CareTeam',
  'Goal',
  'RelatedPerson',
  'Device',
  'Practitioner',
  'PractitionerRole',
  'Organization',
  'Location',
  'Medication',
];

/** Maps a type to the reference parameters of other types that may refer to it. */
const REFERRING = new Map<ResourceType, { from: ResourceType; code: string }[]>();
for (const from of RANDOM_TYPES) {
  for (const { code, type, targets } of published(from)) {
    if (type !== 'reference') continue;
    for (const target of RANDOM_TYPES.filter((each) => targets.includes(each))) {
      REFERRING.set(target, [...(REFERRING.get(target) ?? []), { from, code }]);
    }
  }
}
