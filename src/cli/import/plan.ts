/**
 * Groups a bundle's resources: each patient's resources are one unit, the directory is another, and the rest are skipped and
 * counted. Pure.
 */
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { entryPlace, listAliases, readEntries, readEntry } from './bundle.ts';
import { type Entry, type Fault, makeEntry, makeFault } from './entry.ts';
import { findHome, type Home } from './home.ts';
import { findLabel, typeAndId } from './references.ts';
import { type Scope, scopeOver, type Target } from './scope.ts';

/** All resources of one patient in one source, or in all sources of an import. */
export interface RecordUnit {
  /** The key of the Patient, which is an entry in this unit or was loaded earlier. */
  readonly patient: string;
  readonly entries: readonly Entry[];
}

/** A self-contained bundle, sorted into units. */
export interface BundlePlan {
  readonly directory: readonly Entry[];
  readonly records: readonly RecordUnit[];
  /** Maps a type to the number of its resources in the bundle that are skipped. */
  readonly skipped: ReadonlyMap<string, number>;
  /** If there are any faults, the bundle isn't sent, unless invalid resources are skipped. */
  readonly faults: readonly Fault[];
  readonly scope: Scope;
}

/**
 * Groups the resources in a self-contained bundle.
 * @param scopeName the prefix of the bundle's keys: the hash of the source. Keys need a prefix because every file may contain
 *   `urn:uuid:1`.
 * @param source the source's name for messages.
 */
export function planBundle(bundle: JsonObject, scopeName: string, source: string): BundlePlan {
  const { entries, faults } = readEntries(bundle, source);
  const aliases = new Map<string, Target>();
  const skipped = new Map<string, number>();
  const homes: { entry: Entry; home: Home }[] = [];
  for (const [i, entry] of entries.entries()) {
    const place = entryPlace(source, i);
    const read = readEntry(entry, `${scopeName}#${i}`, place);
    if ('diagnostics' in read) {
      faults.push(read);
      continue;
    }
    const { resource, type } = read;
    const home = findHome(resource);
    const dropped = home.kind === 'skipped' || !isResourceType(type);
    const target: Target = dropped ? droppedTarget(entry, resource, type) : { kind: 'entry', key: read.key };
    for (const alias of listAliases(entry, resource)) if (!aliases.has(alias)) aliases.set(alias, target);
    if (dropped) skipped.set(type, (skipped.get(type) ?? 0) + 1);
    else
      homes.push({
        entry: makeEntry(read.key, type, resource, place, { ...read, fullUrl: entry.fullUrl }),
        home,
      });
  }
  const scope = scopeOver(aliases);
  const { directory, records, faults: homeless } = group(homes, scope);
  return { directory, records, skipped, faults: [...faults, ...homeless], scope };
}

function droppedTarget(entry: JsonObject, resource: JsonObject, type: string): Target {
  const uri = typeof entry.fullUrl === 'string' ? entry.fullUrl : `${type}/${String(resource.id)}`;
  const display = findLabel(resource);
  return { kind: 'dropped', uri, type, ...(display === undefined ? {} : { display }) };
}

/**
 * Returns the key of the patient that an owner's reference names. The patient may be in this bundle, in another source, or
 * identified by a condition.
 */
function ownerKey(reference: string, scope: Scope, patients: ReadonlySet<string>): string | undefined {
  const target = scope(reference);
  if (target !== undefined)
    return target.kind === 'entry' && patients.has(target.key) ? target.key : undefined;
  if (/^Patient\?/.test(reference)) return reference;
  const named = typeAndId(reference);
  return named?.type === 'Patient' && !named.absolute ? `Patient/${named.id}` : undefined;
}

/** Groups entries by patient. A Provenance joins the record that contains its targets. */
function group(
  homes: readonly { entry: Entry; home: Home }[],
  scope: Scope,
): { directory: Entry[]; records: RecordUnit[]; faults: Fault[] } {
  const directory: Entry[] = [];
  const faults: Fault[] = [];
  const patients = new Map<string, Entry[]>();
  const patientOf = new Map<string, string>();
  const patientKeys = new Set(
    homes.filter(({ home }) => home.kind === 'patient').map(({ entry }) => entry.key),
  );
  const put = (patient: string, entry: Entry): void => {
    patientOf.set(entry.key, patient);
    const entries = patients.get(patient);
    if (entries === undefined) patients.set(patient, [entry]);
    else entries.push(entry);
  };
  for (const { entry, home } of homes) {
    if (home.kind === 'patient') put(entry.key, entry);
    else if (home.kind === 'directory') directory.push(entry);
    else if (home.kind === 'fault') faults.push(makeFault(entry, home.diagnostics));
    else if (home.kind === 'record') {
      const patient = ownerKey(home.owner, scope, patientKeys);
      if (patient !== undefined) put(patient, entry);
      else faults.push(makeFault(entry, `${home.owner} is not a patient in these files or on this server`));
    }
  }
  for (const { entry, home } of homes) {
    if (home.kind !== 'provenance') continue;
    const owner = home.targets.flatMap((reference) => {
      const target = scope(reference);
      const patient = target?.kind === 'entry' ? patientOf.get(target.key) : undefined;
      return patient === undefined ? [] : [patient];
    })[0];
    if (owner !== undefined) put(owner, entry);
    else faults.push(makeFault(entry, 'Provenance.target refers to no resource in this record'));
  }
  const records = [...patients].map(([patient, entries]) => ({ patient, entries }));
  return { directory, records, faults };
}

/** Counts entries by type. */
export function countTypes(entries: readonly { readonly type: ResourceType }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of entries) counts.set(type, (counts.get(type) ?? 0) + 1);
  return counts;
}
