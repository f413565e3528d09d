/**
 * Receipts and take-backs reveal nothing about other records, projects and environments. An id from elsewhere is answered like
 * an id that never existed, and people see only the receipts for their own records (docs/receipts.md, docs/take-back.md).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { newId, newUuid } from '#src/shared/ids.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { REASON } from '#test/support/auditing.ts';
import { unlinked } from '#test/support/consents.ts';
import { type SignedIn, signedIn } from '#test/support/gateway.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import {
  type Answered,
  type AnsweredWorld,
  answerAbout,
  writeAnswered,
  writeRecord,
} from '#test/support/isolation/answered.ts';
import { neverOf } from '#test/support/isolation/described-routes.ts';
import { shown } from '#test/support/isolation/shown.ts';
import { type Named, SECRET } from '#test/support/isolation/theirs.ts';
import { linkOf, type MyItem, me } from '#test/support/me.ts';
import type { PageVisitor } from '#test/support/page-visitor.ts';
import { patientVisitor } from '#test/support/patient-pages.ts';
import { eventually } from '#test/support/process.ts';
import { scaled, someOf, steadySeed } from '#test/support/scale.ts';
import { Answer } from '#test/support/service.ts';
import { openLink, payloadOf, share } from '#test/support/shared-links.ts';
import { counted, tell } from '#test/support/tell.ts';

/** People, with the numbers of their records and their relationships. */
const PEOPLE = {
  'mira@example.org': { 0: 'self', 2: 'self' },
  'noah@example.org': { 1: 'self' },
  'carer@example.org': { 0: 'dependent', 3: 'dependent' },
  // This person had both records until a moment ago.
  'former@example.org': {},
  // A member of the organization that stores the records.
  'owner@clinic.example': {},
} as const satisfies Readonly<Record<string, Readonly<Record<number, 'self' | 'dependent'>>>>;
type Person = keyof typeof PEOPLE;
const NAMES = Object.keys(PEOPLE) as Person[];

/** The members of organizations: whose projects they belong to, and whether they see receipts and take-backs there. */
const MEMBERS = [
  ['owner@clinic.example', 'clinic', 'receipts and take-backs'],
  ['audit@clinic.example', 'clinic', 'receipts'],
  ['dev@clinic.example', 'clinic', 'nothing'],
  ['owner@other.example', 'other', 'receipts and take-backs'],
  ['audit@other.example', 'other', 'receipts'],
  ['developer@example.org', 'operators', 'nothing'],
  ['mira@example.org', 'nobody', 'nothing'],
] as const;

/** Requests with the id of a receipt or take-back of a project. */
const ASKS = [
  ['receipt', 'GET', ''],
  ['takeback', 'GET', ''],
  ['takeback', 'POST', '/start'],
  ['takeback', 'POST', '/undo'],
] as const;

const plain = (id: string): Named => ({ type: '', id, marker: `never-${id}` });
const never = (id: string): Named => neverOf(plain(id));
const organizationOf = ({ place }: Answered): string => (place === 'elsewhere' ? 'other' : 'clinic');

