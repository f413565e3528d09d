/**
 * Writes text about the versions that someone else had written before an AI changed them. These versions aren't entries of a
 * summary, but its sections show them (docs/decisions/0025-changed-by-ai-is-said.md).
 */
import { isMedicine, referredMedication } from '../reading/medicine-subject.ts';
import { isModified, withdrawnAs } from '../reading/status.ts';
import type { Chosen, ChosenSection, EarlierVersion } from './choose.ts';
import { makeDeviceUse } from './device-use.ts';
import { parseSource, type Source, type Stored } from './source.ts';

/**
 * Returns the earlier versions that the sections show; if a section has a maximum, the earlier versions of its newest
 * resources.
 */
export function earlierVersions({ sections }: Pick<Chosen, 'sections'>): EarlierVersion[] {
  return sections.flatMap(({ changed, section: { cap = changed.length } }) =>
    [...changed].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, cap),
  );
}

/**
 * Returns a summary that shows the given earlier versions.
 * @param rows the versions; only the ones that state something are used
 */
export function withEarlier(chosen: Chosen, rows: readonly Stored[]): Chosen {
  const sources = rows.map(parseSource).filter(isTold);
  return {
    ...chosen,
    earlier: new Map(sources.map((source) => [source.key, source])),
    named: new Set([...chosen.named, ...sources.flatMap(({ value }) => referredMedication(value) ?? [])]),
  };
}

function isTold({ type, body, value }: Source): boolean {
  if (withdrawnAs(value) !== undefined || isModified(value, body)) return false;
  return (type !== 'MedicationStatement' && type !== 'MedicationRequest') || isMedicine(value);
}

/**
 * Returns the entries that a section contained before an AI changed them, in the form in which the section's table shows them.
 */
export function earlierIn(
  { changed }: ChosenSection,
  { earlier, subject, links }: Pick<Chosen, 'earlier' | 'subject' | 'links'>,
): Source[] {
  return changed.flatMap(({ type, id }) => {
    const source = earlier.get(`${type}/${id}`);
    if (source === undefined) return [];
    return type === 'Device' ? makeDeviceUse(source, subject, links.base) : source;
  });
}
