/** Location's `near`: `latitude|longitude|distance|units`. https://hl7.org/fhir/R4/location.html#positional */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { LATITUDE, LONGITUDE } from '#src/fhir/search/extract.ts';
import { canonicalRange } from '#src/fhir/units/canonical.ts';
import { cut } from '#src/shared/cut.ts';
import type { Binds } from '../../database/binds.ts';
import { equalsOneOf, parameterKeys, valuesPredicate } from '../predicates/conditions.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, split, unescaped } from '../raw.ts';

/** Radius of the Earth in metres (mean, IUGG). */
const EARTH = 6_371_008.8;
/** Metres per degree of latitude. */
const DEGREE = (EARTH * Math.PI) / 180;
/** The default distance, in kilometres, the default unit. R4 lets the server choose it. */
const DEFAULT_DISTANCE = '50';

interface Circle {
  readonly latitude: number;
  readonly longitude: number;
  /** In metres. */
  readonly radius: number;
}

/**
 * Matches positions within one of the circles, on a sphere.
 * @throws Refusal `malformed`
 */
export function nearPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  refuseModifier(parameter, ['missing']);
  const circles = parameter.values.map((value) => parseCircle(parameter, value));
  const longitudes = parameterKeys(compiled, scope, LONGITUDE);
  return valuesPredicate({
    table: 'quantity',
    as: 'q',
    keys: parameterKeys(compiled, scope, LATITUDE),
    condition: (binds) => circles.map((circle) => `(${within(circle, longitudes, binds)})`).join(' or '),
  });
}

/**
 * Returns the condition on latitudes `q`: the index search.quantity_by_low (key, low) selects the band of latitudes, and the
 * haversine formula computes the distance.
 */
function within({ latitude, longitude, radius }: Circle, keys: readonly string[], binds: Binds): string {
  const number = (value: number) => binds.add(String(value), 'numeric');
  const [north, east] = [`${number(latitude)}::float8`, `${number(longitude)}::float8`];
  const haversine = `sind((q.low::float8 - ${north}) / 2) ^ 2
    + cosd(${north}) * cosd(q.low::float8) * sind((l.low::float8 - ${east}) / 2) ^ 2`;
  // Adds half a millimetre, so that rounding doesn't exclude points that are exactly on the circle.
  const reach = radius + 0.0005;
  return `q.low between ${number(latitude - reach / DEGREE)} and ${number(latitude + reach / DEGREE)}
    and exists (select from search.quantity l where l.id = q.id and ${equalsOneOf('l.key', keys, binds)}
      and 2 * ${EARTH} * asin(sqrt(least(1, ${haversine}))) <= ${number(reach)}::float8)`;
}

const DECIMAL = /^[+-]?(?:\d{1,12}(?:\.\d{0,20})?|\.\d{1,20})$/;

function parseCircle(parameter: RawParameter, text: string): Circle {
  const [latitude = '', longitude = '', distance = '', unit = '', ...others] = split(text, '|').map(
    unescaped,
  );
  const numbers = [latitude, longitude, distance === '' ? DEFAULT_DISTANCE : distance];
  if (others.length > 0 || !numbers.every((each) => DECIMAL.test(each))) {
    throw badParameter(parameterKey(parameter), 'the value must be latitude|longitude|distance|units');
  }
  const [north = 0, east = 0, length = 0] = numbers.map(Number);
  if (Math.abs(north) > 90 || Math.abs(east) > 180 || length < 0) {
    throw badParameter(
      parameterKey(parameter),
      'the latitude must be between -90 and 90, the longitude between -180 and 180, and the distance at least 0',
    );
  }
  return { latitude: north, longitude: east, radius: metres(parameter, length, unit === '' ? 'km' : unit) };
}

function metres(parameter: RawParameter, length: number, unit: string): number {
  const [metre, asked] = [
    canonicalRange('m', '1', '1'),
    canonicalRange(unit, String(length), String(length)),
  ];
  if (asked === undefined || asked.dimension !== metre?.dimension) {
    throw badParameter(parameterKey(parameter), `${cut(unit, 50)} is not a UCUM unit of length`);
  }
  return Number(asked.low);
}
