/**
 * Removes from a summary the data that identifies or locates the person, except name, birth date and sex. For readers who need
 * to know about the illness but not where the person lives (docs/shared-links.md).
 */
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { loincCodes, objects, text } from '../../fhir/parts.ts';
import type { Chosen, Entry } from './choose.ts';
import type { Links } from './entries.ts';
import type { Source } from './source.ts';

/**
 * Elements that are left out of resources about people. Extensions are left out because they may contain a birthplace, a
 * number or an ethnicity.
 */
const WITHHELD: Readonly<Record<string, readonly string[]>> = {
  Patient: ['identifier', 'telecom', 'address', 'photo', 'contact', 'link', 'text', 'extension'],
  RelatedPerson: ['identifier', 'telecom', 'address', 'photo', 'birthDate', 'text', 'extension'],
};

/** The LOINC code of an answer in a questionnaire (PRAPARE) that says where the person lives. */
const ADDRESS = '56799-0';

/** Returns a summary's selection without the withheld elements and answers. */
export function* withoutContact(chosen: Chosen): Steps<Chosen> {
  const { links } = chosen;
  const isKept = ({ type, value }: Source): boolean =>
    type !== 'Observation' || !loincCodes(value.code).includes(ADDRESS);
  const earlier = [...chosen.earlier].filter(([, source]) => isKept(source));
  const kept = [...chosen.entries].filter(([, { source }]) => isKept(source));
  const entries = yield* mapSteps(kept, ([key, entry]): [string, Entry] => [
    key,
    { ...entry, source: withoutContactIn(entry.source, links) },
  ]);
  return {
    ...chosen,
    subject: withoutContactIn(chosen.subject, links),
    entries: new Map(entries),
    sections: chosen.sections.map((section) => ({ ...section, sources: section.sources.filter(isKept) })),
    earlier: new Map(earlier.map(([key, source]) => [key, withoutContactIn(source, links)])),
  };
}

/**
 * Returns a resource without the withheld elements: the resource's own elements, the elements of contained people, and the
 * identifiers in references to people.
 */
function withoutContactIn(source: Source, links: Links): Source {
  const { type, body } = source;
  const hasPersons = body.includes('"contained":[') || body.includes('"identifier":{');
  if (WITHHELD[type] === undefined && !hasPersons) return source;
  const value = dropContacts(type, source.value, links);
  return { ...source, value, body: printJson(value) };
}

/** Returns a resource's content without the withheld elements. */
export function dropContacts(type: string, value: JsonObject, links: Links): JsonObject {
  const persons = new Set(
    objects(value.contained).flatMap(({ resourceType, id }) =>
      WITHHELD[text(resourceType) ?? ''] === undefined ? [] : [`#${text(id) ?? ''}`],
    ),
  );
  const isPerson = (reference: JsonObject): boolean => {
    const to = text(reference.reference);
    if (to?.startsWith('#') === true) return persons.has(to);
    const named = to === undefined ? text(reference.type) : links.localKey(to)?.split('/', 1)[0];
    return WITHHELD[named ?? text(reference.type) ?? ''] !== undefined;
  };
  const without = (of: string, members: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(members)
        .filter(([name]) => WITHHELD[of]?.includes(name) !== true)
        .map(([name, member]) => [name, inside(name, member)]),
    );
  const inside = (name: string, member: Json): Json => {
    if (Array.isArray(member)) return member.map((item) => inside(name, item));
    if (!isObject(member)) return member;
    if (name === 'contained') return without(text(member.resourceType) ?? '', member);
    const { identifier, ...rest } = member;
    const isNamed = isObject(identifier) && isPerson(member);
    return without('', isNamed ? { ...rest, ...(Object.keys(rest).length === 0 && NAMELESS) } : member);
  };
  return withReferred(without(type, value));
}

/** The replacement for a reference that has no other members, because an object must not be empty. */
const NAMELESS = { display: '–' };

/** Returns a resource without the contained resources that nothing refers to any longer (R4, dom-3). */
function withReferred(value: JsonObject): JsonObject {
  const contained = objects(value.contained);
  if (contained.length === 0) return value;
  const { contained: _, ...rest } = value;
  const outside = printJson(rest);
  const isReferred = ({ id, ...own }: JsonObject): boolean => {
    const mark = `"#${text(id) ?? ''}"`;
    const others = contained.filter((each) => each.id !== id);
    return outside.includes(mark) || printJson(others).includes(mark) || printJson(own).includes('"#"');
  };
  const kept = contained.filter(isReferred);
  return kept.length === 0 ? rest : { ...value, contained: kept };
}
