/** Invariants of the log, read models and responses, checked at the end of a run. */
import { isDeepStrictEqual } from 'node:util';
import { isResourceEvent } from '#projections/owner.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import { understand } from '#src/events/codec.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { findFaults } from '#test/support/histories.ts';
import { type Clients, SYSTEMS } from './clients.ts';
import type { Database } from './database.ts';
import { FOLLOWERS, ReadModels } from './read-models.ts';

/** Returns a sentence for each invariant that is violated. */
export function findBroken(database: Database, clients: Clients): string[] {
  const { events } = database.log;
  const stored = events.map(understand);
  return [
    ...clients.faults,
    ...findFaults(clients.calls),
    ...findBrokenStreams(events),
    ...findBrokenVersions(stored, clients),
    ...findRepeatedCommands(stored),
    ...findDuplicates(stored),
    ...findDifferences(database, events),
  ];
}

/** Checks that revisions have no gaps, positions rise, and each hash builds on the previous one. */
function findBrokenStreams(events: readonly RecordedEvent[]): string[] {
  const faults: string[] = [];
  const heads = new Map<string, { readonly revision: number; readonly hash: string }>();
  let before = '';
  for (const event of events) {
    const { stream, revision, position } = event;
    const head = heads.get(stream) ?? { revision: -1, hash: GENESIS };
    if (revision !== head.revision + 1)
      faults.push(`${stream}: revision ${revision} follows ${head.revision}`);
    const hash = verifyLink(head.hash, event);
    if (hash === undefined)
      faults.push(`${stream}: the hash of revision ${revision} doesn't continue the chain`);
    if (position <= before) faults.push(`position ${position} follows ${before}`);
    before = position;
    heads.set(stream, { revision, hash: hash ?? '' });
  }
  return faults;
}

/**
 * Checks that versions have no gaps, acknowledged versions are stored as acknowledged, and each write happened at most once.
 */
function findBrokenVersions(stored: readonly StoredEvent[], clients: Clients): string[] {
  const faults: string[] = [];
  const versions = new Map<string, (string | undefined)[]>();
  const written = new Map<string, number>();
  for (const { event } of stored.filter(isResourceEvent)) {
    const marker = 'body' in event ? /"(m\d+\.)"/.exec(event.body)?.[1] : undefined;
    const own = versions.get(event.resourceId) ?? [];
    versions.set(event.resourceId, own);
    own.push(marker);
    if (event.version !== own.length)
      faults.push(`${event.resourceId}: version ${event.version} is in place ${own.length}`);
    if (marker === undefined) continue;
    written.set(marker, (written.get(marker) ?? 0) + 1);
    if (!clients.asked.has(marker)) faults.push(`nobody asked for ${marker}`);
  }
  for (const [marker, times] of written) if (times > 1) faults.push(`${marker} was written ${times} times`);
  const told = new Set<string>();
  for (const { type, id, version, marker } of clients.acknowledged) {
    const name = `${type}/${id}, version ${version}`;
    const own = versions.get(id) ?? [];
    if (version > own.length) faults.push(`${name} was acknowledged, and is lost`);
    else if (own[version - 1] !== marker)
      faults.push(`${name} was acknowledged as ${marker}, and is ${own[version - 1]}`);
    if (told.has(name)) faults.push(`${name} was acknowledged to two writes`);
    told.add(name);
  }
  for (const { id, version } of clients.refusedMatches)
    if ((versions.get(id)?.length ?? 0) <= version)
      faults.push(`If-Match ${version} of ${id} was refused, though there is no later version`);
  return faults;
}

/** Checks that each command made only one append to each stream. */
function findRepeatedCommands(stored: readonly StoredEvent[]): string[] {
  const faults: string[] = [];
  const firsts = new Map<string, number>();
  for (const { stream, metadata, revision } of stored) {
    const command = `${stream} ${metadata.command_id}`;
    const first = revision - metadata.append[0];
    if ((firsts.get(command) ?? first) !== first) faults.push(`${command} appended twice`);
    firsts.set(command, first);
  }
  return faults;
}

/** Checks that conditional creates created only one resource of each type for each value. */
function findDuplicates(stored: readonly StoredEvent[]): string[] {
  const faults: string[] = [];
  const owners = new Map<string, string>();
  const pattern = new RegExp(`"system":"${SYSTEMS.only}","value":"(\\d+)"`);
  for (const { event } of stored.filter(isResourceEvent)) {
    const value = 'body' in event ? pattern.exec(event.body)?.[1] : undefined;
    if (value === undefined) continue;
    const name = `${event.resourceType}?${value}`;
    const owner = owners.get(name) ?? event.resourceId;
    if (owner !== event.resourceId) faults.push(`${name} was created twice`);
    owners.set(name, owner);
  }
  return faults;
}

/** Checks that read models replayed from the beginning, in one batch, match the read models that followed the log. */
function findDifferences({ models }: Database, events: readonly RecordedEvent[]): string[] {
  const replayed = new ReadModels();
  const position = events.at(-1)?.position;
  if (position === undefined) return ['the log is empty'];
  const wanted = events.filter(({ stream }) => /^(?:record|directory)-/.test(stream));
  for (const name of FOLLOWERS)
    replayed.advance(name, replayed.checkpoint(name), { events: wanted, position });
  return isDeepStrictEqual(replayed.rows(), models.rows()) ? [] : ['the read models differ from a replay'];
}
