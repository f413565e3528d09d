/** Query results under a grant: queries/sight.ts (docs/spec/decisions.md, section 9, "Letters" and "Categories"). */
import { expect } from 'chai';
import type { Pool } from 'pg';
import { parseInclusions } from '#queries/include/inclusions.ts';
import { openLocate } from '#queries/locate.ts';
import { openMatch } from '#queries/match.ts';
import { openQueries, type Queries } from '#queries/queries.ts';
import { openPool } from '#src/database/pool.ts';
import { requiredValueSets } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { type Caller, tenantId } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nameList } from '#src/v1/lists.ts';
import { type Instance, startInstance } from '#test/projections/instance.ts';
import { created, deleted, Streams, TENANT, updated } from '#test/projections/made.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';

const BASE = 'http://annal.test/fhir/R4/';
const SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';

describe('queries under a grant', () => {
  let database: TestDatabase;
  let instance: Instance;
  let pool: Pool;
  let queries: Queries;
  const [mine, other] = [newUuid(), newUuid()];
  const ids = Object.fromEntries(
    ['lab', 'vital', 'both', 'none', 'left', 'came', 'gone', 'back', 'foreign', 'condition', 'doctor'].map(
      (name) => [name, newUuid()],
    ),
  );
  const [claim, hidden] = [newUuid(), newUuid()];
  const id = (name: string): string => ids[name] ?? '';
  const observation = (patient: string, ...codes: string[]) => ({
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '4548-4' }] },
    subject: { reference: `Patient/${patient}` },
    performer: [{ reference: `Practitioner/${id('doctor')}` }],
    ...(codes.length === 0
      ? {}
      : { category: codes.map((code) => ({ coding: [{ system: SYSTEM, code }] })) }),
  });
  const provenance = (...targets: string[]) => ({
    recorded: '2026-01-01T00:00:00Z',
    target: targets.map((reference) => ({ reference })),
    agent: [{ who: { reference: `Practitioner/${id('doctor')}` } }],
  });

  const caller = (...scopes: string[]): Caller => ({
    calls: {
      project: { project: 'proj_app', environment: 'sandbox' },
      projectId: tenantId({ project: 'proj_app', environment: 'sandbox' }),
      credential: { kind: 'grant', applicationId: 'app_1', grantId: 'grant_1' },
      scopes: ['read'],
    },
    sees: {
      owner: TENANT,
      ownerId: tenantId(TENANT),
      within: { record: mine, patient: newUuid(), access: parseAccess(scopes), purpose: null },
    },
  });
  const labs = () => caller(`patient/Observation.rs?category=${SYSTEM}|laboratory`, 'patient/Provenance.rs');
  const all = () => caller('patient/*.rs');

  before(async () => {
    database = await createDatabase();
    instance = await startInstance(database.url);
    pool = openPool(database.url, { max: 4 });
    queries = openQueries(
      pool,
      { ...requiredValueSets, displays: async () => new Map(), findCodes: async () => new Map() } as never,
      async () => undefined,
      async () => undefined,
    );
    const streams = new Streams(instance.store);
    await streams.directory(created('Practitioner', id('doctor'), { name: [{ family: 'Smith' }] }));
    await streams.record(
      other,
      created('Patient', other, { name: [{ family: 'Other' }] }),
      created('Observation', id('foreign'), {
        ...observation(other, 'laboratory'),
        focus: [{ reference: `Patient/${mine}` }],
      }),
    );
    const at = (name: string, ...codes: string[]) =>
      created('Observation', id(name), observation(mine, ...codes));
    const to = (name: string, version: number, ...codes: string[]) =>
      updated('Observation', id(name), version, observation(mine, ...codes));
    const position = await streams.record(
      mine,
      created('Patient', mine, {
        name: [{ family: 'Mine' }],
        link: [{ other: { reference: `Patient/${other}` } }],
      }),
      at('lab', 'laboratory'),
      at('vital', 'vital-signs'),
      at('both', 'vital-signs', 'laboratory'),
      at('none'),
      at('left', 'laboratory'),
      to('left', 2, 'vital-signs'),
      at('came', 'vital-signs'),
      to('came', 2, 'laboratory'),
      at('gone', 'laboratory'),
      deleted('Observation', id('gone'), 2),
      at('back', 'laboratory'),
      deleted('Observation', id('back'), 2),
      to('back', 3, 'vital-signs'),
      created('Condition', id('condition'), { subject: { reference: `Patient/${mine}` } }),
      created('Provenance', claim, provenance(`Observation/${id('lab')}`)),
      created('Provenance', hidden, provenance(`Observation/${id('lab')}`, `Observation/${id('vital')}`)),
    );
    await instance.shown(position);
  });
  after(async () => {
    await queries.close();
    await pool.end();
    await instance.stop();
    await database.drop();
  });

  const isRead = async (by: Caller, type: ResourceType, of: string) =>
    (await queries.read(by, type, of)) !== undefined;
  const search = async (by: Caller, type: ResourceType, query = '', record?: string) => {
    const asked = { type, query: new URLSearchParams(query), base: BASE, ...(record ? { record } : {}) };
    const { matches, total } = await queries.search(by, asked);
    expect(total).to.equal(matches.length);
    return matches.map((match) => match.id).sort();
  };
  const eventOf = async (name: string, version: number) => {
    const { rows } = await pool.query<{ event_id: string }>(
      'select event_id from history.version where id = $1 and version = $2',
      [id(name), version],
    );
    return rows[0]?.event_id ?? '';
  };
  const named = (...names: string[]) => names.map(id).sort();

  it('read by the current version, for a deleted resource by the last before', async () => {
    for (const [name, seen] of Object.entries({
      lab: true,
      both: true,
      came: true,
      gone: true,
      vital: false,
      none: false,
      left: false,
      back: false,
      foreign: false,
    })) {
      expect(await isRead(labs(), 'Observation', id(name)), name).to.equal(seen);
      expect(await isRead(all(), 'Observation', id(name)), name).to.equal(name !== 'foreign');
      const marked = await queries.readMarked(labs(), 'Observation', id(name));
      expect(marked !== undefined, name).to.equal(seen);
    }
    expect(await isRead(labs(), 'Patient', mine)).to.equal(true);
    expect(await isRead(labs(), 'Patient', other)).to.equal(false);
    expect(await isRead(labs(), 'Condition', id('condition'))).to.equal(false);
    expect(await isRead(labs(), 'Practitioner', id('doctor'))).to.equal(true);
  });

  it('read for several callers together without mixing what they see', async () => {
    const vital = caller('patient/Observation.rs?category=vital-signs');
    const found = await Promise.all(
      [labs(), vital, all(), labs()].map((by) => isRead(by, 'Observation', id('lab'))),
    );
    expect(found).to.deep.equal([true, false, true, true]);
  });

  it('show of a history the versions within, and count those', async () => {
    const versions = async (name: string, by = labs(), more = {}) => {
      const page = await queries.history(by, { type: 'Observation', id: id(name), count: 10, ...more });
      expect(page.total).to.equal(page.entries.length);
      return page.entries.map(({ version }) => version);
    };
    expect(await versions('lab')).to.deep.equal([1]);
    expect(await versions('came')).to.deep.equal([2]);
    expect(await versions('came', all())).to.deep.equal([2, 1]);
    expect(await versions('left')).to.deep.equal([]);
    expect(await versions('back')).to.deep.equal([]);
    expect(await versions('gone')).to.deep.equal([2, 1]);
    expect(await versions('foreign', all())).to.deep.equal([]);
    expect(await queries.newestVersion(labs(), 'Observation', id('came'))).to.equal(undefined);
    const vread = async (name: string, version: number, by = labs()) =>
      (await queries.vread(by, 'Observation', id(name), version)) !== undefined;
    expect(await vread('came', 1)).to.equal(false);
    expect(await vread('came', 2)).to.equal(true);
    expect(await vread('left', 1)).to.equal(false);
    expect(await vread('gone', 2)).to.equal(true);
    expect(await vread('foreign', 1, all())).to.equal(false);
  });

  it('show histories of types and of the system page by page', async () => {
    const pages = async (by: Caller, type?: ResourceType) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await queries.history(by, {
          count: 3,
          ...(type === undefined ? {} : { type }),
          ...(cursor === undefined ? {} : { cursor }),
        });
        found.push(...page.entries.map((each) => `${each.id}/${each.version}`));
        if (page.next === undefined) expect(page.total).to.equal(found.length);
        cursor = page.next;
      } while (cursor !== undefined);
      return found.sort();
    };
    const observations = [
      `${id('lab')}/1`,
      `${id('both')}/1`,
      `${id('came')}/2`,
      `${id('gone')}/1`,
      `${id('gone')}/2`,
    ];
    expect(await pages(labs(), 'Observation')).to.deep.equal(observations.sort());
    expect(await pages(labs(), 'Condition')).to.deep.equal([]);
    expect(await pages(labs(), 'Practitioner')).to.deep.equal([`${id('doctor')}/1`]);
    expect(await pages(labs())).to.deep.equal(
      [...observations, `${mine}/1`, `${claim}/1`, `${id('doctor')}/1`].sort(),
    );
    expect(await pages(all())).to.have.length(18);
  });

  it('find by search what is within, whatever is asked', async () => {
    const within = named('lab', 'both', 'came');
    expect(await search(labs(), 'Observation')).to.deep.equal(within);
    expect(await search(labs(), 'Observation', 'code=4548-4')).to.deep.equal(within);
    expect(await search(labs(), 'Observation', '_sort=-_lastUpdated')).to.deep.equal(within);
    expect(await search(labs(), 'Observation', '_sort=code')).to.deep.equal(within);
    expect(await search(labs(), 'Observation', 'category=vital-signs')).to.deep.equal(named('both'));
    expect(await search(labs(), 'Observation', `_id=${Object.values(ids).join()}`)).to.deep.equal(within);
    expect(await search(labs(), 'Observation', `patient=${other}`)).to.deep.equal([]);
    expect(await search(labs(), 'Observation', '', mine)).to.deep.equal(within);
    expect(await search(labs(), 'Observation', '', other)).to.deep.equal([]);
    expect(await search(labs(), 'Condition')).to.deep.equal([]);
    expect(await search(all(), 'Observation')).to.have.length(7);
    expect(await search(all(), 'Patient')).to.deep.equal([mine]);
    expect(await search(all(), 'Patient', 'family=Other')).to.deep.equal([]);
    expect(await search(labs(), 'Practitioner', 'name=Smith')).to.deep.equal(named('doctor'));
  });

  it('find through chains and _has only by what is within', async () => {
    const only = caller('patient/Condition.rs', 'patient/Observation.rs?category=survey');
    expect(await search(labs(), 'Observation', 'subject:Patient.name=Mine')).to.have.length(3);
    expect(await search(labs(), 'Observation', 'subject:Patient.name=Other')).to.deep.equal([]);
    expect(await search(labs(), 'Observation', 'focus:Patient.name=Other')).to.deep.equal([]);
    expect(await search(labs(), 'Observation', 'performer:Practitioner.name=Smith')).to.have.length(3);
    const has = '_has:Observation:patient:code=4548-4';
    expect(await search(labs(), 'Patient', has)).to.deep.equal([mine]);
    expect(await search(only, 'Patient', has)).to.deep.equal([]);
    expect(await search(labs(), 'Patient', '_has:Observation:focus:code=4548-4')).to.deep.equal([]);
    expect(await search(all(), 'Patient', '_has:Observation:focus:code=4548-4')).to.deep.equal([]);
    const performer = '_has:Observation:performer:code=4548-4';
    expect(await search(labs(), 'Practitioner', performer)).to.deep.equal(named('doctor'));
    expect(await search(only, 'Practitioner', performer)).to.deep.equal([]);
  });

  it('show a Provenance if all its targets are seen', async () => {
    const isShown = async (of: string, by = labs()) => (await queries.readProvenance(by, of)) !== undefined;
    expect(await isShown(claim)).to.equal(true);
    expect(await isShown(hidden)).to.equal(false);
    expect(await isShown(hidden, all())).to.equal(true);
    expect(await isRead(labs(), 'Provenance', claim)).to.equal(true);
    expect(await isRead(labs(), 'Provenance', hidden)).to.equal(false);
    expect(await isShown(await eventOf('lab', 1))).to.equal(true);
    expect(await isShown(await eventOf('came', 1))).to.equal(false);
    expect(await isShown(await eventOf('left', 1))).to.equal(false);
    expect(await isShown(await eventOf('gone', 2))).to.equal(true);
    expect(await isShown(await eventOf('foreign', 1), all())).to.equal(false);
    expect(await isShown(claim, caller('patient/Observation.rs'))).to.equal(false);
  });

  it('find Provenances whose targets are all within, counted and page by page', async () => {
    const found = async (by: Caller, query = '', more: { record?: string; letters?: string } = {}) => {
      const all: string[] = [];
      let cursor: string | undefined;
      do {
        const asked = new URLSearchParams(query);
        if (cursor !== undefined) asked.set('_cursor', cursor);
        const page = await queries.searchProvenance(by, { query: asked, base: BASE, ...more });
        for (const { id: one, body } of page.matches) {
          expect(body, one).to.be.a('string');
          all.push(one);
        }
        if (cursor === undefined) {
          const count = new URLSearchParams([...asked, ['_summary', 'count']]);
          const { total } = await queries.searchProvenance(by, { query: count, base: BASE, ...more });
          expect(page.total).to.equal(total);
          const none = new URLSearchParams([...asked, ['_total', 'none']]);
          const uncounted = await queries.searchProvenance(by, { query: none, base: BASE, ...more });
          expect(uncounted.total).to.equal(undefined);
        }
        if (page.next === undefined) expect(page.total).to.equal(all.length);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(new Set(all).size).to.equal(all.length);
      return all;
    };
    const events = async (...versions: [name: string, version: number][]) =>
      Promise.all(versions.map(([name, version]) => eventOf(name, version)));
    const event = async (of: string) =>
      (await pool.query<{ event_id: string }>('select event_id from history.version where id = $1', [of]))
        .rows[0]?.event_id ?? '';
    // Provenances of the versions within the grant, of the directory entry, and of the Patient; also the client's own
    // Provenance, and the Provenance of that Provenance.
    const within = [
      ...(await events(['lab', 1], ['both', 1], ['came', 2], ['gone', 1], ['gone', 2], ['doctor', 1])),
      await event(mine),
      claim,
      await event(claim),
    ].sort();
    for (const sort of ['recorded', '-recorded', '_id', '-_id', '_lastUpdated', '-_lastUpdated'])
      for (const count of [2, 50])
        expect((await found(labs(), `_sort=${sort}&_count=${count}`)).sort(), sort).to.deep.equal(within);
    const doctor = await eventOf('doctor', 1);
    expect((await found(labs(), '', { record: mine })).sort()).to.deep.equal(
      within.filter((each) => each !== doctor),
    );
    expect(await found(labs(), '', { record: other })).to.deep.equal([]);
    expect(await found(all(), '', { record: other })).to.deep.equal([]);
    expect(await found(all(), '_count=3')).to.have.length(20);
    expect(await found(caller('patient/Observation.rs'))).to.deep.equal([]);
    expect(await found(caller('patient/Provenance.rs'))).to.have.members([await event(mine), doctor]);
    expect(await found(labs(), '', { letters: 'rs' })).to.have.length(within.length);
    expect(await found(caller('patient/*.s'), '', { letters: 'rs' })).to.deep.equal([]);
    const target = (name: string, version?: number) =>
      `target=Observation/${id(name)}${version === undefined ? '' : `/_history/${version}`}`;
    expect((await found(labs(), target('lab'))).sort()).to.deep.equal(
      [await eventOf('lab', 1), claim].sort(),
    );
    expect((await found(all(), target('lab'))).sort()).to.deep.equal(
      [await eventOf('lab', 1), claim, hidden].sort(),
    );
    expect(await found(labs(), target('came'))).to.deep.equal([await eventOf('came', 2)]);
    for (const name of ['came', 'left', 'vital', 'foreign'])
      expect(await found(labs(), target(name, 1)), name).to.deep.equal([]);
    expect(await found(all(), target('foreign'))).to.deep.equal([]);
    expect(await found(labs(), `patient=${mine}`)).to.deep.equal([await event(mine)]);
    expect(await found(all(), `patient=${other}`)).to.deep.equal([]);
    expect(await found(labs(), `agent=Practitioner/${id('doctor')}`)).to.deep.equal([claim]);
    expect((await found(all(), `agent=Practitioner/${id('doctor')}`)).sort()).to.deep.equal(
      [claim, hidden].sort(),
    );
    expect(await found(labs(), `_id=${hidden},${claim}`)).to.deep.equal([claim]);
    expect(await found(labs(), `_id:not=${claim}`)).to.have.length(within.length - 1);
    expect(await found(labs(), 'activity=DELETE')).to.deep.equal([await eventOf('gone', 2)]);
    expect(await found(labs(), 'recorded=2026-01-01T00:00:00Z')).to.deep.equal([claim]);
    expect((await found(labs(), 'target:Patient.name=Mine')).sort()).to.deep.equal([await event(mine)]);
    expect(await found(all(), 'target:Patient.name=Other')).to.deep.equal([]);
    // Eleven versions of resources that haven't been deleted, and both claims.
    expect(await found(all(), 'target:Observation.code=4548-4', { record: mine })).to.have.length(13);
    expect(await found(labs(), 'agent:Practitioner.name=Smith')).to.deep.equal([claim]);
    const refused = await found(labs(), 'target:Condition.code=x').catch((error: unknown) => error);
    expect(refused).to.be.an.instanceOf(Refusal).with.property('kind', 'forbidden');
  });

  it('find Provenances by the names of the own keys and applications, not by those of others', async () => {
    const ids = async (by: Caller, value: string) => {
      const query = new URLSearchParams({ 'agent:identifier': value, _count: '200' });
      const { matches } = await queries.searchProvenance(by, { query, base: BASE });
      return matches.length;
    };
    const own: Caller = { calls: { ...all().calls, project: TENANT }, sees: all().sees };
    const { rows } = await pool.query<{ key: string | null }>(
      `select distinct metadata::jsonb #>> '{credential,key_id}' as key from history.version where record = $1`,
      [mine],
    );
    const [{ key } = { key: null }] = rows;
    expect(key).to.be.a('string');
    for (const value of [
      `${key}`,
      `https://annal.dev/fhir/api-key|${key}`,
      'https://annal.dev/fhir/api-key|',
    ]) {
      expect(await ids(own, value), value).to.be.greaterThan(10);
      expect(await ids(all(), value), value).to.equal(0);
    }
    expect(await ids(all(), 'https://annal.dev/fhir/author-type|')).to.be.greaterThan(10);
  });

  it('include what is within, forwards and backwards', async () => {
    const included = async (by: Caller, query: string, ...from: [type: ResourceType, body: object][]) => {
      const matches = from.map(([type, { id: of, ...body }]: [ResourceType, { id?: string }]) => ({
        ...{ type, id: of ?? newUuid(), version: 1, lastUpdated: 0, body: JSON.stringify(body) },
      }));
      const inclusions = parseInclusions(new URLSearchParams(query));
      const { resources, more } = await queries.include(by, { matches, inclusions, base: BASE });
      expect(more).to.equal(false);
      return resources;
    };
    const idsOf = async (...asked: Parameters<typeof included>) =>
      (await included(...asked)).map((each) => each.id).sort();
    const to = (...references: string[]) => references.map((reference) => ({ reference }));
    const observed = { id: id('lab'), subject: to(`Patient/${mine}`)[0] };
    const derived = to(
      ...Object.values(ids).map((each) => `Observation/${each}`),
      `Observation/${id('came')}/_history/1`,
      `Observation/${id('left')}/_history/1`,
      `Observation/${id('foreign')}/_history/1`,
      `Observation/${id('lab')}/_history/1`,
    );
    const derives = ['Observation', { derivedFrom: derived }] as const;
    const within = named('lab', 'both', 'came');
    expect(await idsOf(labs(), '_include=Observation:derived-from', [...derives])).to.deep.equal(within);
    expect(await idsOf(all(), '_include=Observation:derived-from', [...derives])).to.deep.equal(
      [...named('lab', 'vital', 'both', 'none', 'left', 'came', 'back'), id('came'), id('left')].sort(),
    );
    expect(await idsOf(labs(), '_include=*', ['Observation', observed])).to.deep.equal([mine]);
    expect(
      await idsOf(all(), '_include=*', [
        'Patient',
        { id: mine, link: [{ other: to(`Patient/${other}`)[0] }] },
      ]),
    ).to.deep.equal([]);
    const about = [await eventOf('lab', 1), await eventOf('came', 1), await eventOf('foreign', 1)];
    const entity = about.map((each) => ({ what: { reference: `Provenance/${each}` } }));
    expect(await idsOf(labs(), '_include=Provenance:entity', ['Provenance', { entity }])).to.deep.equal([
      about[0],
    ]);
    expect(
      await idsOf(caller('patient/Observation.rs'), '_include=*', ['Provenance', { entity }]),
    ).to.deep.equal([]);

    const patient: [ResourceType, object] = ['Patient', { id: mine }];
    expect(await idsOf(labs(), '_revinclude=Observation:subject', patient)).to.deep.equal(within);
    expect(await idsOf(all(), '_revinclude=Observation:subject', patient)).to.have.length(7);
    expect(await idsOf(all(), '_revinclude=Observation:focus', patient)).to.deep.equal([]);
    const doctor: [ResourceType, object] = ['Practitioner', { id: id('doctor') }];
    expect(await idsOf(labs(), '_revinclude=Observation:performer', doctor)).to.deep.equal(within);
    expect(await idsOf(labs(), '_revinclude=Provenance:agent', doctor)).to.deep.equal([claim]);
    expect(await idsOf(all(), '_revinclude=Provenance:agent', doctor)).to.deep.equal([claim, hidden].sort());
    const typesOf = async (by: Caller) =>
      [...new Set((await included(by, '_revinclude=*', patient)).map(({ type }) => type))].sort().join();
    expect(await typesOf(labs())).to.equal('Observation,Provenance');
    expect(await typesOf(all())).to.equal('Condition,Observation,Provenance');
    expect(await typesOf(caller('patient/Condition.rs'))).to.equal('Condition');
    const recorded = (by: Caller, name: string) =>
      idsOf(by, '_revinclude=Provenance:target', ['Observation', { id: id(name) }]);
    expect(await recorded(labs(), 'lab')).to.deep.equal([about[0], claim].sort());
    expect(await recorded(all(), 'lab')).to.deep.equal([about[0], claim, hidden].sort());
    expect(await recorded(labs(), 'came')).to.deep.equal([await eventOf('came', 2)]);
    expect(await recorded(labs(), 'left')).to.deep.equal([]);
  });

  it('locate and match for writes what is within, with the letters that the caller has', async () => {
    const locate = openLocate(pool);
    const by = caller('patient/Observation.ru?category=laboratory', 'patient/Observation.s');
    const found = await locate(by, [...Object.values(ids), mine, other, claim]);
    const letters = Object.fromEntries(Object.keys(ids).map((name) => [name, found.get(id(name))?.letters]));
    expect(letters).to.deep.equal({
      lab: 'rus',
      vital: 's',
      both: 'rus',
      none: 's',
      left: 's',
      came: 'rus',
      gone: 'rus',
      back: 's',
      foreign: undefined,
      condition: undefined,
      doctor: 'rs',
    });
    expect([found.has(mine), found.has(other), found.has(claim)]).to.deep.equal([true, false, false]);
    const match = openMatch(pool, BASE, async () => undefined);
    expect(await match(labs(), 'Observation', `_id=${id('vital')}`)).to.deep.equal([]);
    expect(await match(labs(), 'Observation', `_id=${id('lab')}`)).to.deep.equal(named('lab'));
    expect(await match(all(), 'Observation', `_id=${id('foreign')}`)).to.deep.equal([]);
  });

  it('list and tell of the record what is within, and count that', async () => {
    const listed = async (by: Caller, types: readonly ('Observation' | 'Condition')[], more: object = {}) => {
      const of = { patient: mine, types, letters: 's', lists: types.map((type) => nameList(type)), ...more };
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await queries.items(by, of, { limit: 1, cursor });
        ids.push(...page.rows.map((row) => row.id));
        if (page.next === undefined) expect(page.total).to.equal(page.seen ? ids.length : 0);
        cursor = page.next;
      } while (cursor !== undefined);
      return ids.sort();
    };
    expect(await listed(labs(), ['Observation'])).to.deep.equal(named('lab', 'both', 'came'));
    // An Observation in two categories that the grant covers is listed once.
    const several = caller(
      `patient/Observation.rs?category=${SYSTEM}|laboratory`,
      'patient/Observation.s?category=vital-signs',
    );
    expect(await listed(several, ['Observation'])).to.deep.equal(
      named('lab', 'both', 'came', 'vital', 'left', 'back'),
    );
    expect(await listed(several, ['Observation'], { letters: 'rs' })).to.deep.equal(
      named('lab', 'both', 'came'),
    );
    expect(await listed(all(), ['Observation'])).to.have.length(7);
    const vital = { lists: [nameList('Observation', ['category', `${SYSTEM}|vital-signs`])] };
    expect(await listed(labs(), ['Observation'], vital)).to.deep.equal(named('both'));
    expect(await listed(labs(), ['Observation'], { to: 30_000 })).to.deep.equal(named('lab', 'both', 'came'));
    expect(await listed(labs(), ['Observation'], { patient: other })).to.deep.equal([]);
    expect(await listed(labs(), ['Observation', 'Condition'])).to.deep.equal(named('lab', 'both', 'came'));
    const condition = await listed(all(), ['Observation', 'Condition']);
    expect(condition).to.have.length(8).and.to.include(id('condition'));
  });

  it('summarize who wrote the versions that are within', async () => {
    const versions = async (name: string, by = labs()) => {
      const of = { patient: mine, type: 'Observation' as const, id: id(name) };
      const page = await queries.versions(by, of, { limit: 10 });
      expect(page?.total).to.equal(page?.versions.length);
      return page?.versions.map(({ version }) => version);
    };
    expect(await versions('lab')).to.deep.equal([1]);
    expect(await versions('came')).to.deep.equal([2]);
    expect(await versions('came', all())).to.deep.equal([2, 1]);
    expect(await versions('gone')).to.deep.equal([2, 1]);
    expect(await versions('left')).to.equal(undefined);
    expect(await versions('foreign', all())).to.equal(undefined);
  });

  it('make contexts of what is within, and say nothing of other changes', async () => {
    const told = async (by: Caller, patient = mine) => {
      const ask = { needs: [], budget_tokens: 2_000, format: 'structured' as const };
      const made = await queries.tellContext(by, { patient, ask, today: '2026-01-01' });
      const shown = made?.composed.sections.flatMap(({ items }) =>
        items.flatMap(({ fact }) => [fact.entry, ...fact.also]),
      );
      return made === undefined
        ? undefined
        : { ids: new Set(shown?.map((each) => each.id)), at: made.at, until: made.until };
    };
    const [narrow, whole] = [await told(labs()), await told(all())];
    for (const name of ['vital', 'none', 'left', 'condition']) {
      expect(narrow?.ids.has(id(name)), name).to.equal(false);
    }
    expect(whole?.ids.has(id('condition'))).to.equal(true);
    expect(narrow?.at).to.be.at.most(whole?.at ?? 0);
    expect(narrow?.until).to.equal(whole?.until);
    const { rows } = await pool.query(
      'select max(last_updated)::int8 as at from resources.resource where record = $1',
      [mine],
    );
    expect(whole?.until).to.equal(Number(rows[0].at));
    expect(await told(labs(), other)).to.equal(undefined);
  });

  it('read whole records as far as they are within', async () => {
    const everything = async (by: Caller, patient = mine, types?: readonly ResourceType[]) => {
      const asked = { count: 50, used: new URLSearchParams(), ...(types ? { types: new Set(types) } : {}) };
      const { entries } = await queries.everything(by, patient, asked, BASE);
      return entries.map((entry) => entry.id).sort();
    };
    expect(await everything(labs())).to.deep.equal(
      [...named('lab', 'both', 'came', 'doctor'), mine, claim].sort(),
    );
    expect(await everything(labs(), other)).to.deep.equal([]);
    expect(await everything(all(), other)).to.deep.equal([]);
    expect(await everything(all())).to.have.length(12);
    // A type needs both letters.
    expect(await everything(caller('patient/*.r', 'patient/Condition.s'))).to.deep.equal(
      [mine, id('condition')].sort(),
    );
    const events = await everything(labs(), mine, ['Provenance']);
    expect(events).to.have.length(8);
    expect(events)
      .to.include(await eventOf('came', 2))
      .and.not.to.include(await eventOf('came', 1));
  });
});
