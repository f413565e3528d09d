/** Translates codes from one system to another with ConceptMaps. https://hl7.org/fhir/R4/conceptmap-operation-translate.html */

import type { Pool } from 'pg';
import { cut } from '#src/shared/cut.ts';
import type { Coded } from './codes.ts';
import { allOfType, findResource, notFound } from './known.ts';
import type { ConceptMap, MapGroup } from './resources.ts';

/** The code to translate, and the maps to use. */
export interface TranslateRequest {
  readonly codes: readonly Coded[];
  /** Canonical URL of the map; by default, any suitable map. */
  readonly url?: string | undefined;
  /** The map itself, if the request includes it. */
  readonly map?: ConceptMap | undefined;
  /** Canonical URLs of the value set from which the codes come, and of the value set to which they are translated. */
  readonly source?: string | undefined;
  readonly target?: string | undefined;
  /** The target code system. */
  readonly targetSystem?: string | undefined;
  /** Translates from a map's targets to its sources. */
  readonly reverse: boolean;
}

/** One translation. */
export interface Match {
  readonly equivalence: string;
  readonly concept: { readonly system?: string; readonly code: string; readonly display?: string };
  /** Canonical URL of the map. */
  readonly map: string;
}

/** Equivalences that mean that a code has no translation. */
const NONE = new Set(['unmatched', 'disjoint']);

/** For each equivalence, the equivalence in the opposite direction: `wider` becomes `narrower`. */
const INVERSE: Readonly<Record<string, string>> = {
  wider: 'narrower',
  narrower: 'wider',
  subsumes: 'specializes',
  specializes: 'subsumes',
};

/**
 * Translates a code.
 * @throws Refusal not_found (404) for an unknown map
 */
export async function translate(
  pool: Pool,
  request: TranslateRequest,
): Promise<{ readonly result: boolean; readonly matches: readonly Match[] }> {
  const maps = await mapsFor(pool, request);
  const matches = maps.flatMap((map) =>
    (map.group ?? []).flatMap((group) =>
      request.codes.flatMap((coded) => (request.reverse ? backwards : forwards)(map, group, coded)),
    ),
  );
  const wanted = matches.filter(
    ({ concept }) => request.targetSystem === undefined || concept.system === request.targetSystem,
  );
  return { result: wanted.some(({ equivalence }) => !NONE.has(equivalence)), matches: wanted };
}

async function mapsFor(pool: Pool, request: TranslateRequest): Promise<ConceptMap[]> {
  if (request.map !== undefined) return [request.map];
  const { url, source, target } = request;
  if (url !== undefined) {
    const map = await findResource(pool, 'ConceptMap', url);
    if (map === undefined) throw notFound(`concept map ${cut(url, 200)} doesn't exist`);
    return [map];
  }
  const fits = (asked: string | undefined, ...own: readonly (string | undefined)[]): boolean =>
    asked === undefined || own.includes(asked);
  return (await allOfType(pool, 'ConceptMap')).filter(
    ({ sourceUri, sourceCanonical, targetUri, targetCanonical }) =>
      fits(source, sourceUri, sourceCanonical) && fits(target, targetUri, targetCanonical),
  );
}

function forwards(map: ConceptMap, group: MapGroup, { system, code }: Coded): Match[] {
  if (system !== undefined && group.source !== undefined && system !== group.source) return [];
  const inTarget = group.target === undefined ? {} : { system: group.target };
  const element = group.element.find((each) => each.code === code);
  if (element !== undefined) {
    return (element.target ?? []).flatMap(({ code: to, display, equivalence }) =>
      to === undefined
        ? []
        : [{ equivalence, concept: { ...inTarget, code: to, ...withDisplay(display) }, map: map.url }],
    );
  }
  const { unmapped } = group;
  if (unmapped?.mode === 'provided')
    return [{ equivalence: 'equal', concept: { ...inTarget, code }, map: map.url }];
  if (unmapped?.mode === 'fixed' && unmapped.code !== undefined) {
    const concept = { ...inTarget, code: unmapped.code, ...withDisplay(unmapped.display) };
    return [{ equivalence: 'inexact', concept, map: map.url }];
  }
  return [];
}

function backwards(map: ConceptMap, group: MapGroup, { system, code }: Coded): Match[] {
  if (system !== undefined && group.target !== undefined && system !== group.target) return [];
  return group.element.flatMap((element) =>
    (element.target ?? []).flatMap(({ code: to, equivalence }) => {
      if (to !== code || element.code === undefined) return [];
      const inSource = group.source === undefined ? {} : { system: group.source };
      const concept = { ...inSource, code: element.code, ...withDisplay(element.display) };
      return [{ equivalence: INVERSE[equivalence] ?? equivalence, concept, map: map.url }];
    }),
  );
}

function withDisplay(display: string | undefined): { display?: string } {
  return display === undefined ? {} : { display };
}
