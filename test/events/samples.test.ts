/**
 * Every version of every event type ever written, as real services wrote it (`samples/`), remains readable by upcasters,
 * folds, projections, history and verification. The files contain whole streams, split by type. Files that end with `.2` and
 * so on contain streams that were added later.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { APPLICATION } from '#commands/application/state.ts';
import { Stream } from '#commands/kernel/kernel.ts';
import { ORGANIZATION } from '#commands/organization/state.ts';
import { PROJECT } from '#commands/project/state.ts';
import { RESOURCES } from '#commands/resource/state.ts';
import { SANDBOX } from '#commands/sandbox/state.ts';
import { WEBHOOK } from '#commands/webhook/state.ts';
import { verify } from '#projections/verify/verify.ts';
import { CATALOG, type EventType, type StoredEvent } from '#src/events/catalog.ts';
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import { understand } from '#src/events/codec.ts';
import { parseMetadata } from '#src/events/metadata.ts';
import { LOG_SCHEMA_SQL } from '#src/events/postgres/schema.ts';
import type { Position, RecordedEvent } from '#src/events/store.ts';
import { withAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import { GUESTS } from '#src/shared/access/guests.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { startInstance } from '#test/projections/instance.ts';
import { createMigratedDatabase } from '#test/support/database.ts';

const FOLDER = new URL('./samples/', import.meta.url);
/** Maps a file to its SHA-256 in hex. A new version adds a line; existing lines never change. */
const FROZEN = 'sha256.json';

interface Sample {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly data: string;
  readonly metadata: string;
}

const text = (file: string): string => readFileSync(new URL(file, FOLDER), 'utf8');
const files = readdirSync(FOLDER).filter((file) => file !== FROZEN);
const types = Object.keys(CATALOG) as EventType[];
/** Returns the first file of a type and version: `ResourceCreated.v1.2.json` adds to `ResourceCreated.v1.json`. */
const firstOf = (file: string): string => file.replace(/^(\w+\.v\d+)\.\d+\.json$/, '$1.json');

/** Maps a file to its events, as a store returns them. */
const samples = new Map(
  files.map((file) => {
    const [type = ''] = file.split('.');
    const all = JSON.parse(text(file)) as Sample[];
    return [file, all.map((sample): RecordedEvent => ({ ...sample, type, position: '' as Position }))];
  }),
);

const recordedAt = ({ metadata }: RecordedEvent): number => toMicros(parseMetadata(metadata).recorded_at);

/** All events, in the order in which they were written. */
const log = [...samples.values()].flat().sort((a, b) => recordedAt(a) - recordedAt(b));

/** Maps a stream to its events, in order. */
const streams = new Map<string, RecordedEvent[]>();
for (const event of log) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);

