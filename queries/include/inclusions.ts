/** `_include` and `_revinclude`, understood: https://hl7.org/fhir/R4/search.html#revinclude */
import { isR4ResourceType } from '#src/fhir/definitions/tables.ts';
import { includable } from '#src/fhir/search/inclusions.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { badParameter } from '../search/raw.ts';

/** What is to be shown beside the matches: the resources that they refer to, or (`reverse`) that refer to them. */
export interface Inclusion {
  readonly reverse: boolean;
  /** Whether what it brings is followed in its turn. */
  readonly iterate: boolean;
  /** Types of the resources that refer, with the reference parameters that are followed. */
  readonly sources: ReadonlyMap<ResourceType, readonly string[]>;
  /** The type that must be referred to; undefined: any. */
  readonly target?: string;
}

const NAMES: ReadonlySet<string> = new Set(['_include', '_revinclude']);

/** Most inclusions of a query: each is followed from every match. */
const MAX_INCLUSIONS = 100;

/** Whether a key of a query (with its modifier) asks for inclusions. */
export function isInclusion(key: string): boolean {
  return NAMES.has(key.split(':', 1)[0] ?? '');
}

/**
 * The inclusions of a query: `Type:parameter`, `Type:parameter:Target`, `Type:*`, `*`; with `:iterate` repeated over what
 * they bring. Empty values and repetitions are left out.
 * @throws Refusal `malformed` naming the parameter, for another modifier, for what names no reference parameter, and for
 * one too many.
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

function parseValue(key: string, text: string): Pick<Inclusion, 'sources' | 'target'> {
  if (text === '*') return { sources: everything() };
  const [type, code, target, ...more] = text.split(':');
  if (code === undefined || code === '' || more.length > 0)
    throw badParameter(key, 'the value must be Type:parameter, Type:parameter:Target, Type:* or *');
  if (!isResourceType(type))
    throw badParameter(
      key,
      `${type?.slice(0, 64)} is not a supported resource type${didYouMean(type ?? '', TYPE_NAMES)}`,
    );
  if (code !== '*' && !includable(type).includes(code))
    throw badParameter(
      key,
      `${type} has no reference parameter ${code.slice(0, 64)}${didYouMean(code, includable(type))}`,
    );
  if (target !== undefined && !isR4ResourceType(target))
    throw badParameter(key, `${target.slice(0, 64)} is not a resource type${didYouMean(target, TYPE_NAMES)}`);
  return {
    sources: new Map([[type, code === '*' ? includable(type) : [code]]]),
    ...(target === undefined ? {} : { target }),
  };
}

let all: Inclusion['sources'] | undefined;

function everything(): Inclusion['sources'] {
  all ??= new Map(TYPE_NAMES.map((type) => [type, includable(type)]));
  return all;
}