describe('isolation of receipts and take-backs', () => {
  let service: InProcess;
  let world: AnsweredWorld;
  /** A purged record, and its receipts. */
  let gone: { readonly patient: string; readonly receipts: readonly string[] };
  const receipts = new Map<Answered, readonly string[]>();
  const takebacks = new Map<Answered, string>();
  const members = new Map<string, AdminUser>();
  const sessions = new Map<Person, SignedIn>();
  const visitors = new Map<Person, PageVisitor>();
  const answered = new Map<string, number>();
  const count = (what: string, { status }: Answer): void =>
    void answered.set(`${what} ${status}`, (answered.get(`${what} ${status}`) ?? 0) + 1);

  const ownerOf = (of: Answered): AdminUser => get(members, `owner@${organizationOf(of)}.example`);
  const receiptsOf = async (record: string): Promise<string[]> => {
    const sql = 'select id from operations.receipt where record = $1 order by id';
    return (await service.pool.query<{ id: string }>(sql, [record])).rows.map(({ id }) => id);
  };

  before(async () => {
    service = await startInProcess({}, { ACCESS_LOG: 'all' });
    world = await writeAnswered(service);
    const { granting, auditing, records } = world;
    for (const email of [...MEMBERS.map(([member]) => member), ...NAMES])
      members.set(email, await signIn(service, email));
    for (const [n, { patient }] of records.entries())
      for (const email of NAMES) {
        const relationship = (PEOPLE[email] as Readonly<Record<number, 'self' | 'dependent'>>)[n];
        if (relationship !== undefined)
          await granting.events.append(patient, linkOf(service, email, relationship));
        if (email !== 'former@example.org' || n > 1) continue;
        const link = newId('link_');
        await granting.events.append(patient, linkOf(service, email, 'self', link), unlinked(link));
      }
    const countRecords = async (email: Person): Promise<number> => {
      const found = ['sandbox', 'production'].map((each) =>
        me(service, email, `/patients?environment=${each}`),
      );
      return (await Promise.all(found)).reduce((sum, { json }) => sum + json.total, 0);
    };
    for (const email of NAMES)
      await eventually(async () => (await countRecords(email)) === Object.keys(PEOPLE[email]).length);
    const [first] = records;
    const { url } = payloadOf(await share(service, 'mira@example.org', String(first?.patient)));
    expect((await openLink(url)).status).to.equal(200);
    for (const record of records) {
      receipts.set(record, await receiptsOf(record.patient));
      const owner = ownerOf(record);
      const { environment, marker, project } = record;
      const body = { select: { source_system: marker }, environment, reason: marker };
      takebacks.set(record, (await owner.done('POST', `/projects/${project}/takebacks`, body)).id);
    }
    const { key } = auditing.sandbox;
    const purged = await writeRecord(service, key, { marker: `${SECRET}-gone`, entry: 'Lind' });
    await answerAbout(service, { ...purged, key, allowed: undefined });
    gone = { patient: purged.patient, receipts: await receiptsOf(purged.patient) };
    const path = `/Patient/${purged.patient}?_purge=true`;
    expect((await service.fhir(path, { method: 'DELETE', key })).status).to.equal(204);
    for (const email of NAMES) {
      sessions.set(email, await signedIn(service, email));
      visitors.set(email, await patientVisitor(service, email));
    }
  });
  after(async () => {
    tell(`answers: ${counted(answered)}`);
    await world?.granting.close();
    await service?.stop();
  });

  /** Returns the numbers of records whose text a response shows. */
  const leaks = ({ text }: Answer): number[] =>
    world.records.flatMap(({ marker }, n) => (text.includes(marker) ? [n] : []));

  const record = fc.nat(4).map((n) => {
    const found = world.records[n];
    if (found === undefined) throw new RangeError('no such record');
    return found;
  });
  /** Generates a receipt and its record; the record is undefined if it has been purged. */
  const receipt = fc
    .tuple(fc.nat(5), fc.nat(1_000))
    .map(([n, pick]): readonly [string, Answered | undefined] => {
      const of = world.records[n];
      const ids = of === undefined ? gone.receipts : (receipts.get(of) ?? []);
      return [ids[pick % ids.length] ?? '', of];
    });

  it('each kind of answer has receipts', async () => {
    const { rows } = await service.pool.query('select distinct kind from operations.receipt order by 1');
    expect(rows.map(({ kind }) => kind)).to.deep.equal(['context', 'link', 'mcp', 'summary']);
    expect(gone.receipts).to.have.length(2);
    expect(await receiptsOf(gone.patient)).to.deep.equal([]);
  });

  it('members see those of their own projects, as their role says, and others like ids that never were', async function () {
    this.timeout(600_000);
    const one = fc.tuple(
      fc.constantFrom(...MEMBERS),
      fc.constantFrom(...ASKS),
      ...[record, receipt, record, fc.boolean()],
    );
    await fc.assert(
      fc.asyncProperty(
        one,
        async ([[email, organization, sees], [kind, method, rest], at, found, other, says]) => {
          const [id, of] = kind === 'receipt' ? found : [get(takebacks, other), other];
          const headers = says ? REASON : {};
          const ask = (project: string, name: string): Promise<Answer> => {
            const path = `/projects/${project}/${kind}s/${name}${rest}`;
            return get(members, email).ask(method, path, undefined, headers);
          };
          const isMember = organization === organizationOf(at);
          const maySee = kind === 'receipt' ? sees !== 'nothing' : sees === 'receipts and take-backs';
          const isTheirs = isMember && maySee && of?.project === at.project;
          // Other tests cover the effects of start and undo.
          if (isTheirs && method === 'POST') return;
          const answer = await ask(at.project, id);
          count(kind, answer);
          const needsReason = kind === 'receipt' && of?.environment === 'production';
          if (isTheirs && needsReason && !says) {
            expect([answer.status, leaks(answer)], String(answer)).to.deep.equal([400, []]);
          } else if (isTheirs) {
            expect(answer.status, String(answer)).to.equal(200);
            if (kind === 'receipt')
              expect(answer.json).to.include({ outcome: 'matches', patient: of?.patient });
            expect(leaks(answer)).to.deep.equal([world.records.indexOf(of)]);
          } else {
            expect(answer.status, `${email} ${kind}: ${answer}`).to.be.oneOf([403, 404]);
            const project = isMember ? plain(at.project) : never(at.project);
            const unknown = await ask(project.id, never(id).id);
            expect(shown(answer, plain(at.project), plain(id))).to.equal(shown(unknown, project, never(id)));
            expect(leaks(answer)).to.deep.equal([]);
          }
        },
      ),
      { numRuns: scaled(1_500, 15), seed: steadySeed(), endOnFailure: true },
    );
  });

  it('people find the receipts of their own records in the access log', async () => {
    for (const email of NAMES)
      for (const [n, { patient }] of world.records.entries()) {
        const { status, json } = await me(service, email, `/patients/${patient}/access-log?limit=100`);
        expect(status).to.equal(n in PEOPLE[email] ? 200 : 404);
        if (status !== 200) continue;
        const named = json.data.flatMap(({ receipt: each }: MyItem) => (each === null ? [] : [String(each)]));
        expect([...new Set(named)].sort()).to.deep.equal(await receiptsOf(patient));
      }
  });

  it('people see exactly these, and others like receipts that never were', async function () {
    this.timeout(600_000);
    const one = fc.tuple(
      fc.constantFrom(...NAMES),
      fc.constantFrom('token', 'session', 'page'),
      record,
      receipt,
      fc.constantFrom('', 'sandbox', 'production'),
    );
    await fc.assert(
      fc.asyncProperty(one, async ([email, way, at, [id, of], environment]) => {
        const ask = async (patient: string, name: string): Promise<Answer> => {
          const query = environment === '' ? '' : `?environment=${environment}`;
          const path = `/patients/${patient}/receipts/${name}${query}`;
          if (way === 'page') {
            const page = await get(visitors, email).open(`/connections/records/${patient}/log/${name}`);
            return new Answer(page.status, page.headers, page.text);
          }
          if (way === 'session') return get(sessions, email).ask(`/me${path}`);
          const response = await fetch(`${service.url}/me${path}`, {
            headers: { Authorization: `Bearer ${get(members, email).token}` },
          });
          return new Answer(response.status, response.headers, await response.text());
        };
        const isLinked = world.records.indexOf(at) in PEOPLE[email];
        const isHere = way === 'page' || environment === '' || environment === at.environment;
        const answer = await ask(at.patient, id);
        count(way, answer);
        if (isLinked && isHere && of === at) {
          expect(answer.status, String(answer)).to.equal(200);
          if (way !== 'page') expect(answer.json).to.include({ id, outcome: 'matches' });
          expect(leaks(answer)).to.deep.equal([world.records.indexOf(at)]);
          return;
        }
        expect(answer.status, `${email} ${way}: ${answer}`).to.equal(404);
        const patient = isLinked ? plain(at.patient) : plain(newUuid());
        const unknown = await ask(patient.id, never(id).id);
        expect(shown(answer, plain(at.patient), plain(id))).to.equal(shown(unknown, patient, never(id)));
        // The list of records on the page names the records that the person has.
        if (way !== 'page') expect(leaks(answer)).to.deep.equal([]);
      }),
      { numRuns: scaled(1_500, 12), seed: steadySeed(), endOnFailure: true },
    );
  });

  it('take-backs select nothing by a key, application or source of another project or environment', async () => {
    const plan = async (at: Answered, select: Readonly<Record<string, string>>): Promise<string> => {
      const owner = ownerOf(at);
      const path = `/projects/${at.project}/takebacks`;
      const made = await owner.ask('POST', path, { select, environment: at.environment });
      expect(made.status, String(made)).to.equal(201);
      const id = String(made.json.id);
      let found = made;
      await eventually(async () => {
        found = await owner.ask('GET', `${path}/${id}`);
        return found.json.status === 'planned';
      });
      return shown(found, plain(id), ...Object.values(select).map(plain));
    };
    for (const [n, at] of someOf([...world.records.entries()], 2)) {
      const other = world.records[(n + 2) % world.records.length];
      if (other === undefined || (other.project === at.project && other.environment === at.environment))
        throw new Error('they should be apart');
      const selects = [
        { key_id: other.keyId },
        { source_system: other.marker },
        { application_id: world.applications[other.place].applicationId },
      ];
      for (const select of other.project === at.project ? selects.slice(0, 2) : selects) {
        const nothing = Object.fromEntries(Object.entries(select).map(([name, id]) => [name, never(id).id]));
        const found = await plan(at, select as Readonly<Record<string, string>>);
        expect(found)
          .to.contain('"versions":0')
          .and.equal(await plan(at, nothing));
      }
    }
  });
});

/**
 * Returns a value from a map.
 * @throws Error if the key is missing
 */
function get<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const found = map.get(key);
  if (found === undefined) throw new Error(`there is no ${String(key)}`);
  return found;
}
