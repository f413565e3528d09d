/** The time that answers as of a point in time take, for a record with 2,000 resources (docs/performance.md). */
import { expect } from 'chai';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { ask, type Question } from '#test/support/as-of.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { describeAtFullSize } from '#test/support/scale.ts';

const RESOURCES = 2_000;
const TIMES = 60;
/**
 * Limits for the p95 of an answer: a multiple of the p95 for the same query without a point in time, or a number of ms. The
 * record of a context is cached. As of a point in time, it is cached once a context has been built for that time. Below
 * `noise` ms, nothing is compared.
 */
const MOST = { factor: 3, ms: 150, noise: 10 } as const;

describeAtFullSize('the time of answers as of a moment', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service?.stop());

  it('is at most three times that of the present, or 150 ms for lists', async () => {
    const patient = String(
      (await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sand' }] })).json.id,
    );
    const ids: string[] = [];
    for (let from = 1; from < RESOURCES; from += 250) {
      const entry = Array.from({ length: Math.min(250, RESOURCES - from) }, (_, n) => ({
        request: { method: 'POST', url: 'Observation' },
        resource: observation(patient, from + n, 5 + (n % 9)),
      }));
      const { json } = await service.post('/', { resourceType: 'Bundle', type: 'transaction', entry });
      for (const { response } of json.entry as unknown as { response: { location: string } }[])
        ids.push(response.location.split('/').at(-3) ?? '');
    }
    const since = nowMicros();
    for (const [n, id] of ids.entries())
      if (n % 10 === 0) {
        const body = { ...observation(patient, n, 20), id };
        const sent = await service.fhir(`/Observation/${id}`, { method: 'PUT', body: JSON.stringify(body) });
        expect(sent.status).to.equal(200);
      }
    const until = nowMicros();
    const one = ids[10];
    const told: string[] = [];
    for (const [name, path, factor, body] of [
      ['read', `/Observation/${one}`, MOST.factor],
      ['history', `/Observation/${one}/_history`, MOST.factor],
      ['item', `/v1/observations/${one}`, MOST.factor],
      ['$everything', `/Patient/${patient}/$everything`, MOST.factor],
      ['$summary', `/Patient/${patient}/$summary`, MOST.factor],
      ['search', `/Patient/${patient}/Observation?code=4548-4&_sort=-date&_count=50`, null],
      ['search with _include', `/Observation?patient=${patient}&_include=*&_count=20`, null],
      ['documents', `/v1/patients/${patient}/documents`, null],
      ['context', '/v1/context', null, { patient, needs: ['labs:4548-4'] }],
      ['context of one moment, asked again', '/v1/context', 'again', { patient, needs: ['labs:4548-4'] }],
      ['list', `/v1/patients/${patient}/observations`, null],
      ['timeline', `/v1/patients/${patient}/timeline`, null],
      ['series', `/v1/patients/${patient}/series?code=4548-4`, null],
    ] as const) {
      const question: Question = { path, key: service.key, ...(body === undefined ? {} : { body }) };
      let n = 0;
      const moments = () => {
        n += 37;
        return toInstant(Math.round(since + ((until - since) * (n % 100)) / 100));
      };
      const [moment, times] = factor === 'again' ? [moments(), MOST.factor] : [undefined, factor];
      const now = await p95(question);
      const then = await p95(question, moment === undefined ? moments : () => moment);
      const most = times === null ? MOST.ms : Math.max(times * now, MOST.noise);
      told.push(
        `${name}: now ${now.toFixed(1)} ms, then ${then.toFixed(1)} ms, at most ${most.toFixed(1)} ms`,
      );
      if (process.env.ANNAL_TEST_TOLD === '1') console.log(told.at(-1));
      expect(then, told.at(-1)).to.be.at.most(most);
    }
  }).timeout(600_000);

  async function p95(question: Question, moment?: () => string): Promise<number> {
    const times: number[] = [];
    for (let n = 0; n < TIMES + 10; n += 1) {
      const begun = performance.now();
      const answer = await ask(service, question, moment?.(), 1);
      if (n >= 10) times.push(performance.now() - begun);
      expect(answer.slice(0, 3), answer.slice(0, 300)).to.equal('200');
    }
    return times.sort((a, b) => a - b)[Math.floor(TIMES * 0.95)] ?? 0;
  }
});

function observation(patient: string, n: number, value: number): object {
  const day = `20${String(10 + (n % 15)).padStart(2, '0')}-${String(1 + (n % 12)).padStart(2, '0')}-1${n % 10}`;
  return {
    resourceType: 'Observation',
    status: 'final',
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'laboratory' },
        ],
      },
    ],
    code: { coding: [{ system: 'http://loinc.org', code: n % 2 === 0 ? '4548-4' : '718-7' }] },
    subject: { reference: `Patient/${patient}` },
    effectiveDateTime: `${day}T08:00:00Z`,
    valueQuantity: { value, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
  };
}
