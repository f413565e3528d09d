/** URIs: https://hl7.org/fhir/R4/search.html#uri */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { uriForm } from '#src/fhir/search/keys.ts';
import { folded, pieces, withoutIds } from '#src/fhir/search/text.ts';
import type { Binds } from '../../database/binds.ts';
import { formKeys, keysPredicate, parameterKeys, valuesPredicate } from '../predicates/conditions.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, unescaped } from '../raw.ts';

/** The maximum number of path segments in all URIs with `:above` together, because each segment is looked up. */
const MAX_PARTS = 1_000;

/**
 * Matches one of the URIs exactly. Comparing path segments, `:above` matches URIs above the given ones, and `:below` matches
 * URIs below them.
 * @throws Refusal `malformed` for any other modifier, and for URIs with too many segments
 */
export function uriPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  refuseModifier(parameter, ['above', 'below', 'missing']);
  const uris = parameter.values.map(unescaped);
  if (parameter.modifier === 'below') return below(parameterKeys(compiled, scope), uris);
  const parts = uris.reduce((sum, uri) => sum + uri.split('/').length, 0);
  if (parameter.modifier === 'above' && parts > MAX_PARTS) {
    throw badParameter(
      parameterKey(parameter),
      `the paths of the values can have at most ${MAX_PARTS} segments together`,
    );
  }
  const found = parameter.modifier === 'above' ? uris.flatMap(above) : uris;
  return keysPredicate(formKeys(compiled, found.map(uriForm), scope));
}

/** Returns a URI and its ancestors by path, each also with a trailing slash. */
function above(uri: string): string[] {
  const uris = [uri];
  for (let at = uri.lastIndexOf('/'); at > uri.indexOf('//') + 1; at = uri.lastIndexOf('/', at - 1)) {
    uris.push(uri.slice(0, at), uri.slice(0, at + 1));
  }
  return [...new Set(uris)];
}

/**
 * Index search.string_by_value (key, folded). Whole segments are compared, so an id in them is matched as a whole.
 */
function below(keys: readonly string[], uris: readonly string[]): Predicate {
  const condition = (binds: Binds) => {
    const any = uris.map((uri) => {
      const exact = binds.add(uri, 'text');
      const inside = binds.add(uri.endsWith('/') ? uri : `${uri}/`, 'text');
      const comparable = binds.add(pieces(withoutIds(folded(uri))).beginning, 'text');
      return `(s.folded >= ${comparable} and s.folded < ${comparable} || chr(1114111)
        and (s.exact = ${exact} or starts_with(s.exact, ${inside})))`;
    });
    return any.join(' or ');
  };
  return valuesPredicate({ table: 'string', as: 's', keys, condition });
}
