/** `annal context <manifest>`: makes a context again, from the events as they were when it was asked for. */
import { type RecordAt, recordAt } from '#src/audit/record-at.ts';
import { Replay } from '#src/audit/replay.ts';
import { buildAnswer, madeFor } from '#src/context/answer.ts';
import type { Authorship } from '#src/context/compose.ts';
import { excerptsOf } from '#src/context/excerpt.ts';
import { makeContext } from '#src/context/make.ts';
import type { GrantManifest, Manifest } from '#src/context/manifest.ts';
import { maskedAuthorship, maskedBody } from '#src/context/masked.ts';
import { type Current, openRecord, versionedOf } from '#src/context/record.ts';
import { openPool } from '#src/database/pool.ts';
import type { EventStore } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import { categoriesOf } from '#src/fhir/search/categories.ts';
import { ContextManifests, type KeptManifest } from '#src/operations/context-manifests.ts';
import { type Access, allows } from '#src/shared/access.ts';
import { CONTEXT_LETTERS, coverageOf } from '#src/shared/coverage.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import { toMicros } from '#src/shared/time.ts';
import { withEventStore } from './database.ts';
import { Failure } from './failure.ts';
import { withStream } from './patient.ts';
import type { ServiceOptions } from './service.ts';
import { withDatabase } from './stopped.ts';

/** The options on the command line. */
export interface ContextOptions extends Pick<ServiceOptions, 'dataDir'> {
  /** Prints the whole answer, byte for byte, instead of its text. */
  readonly json?: boolean;
}

/**
 * Rebuilds a context and prints it.
 * @throws Failure for a manifest that doesn't exist, a purged record, a mismatch with the manifest, or an
 * unreachable database.
 */
export async function contextCommand(id: string, { json = false, ...where }: ContextOptions): Promise<void> {
  const { text, body } = await withDatabase(where, async ({ url }) => {
    const pool = openPool(url, { max: 1, name: 'annal context' });
    const kept = await new ContextManifests(pool).find(id).finally(() => pool.end());
    if (kept === undefined) throw new Failure(`unknown manifest ${id.slice(0, 60)}`);
    return withEventStore(url, (store) => contextAgain(store, kept));
  });
  process.stdout.write(`${json ? JSON.stringify(body) : text}\n`);
}

/**
 * Rebuilds the context that a manifest names, and its text.
 * @throws Failure on a mismatch: the events, or the rules by which contexts are built, have changed since.
 */
export async function contextAgain(
  store: EventStore,
  { id, tenantId, record: patient, manifest }: KeptManifest,
): Promise<{ readonly text: string; readonly body: object }> {
  const { at, day, ask, directory, displays, grant } = JSON.parse(manifest) as Manifest;
  const record = await withStream(store, recordStream(patient), (events) =>
    recordAt(events, { kind: 'time', micros: toMicros(grant?.until ?? at) }, () => false),
  );
  const { current: all, authors, byAi, owner } = versionsOf(record);
  const current = grant === undefined ? all : all.filter((version) => isCovered(grant, version)).map(masked);
  const bodies = new Map(current.map((version) => [versionedOf(version), version.body]));
  const made = await makeContext(
    {
      opened: openRecord(excerptsOf(current), byAi),
      directory: (keys) =>
        owner === undefined
          ? Promise.resolve([])
          : entriesAt(store, owner, directory, keys).then((entries) =>
              grant === undefined ? entries : entries.map(masked),
            ),
      displays: (codes) => Promise.resolve(named(codes, displays)),
      authors: () => Promise.resolve(grant === undefined ? authors : maskedAuthors(authors)),
      bodies: () => Promise.resolve(bodies),
      covered: coverageOf(grant === undefined ? undefined : accessOf(grant)),
    },
    ask,
    day,
  );
  const ground = { patient, at, day, ...(grant === undefined ? {} : { grant }) };
  const answered = buildAnswer(made, ask, { ...ground, madeFor: madeFor(tenantId, grant?.id) });
  if (answered.manifest !== manifest) {
    throw new Failure(`${id}: the context made from the events differs from the one that was returned`);
  }
  return { text: made.composed.text, body: answered.body };
}

/** Returns whether the grant of a context covered a resource (docs/spec/decisions.md, section 9, "Letters"). */
function isCovered(grant: GrantManifest, { type, body }: Current): boolean {
  return allows(accessOf(grant), type, CONTEXT_LETTERS, categoriesOf(type, JSON.parse(body)));
}

function masked(version: Current): Current {
  return { ...version, body: maskedBody(version.body) };
}

function maskedAuthors(authors: ReadonlyMap<string, Authorship>): Map<string, Authorship> {
  return new Map([...authors].map(([name, each]) => [name, maskedAuthorship(each)]));
}

function accessOf({ types }: GrantManifest): Access {
  return { types: new Map(Object.entries(types)) };
}

interface Versions {
  readonly current: readonly Current[];
  readonly authors: ReadonlyMap<string, Authorship>;
  readonly byAi: ReadonlySet<string>;
  readonly owner: Tenant | undefined;
}

/** Returns the versions that the read models contained for a record. */
function versionsOf({ resources }: RecordAt): Versions {
  const current: Current[] = [];
  const authors = new Map<string, Authorship>();
  const byAi = new Set<string>();
  let owner: Tenant | undefined;
  for (const { type, id, version, body, metadata } of resources.values()) {
    owner ??= metadata.owner;
    if (body === undefined) continue;
    const name = versionedOf({ type, id, version });
    current.push({ type, id, version, body });
    authors.set(name, {
      authorType: metadata.author?.type ?? 'import',
      source: metadata.source_system ?? null,
    });
    if (metadata.author?.type === 'ai') byAi.add(name);
  }
  return { current, authors, byAi, owner };
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

function named(
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
