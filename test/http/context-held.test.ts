/** Records that are cached for the next context: the context reflects the record as it is, whatever happened in between. */
import { expect } from 'chai';
import fc from 'fast-check';
import { openMakeContext } from '#queries/context/context.ts';
import { RecordCache } from '#queries/context/record-cache.ts';
import { openPast } from '#queries/database/as-of.ts';
import { buildAnswer } from '#src/context/answer.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';

const TODAY = '2026-11-22';
const ASK = { task: 'follow-up: diabetes', needs: [], budget_tokens: 1_500, format: 'text' } as const;
const CODES = ['4548-4', '2345-7', '718-7'];
const AI = { 'X-Service-Author-Type': 'ai' };

/** Possible changes to a record: `of` is the code of a new resource, or selects the resource to change. */
const happens = fc.record({
  what: fc.constantFrom(
    'create',
    'update',
    'update',
    'ai',
    'mistake',
    'modifier',
    'delete',
    'device',
    'nothing',
  ),
  of: fc.nat(50),
  value: fc.integer({ min: 1, max: 300 }),
});

describe('contexts of a record that is held', () => {
  let service: InProcess;
  let caller: Caller;

  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const created = async (body: object): Promise<string> =>
    String((await service.post(`/${(body as { resourceType: string }).resourceType}`, body)).json.id);

  const newPatient = async (): Promise<string> => {
    const patient = await created({ resourceType: 'Patient', gender: 'female', birthDate: '1961-04-30' });
    const { rows } = await service.pool.query<{ tenant: string }>(
      'select tenant from resources.resource where id = $1',
      [patient],
    );
    caller = { sees: { ownerId: rows[0]?.tenant ?? '' } } as Caller;
    return patient;
  };

  const observation = (patient: string, of: number, value: number): object => ({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: CODES[of % CODES.length] }] },
    subject: { reference: `Patient/${patient}` },
    effectiveDateTime: `2026-0${1 + (of % 9)}-0${1 + (value % 9)}`,
    valueQuantity: { value, unit: 'mg/dL' },
  });

  it('are those of the record as it is', async () => {
    const told = async (
      tell: ReturnType<typeof openMakeContext>,
      patient: string,
      by = caller,
    ): Promise<string> => {
      const made = await tell(by, { patient, ask: ASK, today: TODAY });
      if (made === undefined) return 'not there';
      const ground = {
        patient,
        at: toInstant(made.at),
        day: TODAY,
        madeFor: caller.sees.ownerId,
        version: '0.0.0',
      };
      return JSON.stringify(buildAnswer(made, ASK, ground));
    };
    const open = () => openMakeContext(service.pool, () => Promise.resolve(new Map()));
    const histories = fc.array(happens, { minLength: 8, maxLength: 12 });
    // Without changes by an AI, the record as of an earlier time is made from its current state.
    const property = fc.asyncProperty(histories, fc.boolean(), async (drawn, withAi) => {
      const all = withAi ? drawn : drawn.filter(({ what }) => what !== 'ai');
      const patient = await newPatient();
      const ids = [await created(observation(patient, 0, 7))];
      const holding = open();
      expect(await told(holding, patient)).to.equal(await told(open(), patient));
      for (const { what, of, value } of all) {
        const id = ids[of % ids.length];
        const put = async (more: object = {}, headers = {}): Promise<void> => {
          const body = JSON.stringify({ ...observation(patient, of, value), id, ...more });
          const answer = await service.fhir(`/Observation/${id}`, { method: 'PUT', body, headers });
          expect(answer.status, answer.text).to.be.oneOf([200, 201]);
        };
        if (what === 'create') ids.push(await created(observation(patient, of, value)));
        else if (what === 'update') await put();
        else if (what === 'ai') await put({}, AI);
        else if (what === 'mistake') await put({ status: 'entered-in-error' });
        else if (what === 'modifier')
          await put({ modifierExtension: [{ url: 'urn:not', valueBoolean: true }] });
        else if (what === 'delete') await service.fhir(`/Observation/${id}`, { method: 'DELETE' });
        else if (what === 'device')
          await created({ resourceType: 'Device', patient: { reference: `Patient/${patient}` } });
        expect(await told(holding, patient), what).to.equal(await told(open(), patient));
      }
      // At each change and just before it, forwards, backwards and once more, the answer is the same as with an empty cache.
      const { rows } = await service.pool.query<{ at: number }>(
        'select recorded_at as at from history.version where record = $1 order by recorded_at',
        [patient],
      );
      const moments = rows.flatMap(({ at }) => [at - 1, at]);
      const records = new RecordCache(service.pool);
      const tellAt = async (at: number, held = records): Promise<string> => {
        const then = openPast(service.pool, at);
        const tell = openMakeContext(then, () => Promise.resolve(new Map()), held);
        return told(tell, patient, { sees: { ...caller.sees, asOf: at } } as Caller);
      };
      await records.open(caller.sees, patient);
      for (const at of [...moments, ...moments.reverse()])
        expect(await tellAt(at), String(at)).to.equal(await tellAt(at, new RecordCache(service.pool)));
    });
    await fc.assert(property, { numRuns: scaled(20, 3), seed: steadySeed(), endOnFailure: true });
  });

  it('are of what was read before while nothing changes, and of nothing once it is purged', async () => {
    const patient = await newPatient();
    await created(observation(patient, 1, 90));
    const held = new RecordCache(service.pool);
    const first = await held.open(caller.sees, patient);
    expect(first?.opened.facts.get('Observation')).to.have.length(1);
    expect(await held.open(caller.sees, patient)).to.equal(first);
    expect(await held.open({ ownerId: '00000000-0000-4000-8000-000000000000' }, patient)).to.equal(undefined);
    await created(observation(patient, 2, 12));
    const later = await held.open(caller.sees, patient);
    expect(later?.opened.facts.get('Observation')).to.have.length(2);
    expect((await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' })).status).to.equal(
      204,
    );
    expect(await held.open(caller.sees, patient)).to.equal(undefined);
    const now = { ...caller.sees, asOf: nowMicros() };
    expect(await held.open(now, patient, openPast(service.pool, now.asOf))).to.equal(undefined);
  });

  it('are shared by all moments between two changes', async () => {
    const patient = await newPatient();
    await created(observation(patient, 1, 90));
    const held = new RecordCache(service.pool);
    const at = nowMicros();
    const openAt = (asOf: number) =>
      held.open({ ...caller.sees, asOf }, patient, openPast(service.pool, asOf));
    const first = await openAt(at);
    expect(first?.opened.facts.get('Observation')).to.have.length(1);
    expect(await openAt(at + 1)).to.equal(first);
    await created(observation(patient, 2, 12));
    expect(await openAt(at)).to.equal(first);
    const later = nowMicros();
    const current = await held.open(caller.sees, patient);
    expect(current?.opened.facts.get('Observation')).to.have.length(2);
    expect(await openAt(later)).to.equal(current);
    const other = new RecordCache(service.pool);
    await other.open(caller.sees, patient);
    const earlier = await other.open({ ...caller.sees, asOf: at }, patient, openPast(service.pool, at));
    expect(earlier?.opened.facts.get('Observation')).to.have.length(1);
  });
});
