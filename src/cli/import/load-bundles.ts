/** Loads self-contained bundles: first their directory entries, then each patient's record. */
import { isObject } from '#src/shared/json/json.ts';
import type { Progress } from '../progress.ts';
import { forEachConcurrently } from './concurrency.ts';
import type { Directory } from './directory.ts';
import { type BundlePlan, countTypes, planBundle, type RecordUnit } from './plan.ts';
import type { Records } from './records.ts';
import { listReferences } from './references.ts';
import type { Report } from './report.ts';
import { type BundleSource, readDocument } from './sources.ts';
import type { ImportState } from './state.ts';

/** The dependencies for loading. */
export interface Loading {
  readonly state: ImportState;
  readonly directory: Directory;
  readonly records: Records;
  readonly report: Report;
  readonly progress: Progress;
  /** True to leave out invalid resources instead of refusing their record. */
  readonly skipInvalid: boolean;
  /** Returns the headers for a record's requests, given its patient's old id. */
  readonly makeHeaders: (patient: string | undefined) => Readonly<Record<string, string>>;
}

/** Loads all bundles. Bundles without a record are loaded first, because other files refer to them. */
export async function loadBundles(
  bundles: readonly BundleSource[],
  concurrency: number,
  loading: Loading,
): Promise<void> {
  const load = (source: BundleSource) => loadBundle(source, loading);
  await forEachConcurrently(
    bundles.filter(({ directoryOnly }) => directoryOnly),
    concurrency,
    load,
  );
  await forEachConcurrently(
    bundles.filter(({ directoryOnly }) => !directoryOnly),
    concurrency,
    load,
  );
}

async function loadBundle(source: BundleSource, loading: Loading): Promise<void> {
  const { state, directory, records, report, progress, skipInvalid } = loading;
  const read = await readDocument(source.path);
  if ('diagnostics' in read || !isObject(read.value)) {
    report.fault({
      place: source.name,
      diagnostics: 'diagnostics' in read ? read.diagnostics : 'changed meanwhile',
    });
    return;
  }
  const plan = planBundle(read.value, source.hash, source.name);
  const all = [...plan.directory, ...plan.records.flatMap(({ entries }) => entries)];
  for (const [type, count] of countTypes(all)) report.found(type, count);
  for (const [type, count] of plan.skipped) {
    report.found(type, count);
    report.skipped(type, count);
    progress.advance(count);
  }
  for (const fault of plan.faults) {
    if (fault.type !== undefined) report.found(fault.type);
    report.fault(fault, fault.type);
  }
  if (plan.faults.length > 0 && !skipInvalid) {
    for (const [type, count] of countTypes(all)) report.failed(type, count);
    progress.advance(all.length + plan.faults.length);
    return;
  }
  const ensured = await directory.ensure(plan.directory, plan.scope);
  progress.advance(plan.directory.length);
  const loaded = new Map<string, string>();
  for (const [key, now] of ensured) if ('reference' in now) loaded.set(key, now.reference);
  let complete = plan.faults.length === 0 && [...ensured.values()].every((now) => 'reference' in now);
  for (const unit of inOrder(plan)) {
    const ids = await loadUnit(unit, source, plan, loaded, ensured, loading);
    progress.advance(unit.entries.length);
    if (ids === undefined || records.isPartial(unit)) complete = false;
    for (const [key, reference] of ids ?? []) loaded.set(key, reference);
  }
  if (complete) {
    await state.note({
      source: source.hash,
      name: source.name,
      loaded: Object.fromEntries(countTypes(all)),
      skipped: Object.fromEntries(plan.skipped),
    });
  }
}

async function loadUnit(
  unit: RecordUnit,
  source: BundleSource,
  plan: BundlePlan,
  loaded: ReadonlyMap<string, string>,
  ensured: ReadonlyMap<string, { reference: string } | { refused: string }>,
  { state, records, report, makeHeaders: headersOf, skipInvalid }: Loading,
): Promise<ReadonlyMap<string, string> | undefined> {
  const keys = new Set(unit.entries.map(({ key }) => key));
  const stored = async () =>
    new Map([...(await state.find(keys))].map(([key, { reference }]) => [key, reference] as const));
  if (records.isDone(unit)) {
    for (const [type, count] of countTypes(unit.entries)) report.already(type, count);
    return plan.records.length > 1 ? stored() : new Map();
  }
  const patient = unit.entries.find(({ key }) => key === unit.patient);
  const name = patient === undefined ? unit.patient : `Patient ${String(patient.resource.id ?? '')}`.trim();
  return records.load(unit, {
    scope: plan.scope,
    known: (key) => loaded.get(key) ?? state.directory.get(key)?.reference ?? state.patients.get(key),
    refused: (key) => {
      const now = ensured.get(key);
      return !skipInvalid && now !== undefined && 'refused' in now ? 'a directory entry' : undefined;
    },
    before: records.isBegun(unit) ? await stored() : new Map(),
    place: plan.records.length > 1 ? `${source.name}, ${name}` : source.name,
    headers: headersOf(typeof patient?.resource.id === 'string' ? patient.resource.id : undefined),
  });
}

/** Returns a file's records in loading order: first the records that refer to no other record in the file. */
function inOrder({ records, scope }: BundlePlan): RecordUnit[] {
  if (records.length < 2) return [...records];
  const outward = (unit: RecordUnit): number => {
    const own = new Set(unit.entries.map(({ key }) => key));
    const others = new Set(records.flatMap(({ entries }) => entries.map(({ key }) => key)));
    return unit.entries
      .flatMap(({ resource }) => listReferences(resource))
      .filter((reference) => {
        const target = scope(reference);
        return target?.kind === 'entry' && !own.has(target.key) && others.has(target.key);
      }).length;
  };
  return records
    .map((unit) => ({ unit, links: outward(unit) }))
    .sort((a, b) => a.links - b.links)
    .map(({ unit }) => unit);
}
