/**
 * Checks that resources may be written as events: they are valid R4, have one owner, and contain only references that the
 * writer can see (docs/spec/decisions.md, section 5: "Record, directory, terminology", "References", "Writes").
 */
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { KeptReference } from '#src/fhir/kept-references.ts';
import { findOwner, type Owner, parseReference } from '#src/fhir/references/references.ts';
import { subsettedTag } from '#src/fhir/summary.ts';
import { withoutTrailingNulls } from '#src/fhir/trailing-nulls.ts';
import { type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { newFaults } from '#src/fhir/validation/inherited.ts';
import { Faults, listed } from '#src/shared/faults.ts';
import type { Issue } from '#src/shared/issue.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { inSlices, mapSteps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { CommandContext, Located, SubmittedResource } from '../command.ts';
import type { WriteDeps } from './deps.ts';
import { issuesAt } from './request.ts';
import { PATCH_FAULT } from './write-only.ts';

/** A resource to be written, with its id. */
export interface Candidate {
  readonly at?: string;
  readonly type: ResourceType;
  readonly id: string;
  readonly resource: SubmittedResource;
  /** True if a client's resource replaces a stored one. */
  readonly replaces?: boolean;
  /**
   * True if faults are reported without details, because they may concern stored content that the caller may not read.
   */
  readonly hidesFaults?: boolean;
  /** References that aren't checked, because the stored version has them too. */
  readonly keeps?: KeptReference;
}

/** A candidate that may be written, with its stream. */
export interface Checked extends Candidate {
  readonly stream: string;
}

interface Read extends Candidate {
  readonly issues: Issue[];
  readonly owner: Owner | undefined;
  readonly references: readonly LocalReference[];
}

/** A reference to a resource in this service. `version`: the version in the reference; NaN if it is invalid. */
interface LocalReference {
  readonly path: string;
  readonly type: ResourceType;
  readonly id: string;
  readonly version?: number;
}

/**
 * Checks candidates together, so that every fault is reported and a single lookup finds all resources that they refer to.
 * @throws Refusal invalid (422) with the faults of all candidates
 */
export async function checkCandidates(
  deps: Pick<WriteDeps, 'locate' | 'bases'>,
  ctx: CommandContext,
  candidates: readonly Candidate[],
): Promise<Checked[]> {
  const read = await inSlices(mapSteps(candidates, (candidate) => readCandidate(candidate, deps.bases)));
  const own = new Map(candidates.map((candidate) => [candidate.id, candidate]));
  const wanted = new Set<string>();
  const versions = new Map<string, number>();
  const want = ({ references, owner }: Read): void => {
    for (const { id, version } of references) {
      if (!own.has(id) || version !== undefined) wanted.add(id);
      if (version !== undefined) versions.set(id, Math.max(version || 0, versions.get(id) ?? 0));
    }
    for (const id of ownerIds(owner)) if (!own.has(id)) wanted.add(id);
  };
  await inSlices(mapSteps(read, want));
  const patients = new Set(read.flatMap(({ owner }) => (owner?.kind === 'patient' ? [owner.id] : [])));
  const located = await deps.locate(ctx, wanted, [...patients], versions);
  const streams = new Map<string, string>();
  const faults = new Faults();
  const hidden = new Set<Read>();
  const tell = (one: Read, issues: readonly Issue[]): void => {
    if (one.hidesFaults !== true) faults.addAll(issuesAt(one.at, issues));
    else if (issues.length > 0 && !hidden.has(one)) {
      hidden.add(one);
      faults.addAll(issuesAt(one.at, [PATCH_FAULT]));
    }
  };
  const addFaults = (one: Read): void => {
    tell(one, one.issues);
    tell(one, listDangling(one, own, located));
  };
  await inSlices(mapSteps(read, addFaults));
  // A Provenance is placed by its targets, which may be Provenances in the same Bundle: each Provenance waits for one of its
  // targets.
  const waiting = new Map<string, Read[]>();
  const ready = [...read];
  for (let one = ready.pop(); one !== undefined; one = ready.pop()) {
    const stream = findStream(ctx, one, own, located, streams);
    if (typeof stream === 'object' && 'waitsFor' in stream) {
      waiting.set(stream.waitsFor, [...(waiting.get(stream.waitsFor) ?? []), one]);
      continue;
    }
    if (typeof stream === 'string') streams.set(one.id, stream);
    else tell(one, stream);
    for (const next of waiting.get(one.id) ?? []) ready.push(next);
    waiting.delete(one.id);
  }
  // The remaining Provenances target each other or themselves, or have other faults.
  if (faults.none) for (const one of [...waiting.values()].flat()) tell(one, [NOT_OF_ONE_RECORD]);
  if (!faults.none) throw new Refusal('invalid', faults.list());
  return read.map(({ at, type, id, resource }) => {
    const stream = streams.get(id);
    if (stream === undefined) throw new TypeError(`${type}/${id} has no place`);
    return at === undefined ? { type, id, resource, stream } : { at, type, id, resource, stream };
  });
}

function readCandidate(candidate: Candidate, bases: readonly string[]): Read {
  const { type, resource } = candidate;
  const references: LocalReference[] = [];
  const unresolved: Issue[] = [];
  let trailing = false;
  const found = validateResource(resource.value, type, {
    bases,
    trailingNulls() {
      trailing = true;
    },
    reference(path, holder) {
      if (typeof holder.reference !== 'string') return;
      const parsed = parseReference(holder.reference, bases);
      if (parsed.kind === 'local') {
        const { type, id, version } = parsed;
        if (candidate.keeps?.(holder.reference, path) === true) return;
        references.push({ path: `${path}.reference`, type, id, ...versionIn(version) });
      } else if (parsed.kind === 'urn') {
        unresolved.push({
          code: 'value',
          diagnostics: 'no entry of this Bundle has this URN as its fullUrl',
          expression: `${path}.reference`,
        });
      } else if (parsed.kind === 'conditional') {
        unresolved.push({
          code: 'value',
          diagnostics: 'a reference that is a search is resolved in transaction Bundles only; send Type/<id>',
          expression: `${path}.reference`,
        });
      }
    },
  });
  const place = findOwner(resource.value, type, bases);
  const owner = 'issue' in place ? undefined : place;
  const issues = [...withoutEarlier(found, resource, type, bases), ...unresolved];
  if (candidate.replaces === true)
    for (const issue of excerptFaults(resource.value, type)) issues.push(issue);
  if (
    'issue' in place &&
    !issues.some((issue) => issue.expression?.startsWith(place.issue.expression ?? '-'))
  )
    issues.push(place.issue);
  const kept = trailing ? { ...resource, value: withoutTrailingNulls(resource.value) } : resource;
  return { issues, owner, references, ...candidate, resource: kept };
}

/** The maximum number of faults in a stored version that a patch may leave in place. */
const MOST_COMPARED = 2_000;

/** Removes the faults that the stored version already had. */
function withoutEarlier(
  faults: Issue[],
  { value, madeOf }: SubmittedResource,
  type: ResourceType,
  bases: readonly string[],
): Issue[] {
  if (faults.length === 0 || madeOf === undefined) return faults;
  // Truncated lists can't be compared: fixing one fault changes which other faults the list contains.
  const all = (resource: JsonObject): Issue[] =>
    validateResource(resource, type, { bases, reference: () => undefined, most: MOST_COMPARED });
  const isCut = faults.some(({ unlisted }) => unlisted !== undefined);
  return [...listed(newFaults(value, isCut ? all(value) : faults, madeOf, all(madeOf)))];
}

/** Refuses partial resources tagged by searches with `_summary` or `_elements`: https://hl7.org/fhir/R4/search.html#elements */
function excerptFaults(resource: JsonObject, type: ResourceType): Issue[] {
  const tag = subsettedTag(resource);
  if (tag < 0) return [];
  const expression = `${type}.meta.tag[${tag}]`;
  const diagnostics = `${expression} marks this as a partial resource (SUBSETTED), and writing it would delete the other elements; read the resource without _summary and _elements, or use PATCH`;
  return [{ code: 'business-rule', diagnostics, expression }];
}

function versionIn(version: string | undefined): { version?: number } {
  if (version === undefined) return {};
  return { version: /^[1-9]\d{0,9}$/.test(version) ? Number(version) : Number.NaN };
}

function ownerIds(owner: Owner | undefined): readonly string[] {
  if (owner === undefined) return [];
  if (owner.kind === 'patient') return [owner.id];
  return owner.kind === 'targets' ? owner.targets.map((target) => target.id) : [];
}

function listDangling(
  one: Read,
  own: ReadonlyMap<string, Candidate>,
  located: ReadonlyMap<string, Located>,
): Issue[] {
  return one.references.flatMap(({ path, type, id, version }): Issue[] => {
    const fault = (what: string): Issue[] => [
      { code: 'value', diagnostics: `${what} doesn't exist`, expression: path },
    ];
    const there = located.get(id);
    if ((own.get(id)?.type ?? there?.type) !== type) return fault(`${type}/${id}`);
    // If this request also writes the resource, it will have one more version.
    const newest = (there?.version ?? 0) + (own.has(id) ? 1 : 0);
    return version === undefined || version <= newest ? [] : fault(`the referenced version of ${type}/${id}`);
  });
}

const NOT_OF_ONE_RECORD: Issue = {
  code: 'business-rule',
  diagnostics:
    'the targets of a Provenance must belong to one patient’s record; directory entries may be among them',
  expression: 'Provenance.target',
};

/**
 * Returns a candidate's stream, or the fault that prevents placing it; `waitsFor` names a target that must be placed first. A
 * resource that already has other faults isn't given a second one here.
 */
function findStream(
  ctx: CommandContext,
  one: Read,
  own: ReadonlyMap<string, Candidate>,
  located: ReadonlyMap<string, Located>,
  streams: ReadonlyMap<string, string>,
): string | Issue[] | { readonly waitsFor: string } {
  const { owner, type } = one;
  if (owner === undefined) return [];
  switch (owner.kind) {
    case 'self':
      return recordStream(one.id);
    case 'directory':
      return directoryStream(ctx.caller.sees.owner);
    case 'patient': {
      const known = own.get(owner.id)?.type ?? located.get(owner.id)?.type;
      if (known === 'Patient') return recordStream(owner.id);
      const expression = `${type}.${typeEntry(type).owner}.reference`;
      if (one.references.some((reference) => reference.path === expression)) return [];
      return [{ code: 'value', diagnostics: `Patient/${owner.id} doesn't exist`, expression }];
    }
    case 'targets': {
      const homes = owner.targets.map(({ id }) => streams.get(id) ?? located.get(id)?.stream);
      if (owner.targets.some(({ id }) => !own.has(id) && !located.has(id))) return []; // dangling: already named
      const unplaced = homes.indexOf(undefined);
      if (unplaced >= 0) return { waitsFor: owner.targets[unplaced]?.id ?? '' };
      // Directory entries belong to many records, so they don't determine the record.
      const [home, another] = new Set(homes.filter((one) => one?.startsWith('directory-') !== true));
      return home?.startsWith('record-') && another === undefined ? home : [NOT_OF_ONE_RECORD];
    }
  }
}
