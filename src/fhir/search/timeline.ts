/** Supports searches by code in chronological order, by storing dates with the codes of the values that they date. */
import { jsonName, typeDefinition } from '../definitions/tables.ts';
import type { ResourceType } from '../types.ts';
import type { CompiledParameter } from './compiled-parameter.ts';

/** A token parameter, and the date parameter by which resources with the same code are ordered. */
export interface Timeline {
  readonly code: string;
  readonly date: string;
}

/** At most one per type; each costs a write one additional index row and nothing more. */
const TIMELINES: Partial<Record<ResourceType, Timeline>> = {
  AllergyIntolerance: { code: 'code', date: 'date' },
  Condition: { code: 'code', date: 'onset-date' },
  DiagnosticReport: { code: 'code', date: 'date' },
  Encounter: { code: 'type', date: 'date' },
  Immunization: { code: 'vaccine-code', date: 'date' },
  MedicationRequest: { code: 'code', date: 'authoredon' },
  MedicationStatement: { code: 'code', date: 'effective' },
  Observation: { code: 'code', date: 'date' },
  Procedure: { code: 'code', date: 'date' },
};

/** Returns a type's timeline. */
export function findTimeline(type: ResourceType): Timeline | undefined {
  return TIMELINES[type];
}

/** Returns a type's parameters; the date parameter of its timeline also gets the paths to the codes. */
export function withTimeline(
  type: ResourceType,
  parameters: readonly CompiledParameter[],
): readonly CompiledParameter[] {
  const timeline = findTimeline(type);
  const codes = parameters.find(({ code }) => code === timeline?.code)?.paths;
  if (timeline === undefined || codes === undefined) return parameters;
  const base = { steps: [], type };
  return parameters.map((parameter) =>
    parameter.code !== timeline.date
      ? parameter
      : {
          ...parameter,
          paths: parameter.paths.map((path) => ({ about: { base, values: path, codes }, ...path })),
        },
  );
}

const singles = new WeakMap<CompiledParameter['paths'], boolean>();

/**
 * Returns whether a resource has at most one value for a parameter. This requires that the parameter's paths be the types of a
 * single element that isn't a list.
 */
export function isSingle(type: ResourceType, { paths }: Pick<CompiledParameter, 'paths'>): boolean {
  const before = singles.get(paths);
  if (before !== undefined) return before;
  const single = haveOneElement(type, paths);
  singles.set(paths, single);
  return single;
}

function haveOneElement(type: ResourceType, paths: CompiledParameter['paths']): boolean {
  const elements = paths.map(({ steps: [step, ...others] }) =>
    others.length > 0
      ? undefined
      : typeDefinition(type).elements.find((element) =>
          element.types.some(({ code }) => jsonName(element, code) === step),
        ),
  );
  const [first] = elements;
  return first !== undefined && !first.list && elements.every((element) => element === first);
}
