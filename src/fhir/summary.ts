/**
 * Reduces resources for `_summary` and `_elements`, based on `isSummary` in the definitions of their elements.
 * https://hl7.org/fhir/R4/search.html#summary, https://hl7.org/fhir/R4/search.html#elements
 */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { jsonName, PRIMITIVES, typeDefinition } from './definitions/tables.ts';
import type { ResourceType } from './types.ts';

/**
 * The part of a resource to return: a value of `_summary`, or the names of top-level elements (`value` for `value[x]`).
 */
export type Subset = 'true' | 'text' | 'data' | ReadonlySet<string>;

/** The tag that marks a resource as incomplete, so that clients don't write it back. */
const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
};

/**
 * Returns part of a resource, tagged SUBSETTED. `id`, `meta` and mandatory elements are always included. With `_elements`,
 * modifiers are included too, because the rest could be misread without them.
 */
export function takeSubset(resource: JsonObject, type: ResourceType, subset: Subset): JsonObject {
  const part = subset === 'data' ? { ...resource } : kept(resource, makePlan(type, subset));
  if (subset === 'data') delete part.text;
  const { meta } = resource;
  const tags = isObject(meta) && Array.isArray(meta.tag) ? meta.tag : [];
  const tagged = tags.some((tag) => isObject(tag) && tag.code === SUBSETTED.code);
  part.meta = { ...(isObject(meta) ? meta : {}), tag: tagged ? tags : [...tags, { ...SUBSETTED }] };
  return part;
}

/**
 * Returns the index of the SUBSETTED tag in `meta.tag`, under its current system or its system before R4; -1 if the tag is
 * absent.
 */
export function subsettedTag({ meta }: JsonObject): number {
  const tags = isObject(meta) && Array.isArray(meta.tag) ? meta.tag : [];
  return tags.findIndex(
    (tag) => isObject(tag) && tag.code === SUBSETTED.code && /\bObservationValue$/.test(String(tag.system)),
  );
}

/** Returns the name of a top-level element (`value` for `valueQuantity` and `value[x]`); undefined for unknown names. */
export function elementNamed(type: ResourceType, name: string): string | undefined {
  if (name === 'resourceType') return name;
  return typeDefinition(type).elements.find(
    (element) =>
      element.name === name ||
      (element.choice &&
        (name === `${element.name}[x]` ||
          element.types.some(({ code }) => jsonName(element, code) === name))),
  )?.name;
}

/** Returns the names of a type's top-level elements. The name of a choice doesn't include a type. */
export function elementNames(type: ResourceType): string[] {
  return typeDefinition(type).elements.map(({ name }) => name);
}

/** JSON name → the part of the value to keep: all of it, or a plan for a backbone element. */
type Plan = ReadonlyMap<string, 'whole' | Plan>;

const ALWAYS = ['resourceType', 'id', 'meta', 'implicitRules', 'modifierExtension'];
const OF_TEXT = ['resourceType', 'id', 'meta', 'text'];

const plans = new Map<string, Plan>();

function makePlan(type: ResourceType, subset: Exclude<Subset, 'data'>): Plan {
  if (typeof subset !== 'string') return elementsPlan(type, subset);
  const key = `${type} ${subset}`;
  const known = plans.get(key);
  if (known !== undefined) return known;
  const plan =
    subset === 'true'
      ? new Map([...whole(ALWAYS), ...summaryPlan(type)])
      : new Map([...whole(OF_TEXT), ...whole(selectNames(type, ({ required }) => required))]);
  plans.set(key, plan);
  return plan;
}

/** Returns the plan for summaries. The same rule applies inside backbone elements, but datatypes are kept whole. */
function summaryPlan(type: string): Plan {
  const plan = new Map<string, 'whole' | Plan>();
  for (const element of typeDefinition(type).elements) {
    if (!element.summary && !element.required) continue;
    for (const { code } of element.types) {
      const name = jsonName(element, code);
      plan.set(name, code.includes('.') ? summaryPlan(code) : 'whole');
      if (PRIMITIVES.has(code)) plan.set(`_${name}`, 'whole');
    }
  }
  return plan;
}

function elementsPlan(type: ResourceType, elements: ReadonlySet<string>): Plan {
  const names = selectNames(
    type,
    ({ name, required, modifier }) => required || modifier || elements.has(name),
  );
  return new Map([...whole(ALWAYS), ...whole(names)]);
}

type Element = ReturnType<typeof typeDefinition>['elements'][number];

/** Returns the JSON names of the selected elements, including the names for ids and extensions of primitives (`_birthDate`). */
function selectNames(type: ResourceType, is: (element: Element) => boolean): string[] {
  return typeDefinition(type)
    .elements.filter(is)
    .flatMap((element) => element.types.map(({ code }) => jsonName(element, code)))
    .flatMap((name) => [name, `_${name}`]);
}

function whole(names: readonly string[]): [string, 'whole'][] {
  return names.map((name) => [name, 'whole']);
}

function kept(object: JsonObject, plan: Plan): JsonObject {
  const part: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const found = plan.get(name);
    if (found !== undefined) part[name] = found === 'whole' ? value : keepPlanned(value, found);
  }
  return part;
}

function keepPlanned(value: Json, plan: Plan): Json {
  if (Array.isArray(value)) return value.map((item) => keepPlanned(item, plan));
  return isObject(value) ? kept(value, plan) : value;
}
