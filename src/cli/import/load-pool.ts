/**
 * Loads the pool, which contains resources whose old ids are valid across files. The directory comes first, then each
 * patient's record in one transaction. Records that depend on others come last: records that refer to other records, records
 * that an earlier run partly loaded, and Provenances, whose record depends on the ids of their targets.
 */
import { isResourceType, TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { forEachConcurrently } from './concurrency.ts';
import { type Entry, makeEntry, makeFault } from './entry.ts';
import { findHome } from './home.ts';
import { hashContent, isUnnamed } from './identity.ts';
import type { Loading } from './load-bundles.ts';
import { countTypes, type RecordUnit } from './plan.ts';
import { listReferences, typeAndId } from './references.ts';
import type { Report } from './report.ts';
import { pooledScope } from './scope.ts';
import type { Pool, Spill } from './spill.ts';

/** Directory types, ordered so that each type comes after the types that it refers to. */
const FIRST: readonly string[] = ['Organization', 'Location', 'Practitioner', 'PractitionerRole'];
const DIRECTORY_TYPES = [
  ...FIRST,
  ...TYPE_NAMES.filter(
    (type) => ['directory', 'either'].includes(typeEntry(type).home) && !FIRST.includes(type),
  ),
];
/** The maximum number of bytes from the pool that are in memory at a time, not counting one bucket. */
const WINDOW_BYTES = 8_000_000;

/**
 * Loads everything in the pool except the entries that must wait; `loadDeferred` loads these after the bundles.
 * @returns the keys of directory entries that were refused.
 */
export async function loadPool(
  pool: Pool,
  concurrency: number,
  loading: Loading,
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  for (const type of DIRECTORY_TYPES) {
    for await (const entries of windows(pool.openNamed(`directory-${type}`))) {
      for (const [key, now] of await loading.directory.ensure(entries, pooledScope, true)) {
        if ('refused' in now) refused.add(key);
      }
      loading.progress.advance(entries.length);
    }
  }
  await forEachConcurrently(unitsReady(pool, loading), concurrency, async (unit) => {
    await loadUnit(unit, new Map(), refused, loading);
  });
  await pool.openNamed('deferred').finish();
  return refused;
}

/** Yields the records that can be sent now; writes all others to disk for later. */
async function* unitsReady(
  pool: Pool,
  { state, records, report, progress }: Loading,
): AsyncGenerator<RecordUnit> {
  const deferred = pool.openNamed('deferred');
  for (const bucket of pool.buckets) {
    for (const unit of await readUnits(bucket, report)) {
      if (records.isDone(unit)) {
        for (const [type, count] of countTypes(unit.entries)) report.already(type, count);
        progress.advance(unit.entries.length);
      } else if (mustWait(unit, (key) => state.patients.has(key))) {
        for (const { key, resource, place } of unit.entries)
          await deferred.add(unit.patient, key, resource, place);
      } else yield unit;
    }
  }
}

/** Returns a bucket's entries by patient, with each id only once. */
async function readUnits(bucket: Spill, report: Report): Promise<RecordUnit[]> {
  const patients = new Map<string, Map<string, Entry>>();
  const copies = new Map<string, number>();
  for await (const { owner, entry } of bucket.read()) {
    const entries = patients.get(owner) ?? new Map<string, Entry>();
    patients.set(owner, entries);
    if (isUnnamed(entry.key)) takeEach(entries, entry, owner, copies);
    else takeOnce(entries, entry, report);
  }
  return [...patients].map(([patient, entries]) => ({ patient, entries: [...entries.values()] }));
}

/**
 * Adds an entry without an id. If two entries are equal, both are added.
 * @param copies the number of copies of each entry so far, by owner and key
 */
function takeEach(
  entries: Map<string, Entry>,
  entry: Entry,
  owner: string,
  copies: Map<string, number>,
): void {
  const { key, type, resource, place } = entry;
  const nth = (copies.get(`${owner} ${key}`) ?? 0) + 1;
  copies.set(`${owner} ${key}`, nth);
  const taken = nth === 1 ? entry : makeEntry(`${key}/${nth}`, type, resource, place);
  entries.set(taken.key, taken);
}

/** Adds an entry. If two entries have the same id, the later version is used, with a warning if their content differs. */
function takeOnce(entries: Map<string, Entry>, entry: Entry, report: Report): void {
  const { key, type, place, resource } = entry;
  const twin = entries.get(key);
  if (twin === undefined) {
    entries.set(key, entry);
    return;
  }
  const later = updatedAt(entry) > updatedAt(twin) ? entry : twin;
  entries.set(key, later);
  report.duplicate(type);
  if (hashContent(resource) !== hashContent(twin.resource))
    report.warn(`${key} occurs at ${twin.place} and at ${place}; the one at ${later.place} is used`);
}

function updatedAt({ resource }: Entry): number {
  const { meta } = resource;
  const at =
    typeof meta === 'object' && meta !== null && 'lastUpdated' in meta
      ? Date.parse(String(meta.lastUpdated))
      : 0;
  return Number.isNaN(at) ? 0 : at;
}

function mustWait({ patient, entries }: RecordUnit, isLoaded: (patient: string) => boolean): boolean {
  const own = new Set(entries.map(({ key }) => key));
  if (isLoaded(patient) || !own.has(patient)) return true;
  return entries.some(({ resource }) => listOutward(resource, own).some((key) => !isLoaded(key)));
}

/** Returns the keys of resources in other records that a resource refers to. */
function listOutward(resource: Entry['resource'], own: ReadonlySet<string>): string[] {
  return listReferences(resource).flatMap((reference) => {
    const target = pooledScope(reference);
    return target?.kind === 'entry' && !own.has(target.key) && isInRecord(target.key) ? [target.key] : [];
  });
}

function isInRecord(key: string): boolean {
  const type = key.slice(0, key.indexOf('/'));
  return isResourceType(type) && typeEntry(type).home === 'record';
}

/** Loads deferred records one after another, because each may refer to resources in a previous one. */
export async function loadDeferred(
  pool: Pool,
  refused: ReadonlySet<string>,
  loading: Loading,
): Promise<void> {
  for await (const window of windowsOfUnits(pool.openNamed('deferred')))
    await loadWindow(window, refused, loading);
  for await (const provenances of windows(pool.openNamed('provenance'))) {
    const units = await provenanceUnits(provenances, loading);
    await loadWindow(units, refused, loading);
  }
}

async function loadWindow(
  units: readonly RecordUnit[],
  refused: ReadonlySet<string>,
  loading: Loading,
): Promise<void> {
  const wanted = new Set<string>();
  for (const { entries } of units) {
    const own = new Set(entries.map(({ key }) => key));
    for (const { key, resource } of entries) {
      wanted.add(key);
      for (const target of listOutward(resource, own)) wanted.add(target);
    }
  }
  const found = new Map(
    [...(await loading.state.find(wanted))].map(([key, { reference }]) => [key, reference]),
  );
  for (const unit of units) {
    const ids = await loadUnit(unit, found, refused, loading);
    for (const [key, reference] of ids ?? []) found.set(key, reference);
  }
}

/** Groups Provenances by the patient whose record contains their targets. */
async function provenanceUnits(all: readonly Entry[], { state, report }: Loading): Promise<RecordUnit[]> {
  const once = new Map<string, Entry>();
  for (const entry of all) takeOnce(once, entry, report);
  const provenances = [...once.values()];
  const listTargets = (entry: Entry): string[] => {
    const home = findHome(entry.resource);
    return (home.kind === 'provenance' ? home.targets : []).flatMap((reference) => {
      const target = pooledScope(reference);
      return target?.kind === 'entry' ? [target.key] : [];
    });
  };
  const found = await state.find(new Set(provenances.flatMap(listTargets)));
  const patients = new Map<string, Entry[]>();
  for (const entry of provenances) {
    const owner = listTargets(entry).flatMap((key) => found.get(key)?.patient ?? [])[0];
    if (owner === undefined) {
      const diagnostics = 'Provenance.target refers to no resource in a record that was loaded';
      report.fault(makeFault(entry, diagnostics), entry.type);
    } else patients.set(owner, [...(patients.get(owner) ?? []), entry]);
  }
  return [...patients].map(([patient, entries]) => ({ patient, entries }));
}

async function loadUnit(
  unit: RecordUnit,
  found: ReadonlyMap<string, string>,
  refused: ReadonlySet<string>,
  { state, records, report, progress, makeHeaders: headersOf, skipInvalid }: Loading,
): Promise<ReadonlyMap<string, string> | undefined> {
  const { patient, entries } = unit;
  progress.advance(entries.length);
  if (records.isDone(unit)) {
    for (const [type, count] of countTypes(entries)) report.already(type, count);
    return undefined;
  }
  const own = new Set(entries.map(({ key }) => key));
  const named = typeAndId(patient);
  if (!own.has(patient) && !state.patients.has(patient) && named !== undefined && !SERVER_ID.test(named.id)) {
    const [first] = entries;
    const diagnostics = `${patient} is missing: it is not in these files and was not loaded before, but ${entries.length} resources refer to it`;
    report.fault({ place: first?.place ?? patient, diagnostics });
    for (const [type, count] of countTypes(entries)) report.failed(type, count);
    return undefined;
  }
  return records.load(unit, {
    scope: pooledScope,
    known: (key) => state.directory.get(key)?.reference ?? state.patients.get(key) ?? found.get(key),
    refused: (key) => (!skipInvalid && refused.has(key) ? key : undefined),
    before: new Map([...found].filter(([key]) => own.has(key))),
    place: isUnnamed(patient) ? (entries[0]?.place ?? patient) : patient,
    headers: headersOf(named?.id),
  });
}

/**
 * The id of a patient that is already on the server. Server ids are UUIDs; if no such patient exists, the server reports it.
 */
const SERVER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Yields a spill's entries in portions that fit into memory. */
async function* windows(spill: Spill): AsyncGenerator<Entry[]> {
  let entries: Entry[] = [];
  let bytes = 0;
  for await (const { entry } of spill.read()) {
    entries.push(entry);
    bytes += entry.bytes;
    if (bytes < WINDOW_BYTES) continue;
    yield entries;
    entries = [];
    bytes = 0;
  }
  if (entries.length > 0) yield entries;
}

/** Yields a spill's units in portions that fit into memory. The entries of a unit are adjacent in the spill. */
async function* windowsOfUnits(spill: Spill): AsyncGenerator<RecordUnit[]> {
  let units: { patient: string; entries: Entry[] }[] = [];
  let bytes = 0;
  for await (const { owner, entry } of spill.read()) {
    const last = units.at(-1);
    if (last?.patient === owner) last.entries.push(entry);
    else {
      if (bytes >= WINDOW_BYTES) {
        yield units;
        units = [];
        bytes = 0;
      }
      units.push({ patient: owner, entries: [entry] });
    }
    bytes += entry.bytes;
  }
  if (units.length > 0) yield units;
}
