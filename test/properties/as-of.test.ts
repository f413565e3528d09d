/**
 * Answers as of a point in time are the same as the answers given at that time (docs/as-of.md), for records with random
 * histories.
 */
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { ask, Chance, Life, moment, type Question, type Recorded } from '#test/support/as-of.ts';
import { runCommand } from '#test/support/cli.ts';
import { Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';

const LIVES = scaled(40, 1);
const MOMENTS = scaled(5, 2);
const STEPS = 8;
/** Number of answers that are requested again after a rebuild. */
const REBUILT = scaled(1_000, 40);

/** A reader of a record: the credential, and the record's id for that credential. */
interface Reader {
  readonly key: string;
  readonly patient: string;
}

describe('answers as of a moment', () => {
  let service: InProcess;
  let granting: Granting;
  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  it('are those that were given then, also after later writes and a rebuild of all read models', async () => {
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const application = await granting.register(owner, id);
    const all: Recorded[] = [];
    const same = async ({ question, at, answer }: Recorded, when: string): Promise<void> => {
      const later = await ask(service, question, at);
      expect(later, `${JSON.stringify(question)} as of ${at}, ${when}`).to.equal(answer);
    };
    for (let life = 0; life < LIVES; life += 1) {
      const chance = new Chance(steadySeed() + life);
      const lived = new Life(service, service.key, chance);
      await lived.begin();
      const { patient } = lived;
      const own: Reader = { key: service.key, patient };
      const whole = await granting.allow(application, patient);
      const labs = await granting.allow(application, patient, {
        scopes: ['patient/Observation.rs?category=laboratory', 'patient/Patient.rs', 'patient/Condition.rs'],
      });
      const readers: Reader[] = [
        own,
        { key: whole.token, patient: whole.patient },
        { key: labs.token, patient: labs.patient },
      ];
      const recorded: Recorded[] = [];
      for (let n = 0; n < MOMENTS; n += 1) {
        for (let step = 0; step < STEPS; step += 1) await lived.step();
        if (n === MOMENTS - 2) await lived.removePatient();
        const at = moment();
        for (const reader of readers)
          for (const question of questions(lived, reader, chance))
            recorded.push({ question, at, answer: await ask(service, question) });
        if (n === MOMENTS - 2) await lived.restorePatient();
      }
      for (let step = 0; step < STEPS; step += 1) await lived.step();
      for (const each of recorded) await same(each, 'later');
      all.push(...recorded);
    }
    expect(all.length).to.be.greaterThan(LIVES * 100);
    const { code, stderr } = await runCommand(['rebuild', '--json'], {
      DATABASE_URL: service.databaseUrl,
      EVENTSTORE_URL,
    });
    expect(code, stderr).to.equal(0);
    const every = Math.floor(all.length / REBUILT);
    for (let n = 0; n < REBUILT; n += 1) {
      const each = all[n * every];
      if (each !== undefined) await same(each, 'after a rebuild');
    }
  }).timeout(3_600_000);
});

/** REST v1 items, by type. */
const V1_ITEMS: Readonly<Record<string, string>> = {
  Observation: 'observations',
  Condition: 'conditions',
  MedicationStatement: 'medications',
  DocumentReference: 'documents',
};

/** REST v1 lists below a patient. */
const LISTS = [
  'observations',
  'observations?limit=3',
  'observations?code=4548-4&from=2026-02-01&to=2026-07-15',
  'conditions',
  'conditions?clinical_status=active',
  'medications?limit=1',
  'prescriptions',
  'documents',
  'documents?limit=1',
  'timeline',
  'timeline?limit=4',
  'timeline?kinds=observation,prescription,allergy&from=2026-03-01',
  'series?code=4548-4,718-7&bucket=month',
];

/** Searches within a record; `P` is its Patient. */
const SEARCHES = [
  '/Patient/P/Observation',
  '/Patient/P/Observation?code=4548-4,718-7&date=ge2026-02-01&_sort=-date&_count=3',
  '/Observation?patient=P&value-quantity=gt9&_sort=code',
  '/Observation?subject=Patient/P&status:not=entered-in-error&_include=Observation:performer&_sort=_lastUpdated&_count=4',
  '/Observation?patient=P&performer:Practitioner.name=Ada&_summary=count',
  '/Observation?patient=P&_lastUpdated=gt2020-01-01&_sort=-_lastUpdated&_total=none',
  '/Condition?patient=P&code:text=Gout&_revinclude=Provenance:target',
  '/MedicationRequest?patient=P&_include=MedicationRequest:medication&_include=*',
  '/Patient/P/AllergyIntolerance?clinical-status=active&_elements=code',
  '/Patient/P/DocumentReference?date=ge2026-05',
  '/Patient/P/Provenance?_count=5',
  '/Provenance?patient=P',
];

/** Returns a reader's queries about a record: all queries about the whole record, and some about its resources. */
function questions(life: Life, { key, patient }: Reader, chance: Chance): Question[] {
  const of = (path: string, body?: Question['body']): Question => ({
    path: path.replaceAll(life.patient, patient),
    key,
    ...(body === undefined ? {} : { body }),
  });
  const some = [0, 1, 2, 3].map(() => chance.one(life.resources));
  const entry = chance.one(life.directory);
  return [
    ...[...some, entry].flatMap(({ type, id }) => [
      of(`/${type}/${id}`),
      of(`/${type}/${id}/_history`),
      of(`/${type}/${id}/_history?_count=1`),
    ]),
    of(`/Patient/${patient}?_elements=name`),
    of(`/Patient/${patient}/$everything`),
    of(`/Patient/${patient}/$everything?_count=5`),
    of(`/Patient/${patient}/$everything?_type=Observation,Provenance,Practitioner`),
    of(`/Patient/${patient}/$everything?start=2026-03-01&end=2026-06-12`),
    of(`/Patient/${patient}/$everything?start=2026-05&_count=4`),
    of(`/Patient/${patient}/$summary`),
    ...some.flatMap(({ type, id }) => {
      const path = V1_ITEMS[type];
      return path === undefined ? [] : [of(`/v1/${path}/${id}`)];
    }),
    of(`/v1/patients/${patient}`),
    ...SEARCHES.map((path) => of(path.replace(/(?<=[/=])P(?=[/&]|$)/g, patient))),
    ...LISTS.map((list) => of(`/v1/patients/${patient}/${list}`)),
    of('/v1/context', { patient, budget_tokens: 2_000, needs: ['labs:4548-4', 'medications'] }),
  ];
}
