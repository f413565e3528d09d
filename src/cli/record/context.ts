/** `annal context <manifest>`: makes a context again, from the events as they were when it was asked for. */
import { type RecordAt, type ResourceAt, recordAt } from '#src/audit/record-at.ts';
import { Replay } from '#src/audit/replay.ts';
import type { AiVersions } from '#src/clinical/summary/choose.ts';
import { buildAnswer, madeFor } from '#src/context/answer.ts';
import type { Authorship } from '#src/context/compose.ts';
import { makeExcerpts } from '#src/context/excerpt.ts';
import { makeContext } from '#src/context/make.ts';
import { FORM, type GrantManifest, type Manifest, printManifest } from '#src/context/manifest.ts';
import { maskedAuthorship, maskedBody } from '#src/context/masked.ts';
import { type Current, openRecord, versionReference } from '#src/context/record.ts';
import { pickReplaced } from '#src/context/replaced.ts';
import { openPool } from '#src/database/pool.ts';
import type { EventStore } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import { readCategories } from '#src/fhir/search/categories.ts';
import { ContextManifests, type KeptManifest } from '#src/operations/context-manifests.ts';
import { type Access, allows } from '#src/shared/access/access.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { CONTEXT_LETTERS, grantCoverage } from '#src/shared/access/coverage.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { withEventStore } from '../database.ts';
import { Failure, NOT_ALL_CHECKED } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { withStream } from './patient.ts';

/** The options on the command line. */
export interface ContextOptions extends Pick<ServiceOptions, 'dataDir'> {
  /** Prints the whole answer, byte for byte, instead of its text. */
  readonly json?: boolean;
}

/**
 * Rebuilds a context and prints it.
 * @returns the exit code: 4 when the manifest doesn't tell whether the result equals the answer that was given.
 * @throws Failure for a manifest that doesn't exist, a purged record, a mismatch with the manifest, or an
 * unreachable database.
 */
export async function contextCommand(
  id: string,
  { json = false, ...where }: ContextOptions,
): Promise<number> {
  const { text, body, checked } = await withDatabase(where, async ({ url }) => {
    const pool = openPool(url, { max: 1, name: 'annal context' });
    const kept = await new ContextManifests(pool).find(id).finally(() => pool.end());
    if (kept === undefined) throw new Failure(`unknown manifest ${id.slice(0, 60)}`);
    return withEventStore(url, (store) => contextAgain(store, kept));
  });
  process.stdout.write(`${json ? JSON.stringify(body) : text}\n`);
  if (checked) return 0;
  process.stderr.write(
    `annal: ${id} was written by a version of Annal that stored no hash of the answer. This text is made by the rules of ` +
      `this version; whether it is the one that was returned can't be checked.\n`,
  );
  return NOT_ALL_CHECKED;
}

/** A context made again. */
export interface ContextAgain {
  readonly text: string;
  readonly body: object;
  /** True if it was compared with the answer that was given; manifests of form 1 have no hash of it. */
  readonly checked: boolean;
}

/**
 * Rebuilds the context that a manifest names, and its text.
 * @throws Failure when it isn't the answer that was given: the rules by which contexts are made, or the events, have
 * changed since.
 */
export async function contextAgain(
  store: EventStore,
  { id, tenantId, record: patient, manifest }: KeptManifest,
): Promise<ContextAgain> {
  const given = JSON.parse(manifest) as Manifest;
  const { at, day, ask, directory, displays, grant } = given;
  const others: ResourceAt[] = [];
  const isShown = (version: Current): boolean => grant === undefined || isCovered(grant, version);
  const record = await withStream(store, recordStream(patient), (events) =>
    recordAt(
      events,
      { kind: 'time', micros: toMicros(grant?.until ?? at) },
      () => false,
      undefined,
      (version) => {
        if (!isByAi(version)) others.push(version);
      },
    ),
  );
  const written = groupVersions(
    others.filter((version) => version.body !== undefined && isShown({ ...version, body: version.body })),
    grant === undefined ? (body) => body : maskedBody,
  );
  const { current: all, earlier, authors, byAi, owner } = collectVersions(record, others, isShown);
  const [current = [], before = []] = [all.filter(isShown), earlier].map((versions) =>
    grant === undefined ? versions : versions.map(masked),
  );
  const bodies = new Map([...current, ...before].map((version) => [versionReference(version), version.body]));
  const made = await makeContext(
    {
      opened: openRecord(makeExcerpts(current), byAi),
      directory: (keys) =>
        owner === undefined
          ? Promise.resolve([])
          : entriesAt(store, owner, directory, keys).then((entries) =>
              grant === undefined ? entries : entries.map(masked),
            ),
      displays: (codes) => Promise.resolve(nameCodes(codes, displays)),
      authors: () => Promise.resolve(grant === undefined ? authors : maskedAuthors(authors)),
      bodies: () => Promise.resolve(bodies),
      replaced: (versions) => Promise.resolve(pickReplaced(written, versions)),
      covered: grantCoverage(grant === undefined ? undefined : manifestAccess(grant)),
    },
    ask,
    day,
  );
  const ground = {
    patient,
    at,
    day,
    version: given.version ?? '',
    ...(grant === undefined ? {} : { grant }),
  };
  const answered = buildAnswer(made, ask, { ...ground, madeFor: madeFor(tenantId, grant?.id) });
  if (!isSame(answered.manifest, given)) throw new Failure(`${id}: ${whyOther(given)}`);
  return {
    text: made.composed.text,
    body: { ...answered.body, manifest_id: id },
    checked: given.answer !== undefined,
  };
}

