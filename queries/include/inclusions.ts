/** Parses `_include` and `_revinclude`: https://hl7.org/fhir/R4/search.html#revinclude */

import { isR4ResourceType } from '#src/fhir/definitions/tables.ts';
import { includable, leadsAnywhere, mayName } from '#src/fhir/search/inclusions.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { badParameter } from '../search/raw.ts';
import { isInclusion } from '../search/shape.ts';

/** An inclusion: resources that the matches refer to, or (if `reverse`) resources that refer to the matches. */
export interface Inclusion {
  readonly reverse: boolean;
  /** True if it is also applied to the included resources. */
  readonly iterate: boolean;
  /** The types of the referring resources, with the reference parameters to follow. */
  readonly sources: ReadonlyMap<ResourceType, readonly string[]>;
  /** The type to which the reference must lead; undefined for any type. */
  readonly target?: string;
  /** True if it doesn't name a parameter: `*`, `Type:*`. */
  readonly wildcard?: true;
}

/** The maximum number of inclusions per query: each is followed from every match. */
const MAX_INCLUSIONS = 100;

/**
 * Parses a query's inclusions: `Type:parameter`, `Type:parameter:Target`, `Type:*`, `*`; with `:iterate`, they are also
 * applied to included resources. Empty values and duplicates are left out.
 * @throws Refusal `malformed` naming the parameter, for any other modifier, for a value that isn't a reference parameter, and
 * for too many inclusions
 */
export function parseInclusions(query: URLSearchParams): Inclusion[] {
  const inclusions: Inclusion[] = [];
  const seen = new Set<string>();
  for (const [key, text] of query) {
    if (!isInclusion(key) || text === '' || seen.has(`${key}=${text}`)) continue;
    seen.add(`${key}=${text}`);
    if (seen.size > MAX_INCLUSIONS)
      throw badParameter(
        key,
        `a search can have at most ${MAX_INCLUSIONS} _include and _revinclude parameters`,
      );
    const [name, modifier, ...more] = key.split(':');
    if (more.length > 0 || (modifier !== undefined && modifier !== 'iterate'))
      throw badParameter(key, `modifier :${key.slice(key.indexOf(':') + 1, 50)} is not supported`);
    const reverse = name === '_revinclude';
    inclusions.push({ reverse, iterate: modifier === 'iterate', ...parseValue(key, text) });
  }
  return inclusions;
}

function parseValue(key: string, text: string): Pick<Inclusion, 'sources' | 'target' | 'wildcard'> {
  if (text === '*') return { sources: everything(), wildcard: true };
  const [type, code, target, ...more] = text.split(':');
  if (code === undefined || code === '' || more.length > 0)
    throw badParameter(key, 'the value must be Type:parameter, Type:parameter:Target, Type:* or *');
  if (!isResourceType(type))
    throw badParameter(
      key,
      `${cut(type ?? '', 64)} is not a supported resource type${didYouMean(type ?? '', TYPE_NAMES)}`,
    );
  if (code !== '*' && !includable(type).includes(code))
    throw badParameter(
      key,
      `${type} has no reference parameter ${cut(code, 64)}${didYouMean(code, includable(type))}`,
    );
  if (target !== undefined && !isR4ResourceType(target))
    throw badParameter(key, `${cut(target, 64)} is not a resource type${didYouMean(target, TYPE_NAMES)}`);
  return {
    sources: new Map([[type, code === '*' ? includable(type) : [code]]]),
    ...(target === undefined ? {} : { target }),
    ...(code === '*' ? { wildcard: true } : {}),
  };
}

/**
 * Returns the types that an inclusion names, or to which its parameter leads. A wildcard includes whatever the grant covers,
 * and so does a parameter that may refer to any type.
 */
export function typesNamedBy({ reverse, sources, target, wildcard }: Inclusion): readonly ResourceType[] {
  const own = target !== undefined && isResourceType(target) ? [target] : [];
  if (wildcard === true) return sources.size === 1 ? [...sources.keys(), ...own] : own;
  if (reverse || target !== undefined) return [...sources.keys(), ...own];
  return [...sources].flatMap(([source, codes]) => [
    source,
    ...codes.flatMap((code) => TYPE_NAMES.filter((type) => isNamedBy(source, code, type))),
  ]);
}

function isNamedBy(source: ResourceType, code: string, type: ResourceType): boolean {
  return !leadsAnywhere(source, code) && mayName(source, code, type);
}

let all: Inclusion['sources'] | undefined;

function everything(): Inclusion['sources'] {
  all ??= new Map(TYPE_NAMES.map((type) => [type, includable(type)]));
  return all;
}
