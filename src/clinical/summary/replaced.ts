/** Adds to each source the versions that it replaced, because narratives say what was changed (docs/clinical-reading.md). */
import { first, text } from '../../fhir/parts.ts';
import { REVISED_TYPES } from '../reading/revisions.ts';
import type { Chosen } from './choose.ts';
import type { SectionName } from './section.ts';
import type { Source } from './source.ts';

/** The sections whose narratives say what was changed. */
const REVISED: ReadonlySet<SectionName> = new Set([
  'problems',
  'functionalStatus',
  'allergies',
  'medications',
  ...(['results', 'vitalSigns', 'pregnancy', 'socialHistory'] as const),
]);

/** Returns the sources that have earlier versions with which narratives compare them. */
export function revisedSources({ sections, earlier }: Pick<Chosen, 'sections' | 'earlier'>): Source[] {
  const entries = sections
    .filter(({ section }) => REVISED.has(section.name))
    .flatMap(({ section, sources, beside }) =>
      section.name === 'allergies' ? [...sources, ...beside] : sources,
    );
  // An entry that an AI changed is shown as it was before. That earlier version may itself have changed something.
  return [...entries, ...earlier.values()].filter(
    (source) => COMPARED.has(source.type) && readVersion(source) > 1,
  );
}

const COMPARED: ReadonlySet<string> = new Set([...REVISED_TYPES, 'Observation']);

/** Returns a source's version number. */
export function readVersion({ value: { meta } }: Source): number {
  return Number(text(first(meta)?.versionId) ?? 0);
}

/**
 * Returns a summary with narratives that say what was changed.
 * @param replaced the replaced versions, by resource id
 */
export function withReplaced(chosen: Chosen, replaced: ReadonlyMap<string, Source['replaced']>): Chosen {
  if (replaced.size === 0) return chosen;
  const add = (source: Source): Source =>
    replaced.has(source.id) ? { ...source, replaced: replaced.get(source.id) } : source;
  const sections = chosen.sections.map((each) =>
    REVISED.has(each.section.name)
      ? { ...each, sources: each.sources.map(add), beside: each.beside.map(add) }
      : each,
  );
  const earlier = new Map([...chosen.earlier].map(([key, source]) => [key, add(source)]));
  return { ...chosen, sections, earlier };
}