/**
 * Compares answers by their hash. Manifests of form 1 have none: the data that was looked up outside the record is
 * compared.
 */
function isSame(made: Manifest, given: Manifest): boolean {
  if (given.answer !== undefined) return made.answer === given.answer;
  const { answer: _, version: _v, ...inputs } = made;
  return printManifest({ ...inputs, form: given.form }) === printManifest(given);
}

function whyOther({ form, version }: Manifest): string {
  const differs = 'the context made from the events differs from the one that was returned';
  if (form === FORM)
    return `${differs}. The rules of contexts are the same, so check the events and the manifest: annal verify`;
  const writer = version === undefined ? 'an earlier version of Annal' : `Annal ${version}`;
  return `${differs}. It was made by ${writer} with rules of form ${form}; the rules of this version have form ${FORM}. Run the command of that version on a copy of the data`;
}

/** Returns whether the grant of a context covered a resource (docs/spec/decisions.md, section 9, "Letters"). */
function isCovered(grant: GrantManifest, { type, body }: Current): boolean {
  return allows(manifestAccess(grant), type, CONTEXT_LETTERS, readCategories(type, JSON.parse(body)));
}

function masked(version: Current): Current {
  return { ...version, body: maskedBody(version.body) };
}

function maskedAuthors(authors: ReadonlyMap<string, Authorship>): Map<string, Authorship> {
  return new Map([...authors].map(([name, each]) => [name, maskedAuthorship(each)]));
}

function manifestAccess({ types }: GrantManifest): Access {
  return { types: new Map(Object.entries(types)) };
}

/** Returns versions by the ids of their resources, the newest first. */
function groupVersions(
  versions: readonly ResourceAt[],
  show: (body: string) => string,
): Map<string, { readonly version: number; readonly body: string; readonly recordedAt: string }[]> {
  const grouped = new Map<string, { version: number; body: string; recordedAt: string }[]>();
  for (const { id, version, body = '', recordedAt } of versions) {
    const each = { version, body: show(body), recordedAt };
    grouped.set(id, [each, ...(grouped.get(id) ?? [])]);
  }
  return grouped;
}

interface Versions {
  readonly current: readonly Current[];
  /** The versions that somebody else had written before an AI changed them. */
  readonly earlier: readonly Current[];
  readonly authors: ReadonlyMap<string, Authorship>;
  readonly byAi: AiVersions;
  readonly owner: Tenant | undefined;
}

/**
 * Returns the versions that the read models contained for a record.
 * @param others all versions that no AI wrote, the oldest first
 * @param isShown whether a version was covered
 */
function collectVersions(
  { resources }: RecordAt,
  others: readonly ResourceAt[],
  isShown: (version: Current) => boolean,
): Versions {
  const [current, earlier]: [Current[], Current[]] = [[], []];
  const authors = new Map<string, Authorship>();
  const byAi = new Map<string, number | undefined>();
  const last = new Map<string, readonly [Current, Authorship]>();
  for (const at of others) {
    const { type, id, version, body } = at;
    if (body === undefined || !isShown({ type, id, version, body })) continue;
    last.set(id, [{ type, id, version, body }, readAuthorship(at)]);
  }
  let owner: Tenant | undefined;
  for (const version of resources.values()) {
    const { type, id, body, metadata } = version;
    owner ??= metadata.owner;
    if (body === undefined) continue;
    const now = { type, id, version: version.version, body };
    current.push(now);
    authors.set(versionReference(now), readAuthorship(version));
    if (!isByAi(version)) continue;
    const [before, author] = last.get(id) ?? [];
    byAi.set(versionReference(now), before?.version);
    if (before === undefined || author === undefined) continue;
    earlier.push(before);
    authors.set(versionReference(before), author);
  }
  return { current, earlier, authors, byAi, owner };
}

function isByAi({ metadata }: ResourceAt): boolean {
  return metadata.author?.type === 'ai';
}

function readAuthorship({ metadata }: ResourceAt): Authorship {
  return { authorType: metadata.author?.type ?? 'import', source: metadata.source_system ?? null };
}

/** Entries of the directory in the versions that a manifest names. */
async function entriesAt(
  store: EventStore,
  owner: Tenant,
  versions: Manifest['directory'],
  keys: readonly string[],
): Promise<Current[]> {
  const found: Current[] = [];
  if (Object.keys(versions).length === 0) return found;
  for await (const { event } of new Replay(store.read(directoryStream(owner)))) {
    if (event.type !== 'ResourceCreated' && event.type !== 'ResourceUpdated') continue;
    const { resourceType: type, resourceId: id, version, body } = event;
    const key = `${type}/${id}`;
    if (keys.includes(key) && versions[key] === version) found.push({ type, id, version, body });
  }
  return found;
}

function nameCodes(
  codes: readonly { readonly system: string; readonly code: string }[],
  displays: Manifest['displays'],
): Map<string, string> {
  return new Map(
    codes.flatMap(({ system, code }): [string, string][] => {
      const display = displays[`${system}|${code}`];
      return display === undefined ? [] : [[`${system}|${code}`, display]];
    }),
  );
}