describe('events of every version that was written', () => {
  it('have a file each, which says that version', () => {
    const wanted = types.flatMap((type) =>
      Array.from({ length: CATALOG[type].version }, (_, before) => `${type}.v${before + 1}.json`),
    );
    expect([...new Set(files.map(firstOf))].sort()).to.deep.equal(wanted.sort());
    expect(files).to.include.members(wanted);
    for (const [file, events] of samples) {
      expect(events, file).to.not.deep.equal([]);
      for (const { type, metadata } of events)
        expect(`${type}.v${JSON.parse(metadata).schema_version}.json`).to.equal(firstOf(file));
    }
  });

  it('never change', () => {
    const digests = files.map((file) => [file, createHash('sha256').update(text(file)).digest('hex')]);
    expect(Object.fromEntries(digests)).to.deep.equal(JSON.parse(text(FROZEN)));
  });

  it('have the hashes of the bytes that were written', () => {
    for (const [stream, events] of streams) {
      let hash: string | undefined = GENESIS;
      events.forEach((event, revision) => {
        expect(event.revision, stream).to.equal(revision);
        hash = verifyLink(hash ?? '', event);
        expect(hash, `${stream} ${revision}`).to.be.a('string');
      });
    }
  });

  it('are read without losing a member or a byte of a resource', () => {
    for (const recorded of log) {
      const { event, metadata } = understand(recorded);
      expect(metadata).to.deep.equal(JSON.parse(recorded.metadata));
      if (metadata.schema_version < CATALOG[event.type].version) continue;
      if ('data' in event) expect(event.data).to.deep.equal(JSON.parse(recorded.data));
      else if ('body' in event) expect(recorded.data.endsWith(`"resource":${event.body}}`)).to.equal(true);
      else expect(recorded.data).to.contain(event.resourceId);
    }
  });

  const upcast: Readonly<Record<string, object>> = {
    'ApiKeyCreated.v1.json': { expires_at: null },
    'ApplicationBranded.v1.json': {},
    'ApplicationRegistered.v1.json': { environment: 'sandbox' },
    'ApplicationRegistered.v2.json': {},
    'ApplicationRegistered.v3.json': {},
    'OrganizationMemberAdded.v1.json': {},
    'RecordErased.v1.json': { grants: [], access_log: { entries: 0, hash: null } },
    'RecordErased.v2.json': { access_log: { entries: 0, hash: null } },
  };
  it('are upcast where a later version of their type is there', () => {
    const earlier = [...samples].filter(
      ([file]) => !types.some((type) => firstOf(file) === `${type}.v${CATALOG[type].version}.json`),
    );
    expect(earlier.map(([file]) => file)).to.deep.equal(Object.keys(upcast));
    for (const [file, events] of earlier) {
      for (const recorded of events) {
        const { event } = understand(recorded);
        const added = { ...JSON.parse(recorded.data), ...upcast[file] };
        expect('data' in event && event.data, file).to.deep.equal(added);
      }
    }
  });

  it('are taken in by every fold of their streams', () => {
    const folds = [RESOURCES, ORGANIZATION, PROJECT, SANDBOX, APPLICATION, WEBHOOK];
    const folded = new Map<string, unknown>();
    for (const [name, events] of streams) {
      const own = folds.filter(({ kinds }) => kinds.some((kind) => name.startsWith(`${kind}-`)));
      expect(own, name).to.not.deep.equal([]);
      for (const fold of own) {
        const stream = new Stream<unknown>(fold as never, name);
        for (const { revision, metadata, event } of events.map(understand))
          stream.evolve(
            { revision, hash: metadata.hash ?? '' },
            toMicros(metadata.recorded_at),
            metadata.owner,
            event,
          );
        folded.set(`${fold.name} ${name}`, stream.state);
      }
    }
    const about = (fold: string, events: readonly StoredEvent[], member: object) => {
      for (const { stream } of events)
        expect(folded.get(`${fold} ${stream}`), stream).to.deep.include(member);
    };
    const of = (type: EventType) => log.filter((event) => event.type === type).map(understand);
    // Guests can be registered again.
    const isGuest = ({ event }: StoredEvent) =>
      event.type === 'ApplicationRegistered' && event.data.project_id === GUESTS.project;
    const again = new Set(
      of('ApplicationRegistered')
        .filter(isGuest)
        .map(({ stream }) => stream),
    );
    const [stays, returns] = [false, true].map((is) =>
      of('ApplicationDeleted').filter(({ stream }) => again.has(stream) === is),
    );
    about('application', stays ?? [], { status: 'deleted' });
    about('application', returns ?? [], { status: 'registered' });
    about('application', of('ApplicationTrusted'), { trusted: true });
    about('project', of('ProjectDeleted'), { status: 'deleted' });
    about('organization', of('OrganizationVerified'), { exists: true });
    for (const { stream, event } of of('ApplicationRegistered'))
      expect(folded.get(`application ${stream}`)).to.have.property(
        'clientId',
        event.type === 'ApplicationRegistered' ? event.data.client_id : undefined,
      );
    for (const { stream, event } of of('ResourceDeleted'))
      expect(folded.get(`resources ${stream}`))
        .to.have.property('entries')
        .that.satisfies((entries: ReadonlyMap<string, unknown>) =>
          entries.has('resourceId' in event ? event.resourceId : ''),
        );
  });

  it('are applied by every projection, shown by history, and verified', async function () {
    this.timeout(60_000);
    const database = await createMigratedDatabase();
    try {
      await database.pool.query(LOG_SCHEMA_SQL);
      const rows = log.map((event, before) => ({ ...event, position: String(before + 1) }));
      await database.pool.query(
        'insert into log.events select * from json_populate_recordset(null::log.events, $1) order by position',
        [JSON.stringify(rows)],
      );
      await database.pool.query("select setval('log.positions', max(position)) from log.events");
      const instance = await startInstance(database.url);
      try {
        await instance.shown(await instance.store.head());
        const report = await verify({ store: instance.store, databaseUrl: database.url });
        expect(report).to.deep.include({ clean: true, log: [], readModels: [], events: log.length });
      } finally {
        await instance.stop();
      }
      const shown = await database.pool.query<{ id: string; version: number; body: string }>(
        'select id, version, body from history.version where body is not null',
      );
      const bodies = new Map(shown.rows.map(({ id, version, body }) => [`${id} ${version}`, body]));
      for (const { event, metadata } of log.map(understand)) {
        if (!('body' in event)) continue;
        const { resourceId, version, body } = event;
        const read = isByAi(metadata) ? withAiLabel(body) : body;
        expect(bodies.get(`${resourceId} ${version}`), resourceId).to.equal(read);
      }
      const { rows: applications } = await database.pool.query<{ id: string; environment: string }>(
        'select id, environment from projects.application',
      );
      const environments = new Map(applications.map(({ id, environment }) => [id, environment]));
      for (const { event } of log.map(understand))
        if (event.type === 'ApplicationRegistered')
          expect(environments.get(event.data.application_id)).to.equal(event.data.environment);
      expect([...new Set(environments.values())].sort()).to.deep.equal(['production', 'sandbox']);
    } finally {
      await database.drop();
    }
  });
});
