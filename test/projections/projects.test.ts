/**
 * How things end in the read model `projects`: verifications, requests for production, and applications with their projects,
 * however events are divided into batches.
 */
import { expect } from 'chai';
import { projects } from '#projections/projects/project.ts';
import { runAll } from '#projections/rows.ts';
import { openSession } from '#projections/session.ts';
import { prepareReadModels } from '#projections/tables.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { NewEvent } from '#src/events/store.ts';
import { applicationStream, organizationStream, projectStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { made, stored } from './made.ts';

/** Where batches end. A number smaller than the previous one means that the batches start over, so events are repeated. */
const CUTS = [[99], [1, 2, 3, 4, 5, 99], [2, 0, 4, 1, 99], [3, 99, 0, 99]];

describe('read model projects, however batches are cut or repeated', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, [projects]);
  });
  after(() => database.drop());

  /** Projects events in batches, each in one transaction. */
  async function project(events: readonly StoredEvent[], cut: readonly number[]): Promise<void> {
    const session = await openSession(database.url, { name: 'test' });
    let from = 0;
    for (const to of cut) {
      await session.query('begin');
      await runAll(session, projects.statements('projects', events.slice(Math.min(from, to), to)));
      await session.query('commit');
      from = to;
    }
    await session.end();
  }

  const one = async (sql: string, id: string) => (await database.pool.query(sql, [id])).rows[0];

  type Step = { readonly verified: string } | { readonly sso: readonly string[] };
  const verified = (domain: string): Step => ({ verified: domain });
  const sso = (...domains: string[]): Step => ({ sso: domains });
  const eventOf = (step: Step): NewEvent =>
    'verified' in step
      ? made({ type: 'OrganizationVerified', data: { domain: step.verified } })
      : made({
          type: 'OrganizationSsoConfigured',
          data: { issuer: 'https://idp.example', client_id: 'c', domains: [...step.sso] },
        });

  const verifications: [string, Step[], string | null][] = [
    ['settings with the domain', [verified('a.example'), sso('b.example', 'a.example')], 'a.example'],
    ['settings without the domain', [verified('a.example'), sso('b.example')], null],
    ['settings without domains', [verified('a.example'), sso()], null],
    ['settings without, then with it', [verified('a.example'), sso('b.example'), sso('a.example')], null],
    ['settings before it', [sso('b.example'), sso('a.example'), verified('a.example')], 'a.example'],
    ['another after', [verified('a.example'), sso('b.example'), verified('b.example')], 'b.example'],
    [
      'the same after',
      [verified('a.example'), sso('b.example'), sso('a.example'), verified('a.example')],
      'a.example',
    ],
  ];
  for (const [what, steps, domain] of verifications) {
    it(`${domain === null ? 'drops' : 'keeps'} a confirmed domain: ${what}`, async () => {
      for (const cut of CUTS) {
        const id = `org_${newUuid()}`;
        const founded = made({ type: 'OrganizationCreated', data: { organization_id: id, name: 'Clinic' } });
        await project(stored(organizationStream(id), [founded, ...steps.map(eventOf)]), cut);
        const row = await one('select * from projects.organization where id = $1', id);
        expect(row.confirmed_domain, `${cut}`).to.equal(domain);
      }
    });
  }

  it('answers requests for production by their own refusal, or by the first allowance after them', async () => {
    for (const cut of [...CUTS, [5, 2, 7, 3, 99]]) {
      const id = `proj_${newUuid()}`;
      const data = { project_id: id };
      const requested = (name: string): NewEvent =>
        made({
          type: 'ProductionAccessRequested',
          data: { ...data, request_id: `${name} ${id}`, use: name },
        });
      const allowed = (): NewEvent => made({ type: 'ProductionAccessAllowed', data });
      const events = stored(projectStream(id), [
        made({ type: 'ProjectCreated', data: { ...data, organization_id: 'org_1', name: 'Pilot' } }),
        requested('first'),
        made({
          type: 'ProductionAccessRefused',
          data: { ...data, request_id: `first ${id}`, reason: 'no domain' },
        }),
        requested('second'),
        allowed(),
        made({ type: 'ProductionAccessWithdrawn', data }),
        requested('third'),
        allowed(),
        requested('fourth'),
      ]);
      await project(events, cut);
      const { rows } = await database.pool.query(
        `select use, status, reason, answered_at from projects.production_request where project = $1 order by created_at`,
        [id],
      );
      const at = (index: number) => toMicros(events[index]?.metadata.recorded_at ?? '');
      expect(rows, `${cut}`).to.deep.equal([
        { use: 'first', status: 'refused', reason: 'no domain', answered_at: at(2) },
        { use: 'second', status: 'allowed', reason: null, answered_at: at(4) },
        { use: 'third', status: 'allowed', reason: null, answered_at: at(7) },
        { use: 'fourth', status: 'pending', reason: null, answered_at: null },
      ]);
      const word = await one('select production, production_at from projects.project where id = $1', id);
      expect(word, `${cut}`).to.deep.equal({ production: 'allowed', production_at: at(7) });
    }
  });

  type Happened = 'opened' | 'closed' | 'registered' | 'deleted' | 'again';
  const ends: [string, Happened[], Happened | undefined][] = [
    ['shows an application of an open project', ['opened', 'registered'], undefined],
    ['hides one of a closed project', ['opened', 'registered', 'closed'], 'closed'],
    ['hides one that was registered after its project’s end', ['opened', 'closed', 'registered'], 'closed'],
    ['shows a guest that was registered again', ['opened', 'registered', 'deleted', 'again'], undefined],
    [
      'hides a guest that was deleted again',
      ['opened', 'registered', 'deleted', 'again', 'deleted'],
      'deleted',
    ],
    ['hides one that was deleted before that', ['opened', 'registered', 'deleted', 'closed'], 'deleted'],
    ['hides one that was deleted after that', ['opened', 'registered', 'closed', 'deleted'], 'closed'],
  ];
  for (const [what, happened, end] of ends) {
    it(what, async () => {
      for (const cut of CUTS) {
        const id = newUuid();
        const [project_id, application_id] = [`proj_${id}`, `app_${id}`];
        const make: Readonly<Record<Happened, () => [string, NewEvent]>> = {
          opened: () => [
            projectStream(project_id),
            made({ type: 'ProjectCreated', data: { project_id, organization_id: 'org_1', name: 'Pilot' } }),
          ],
          closed: () => [projectStream(project_id), made({ type: 'ProjectDeleted', data: { project_id } })],
          registered: () => [
            applicationStream(application_id),
            made({
              type: 'ApplicationRegistered',
              data: { application_id, project_id, client_id: `client_${id}`, ...DIARY },
            }),
          ],
          again: () => [
            applicationStream(application_id),
            made({
              type: 'ApplicationRegistered',
              data: { application_id, project_id, client_id: `client_${id}`, ...DIARY, name: 'Renamed' },
            }),
          ],
          deleted: () => [
            applicationStream(application_id),
            made({ type: 'ApplicationDeleted', data: { application_id } }),
          ],
        };
        const events = happened.flatMap((name) => {
          const [stream, event] = make[name]();
          return stored(stream, [event]);
        });
        await project(events, cut);
        const row = await one(
          'select a.name, a.deleted_at, p.deleted_at as closed_at from projects.application a join projects.project p on p.id = a.project where a.id = $1',
          application_id,
        );
        expect(row.name).to.equal(happened.includes('again') ? 'Renamed' : DIARY.name);
        expect(row.deleted_at !== null, `${cut}`).to.equal(end !== undefined);
        if (end !== undefined) {
          expect(row.deleted_at === row.closed_at, `${cut}`).to.equal(end === 'closed');
        }
      }
    });
  }
});

const DIARY = {
  name: 'Diary',
  environment: 'sandbox' as const,
  kind: 'public' as const,
  redirect_uris: ['https://diary.example/back'],
  scopes: ['patient/*.rs'],
  grant_types: ['authorization_code'],
};
