/** Recreates summaries from the log. */
import { type Chosen, choose, SUMMARIZED_TYPES } from '#src/clinical/summary/choose.ts';
import { summaryDocument } from '#src/clinical/summary/document.ts';
import { earlierVersions, withEarlier } from '#src/clinical/summary/earlier.ts';
import { withoutHidden } from '#src/clinical/summary/hidden-references.ts';
import { readVersion, revisedSources, withReplaced } from '#src/clinical/summary/replaced.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import { pickReplaced } from '#src/context/replaced.ts';
import type { Access, TypeAccess } from '#src/shared/access/access.ts';
import { grantCoverage } from '#src/shared/access/coverage.ts';
import { isObject, type Json, parseStored } from '#src/shared/json/json.ts';
import type { Material } from './material.ts';
import { groupVersions, type Living, pickEntries, seeRecord } from './record.ts';

/** The resources selected for a summary, and the directory entries that they refer to. */
export interface ChosenAgain {
  readonly chosen: Chosen;
  readonly directory: readonly Living[];
}

/**
 * Chooses a summary's resources again.
 * @throws TypeError if the record has no Patient
 */
export async function chooseAgain(material: Material): Promise<ChosenAgain> {
  const { record: id, parameters, inputs } = material;
  const base = String(parameters.base);
  const seen = seeRecord(material, readAccess(parameters.types));
  const hidden = new Map(Object.entries(readTexts(inputs.hidden)));
  const isPatient = (row: Stored): boolean => row.type === 'Patient' && row.id === id;
  const rows = seen.current.filter(({ type }) => READ.has(type) && type !== 'Patient').sort(byTypeAndId);
  const [patient, ...record] = await withoutHidden([...seen.current.filter(isPatient), ...rows], hidden);
  if (patient === undefined) throw new TypeError(`Patient/${id} was not there`);
  const current = choose({ base, patient, record, byAi: seen.byAi });
  const wanted = new Set(earlierVersions(current).map((each) => `${each.id} ${each.version}`));
  const earlier = seen.written.filter((each) => wanted.has(`${each.id} ${each.version}`)).sort(byId);
  const told = withEarlier(current, await withoutHidden(earlier, hidden));
  const revised = revisedSources(told).map((source) => ({
    ...{ type: source.type, id: source.id },
    version: readVersion(source),
  }));
  const replaced = [...pickReplaced(groupVersions(seen.written), revised)].map(
    ([key, texts]) => [key, texts.map(({ body, until }) => ({ value: parseStored(body), until }))] as const,
  );
  return {
    chosen: withReplaced(told, new Map(replaced)),
    directory: [...pickEntries(material, isObject(inputs.directory) ? inputs.directory : {})].sort(byKey),
  };
}

/** Returns a summary's text. */
export async function renderSummary(material: Material): Promise<string> {
  const { parameters, inputs } = material;
  const { chosen, directory } = await chooseAgain(material);
  return summaryDocument(chosen, {
    id: String(parameters.id),
    now: Number(parameters.now),
    directory,
    displays: new Map(Object.entries(readTexts(inputs.displays))),
    covered: grantCoverage(readAccess(parameters.types)),
  });
}

const READ: ReadonlySet<string> = new Set(['Patient', ...SUMMARIZED_TYPES]);

const byId = (a: Stored, b: Stored): number => (a.id < b.id ? -1 : 1);
const byKey = (a: Stored, b: Stored): number => (`${a.type}/${a.id}` < `${b.type}/${b.id}` ? -1 : 1);
const byTypeAndId = (a: Stored, b: Stored): number =>
  a.type === b.type ? byId(a, b) : a.type < b.type ? -1 : 1;

/** Returns the members of an object whose values are texts. */
export function readTexts(value: Json | undefined): Record<string, string> {
  const members = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    members.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  );
}

/** Returns a grant's rights by type; undefined without a grant. */
export function readAccess(types: Json | undefined): Access | undefined {
  if (!isObject(types)) return undefined;
  return { types: new Map(Object.entries(types as unknown as Record<string, readonly TypeAccess[]>)) };
}
