/**
 * The cost of a record's overview and changes as of a point in time, for a record with 2,000 versions (docs/performance.md).
 */
import { expect } from 'chai';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { describeAtFullSize } from '#test/support/scale.ts';

/** Number of resources; a tenth of them have a second version. */
const RESOURCES = 1_820;
const CODES = 60;
const TIMES = 40;
/** Maximum median, in ms. The p95 isn't limited, because it also depends on the machine's other load. */
const MOST = 300;

describeAtFullSize('the time of a record’s overview', () => {
  let service: InProcess;
  let owner: AdminUser;
  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
  });
  after(() => service?.stop());

  it('is short at every moment, and so is that of its changes', async () => {
    const made = await owner.done('POST', '/sandbox/quickstart', {});
    const { key, project } = made;
    const write = async (method: string, path: string, resource: object) => {
      const answer = await service.fhir(path, { key, method, body: JSON.stringify(resource) });
      if (answer.status > 201) throw new Error(answer.text);
      return JSON.parse(answer.text) as {
        readonly id: string;
        readonly entry: readonly { readonly response: { readonly location: string } }[];
      };
    };
    const { id: patient } = await write('POST', '/Patient', {
      resourceType: 'Patient',
      name: [{ family: 'Sand' }],
    });
    const written: [id: string, n: number][] = [];
    for (let from = 0; from < RESOURCES; from += 100) {
      const entry = Array.from({ length: Math.min(100, RESOURCES - from) }, (_, n) => {
        const resource = makeResource(patient, from + n, 5);
        return { request: { method: 'POST', url: resource.resourceType }, resource };
      });
      const done = await write('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry });
      for (const [n, { response }] of done.entry.entries())
        written.push([response.location.split('/').at(-3) ?? '', from + n]);
    }
    const since = nowMicros();
    for (const [id, n] of written)
      if (n % 10 === 0) {
        const resource = { ...makeResource(patient, n, 20), id };
        await write('PUT', `/${resource.resourceType}/${id}`, resource);
      }
    const until = nowMicros();
    const then = (n: number): string => toInstant(Math.round(since + ((until - since) * (n % 97)) / 97));
    const base = `/projects/${project.id}/patients/${patient}`;
    const told: string[] = [];
    for (const [name, pathFor] of [
      ['moments', () => `${base}/moments`],
      ['overview', () => `${base}/overview`],
      ['overview as of a moment', (n: number) => `${base}/overview?as_of=${then(n * 37)}`],
      ['changes since a moment', (n: number) => `${base}/changes?from=${then(n * 37)}`],
      [
        'changes between two moments',
        (n: number) => `${base}/changes?from=${then(n % 40)}&to=${then(40 + (n % 50))}`,
      ],
    ] as const) {
      const times: number[] = [];
      for (let n = 0; n < TIMES; n += 1) {
        const began = performance.now();
        const answer = await owner.ask('GET', pathFor(n));
        times.push(performance.now() - began);
        expect(answer.status, answer.text).to.equal(200);
      }
      times.sort((a, b) => a - b);
      const p95 = times[Math.floor(TIMES * 0.95)] ?? 0;
      const median = times[TIMES >> 1] ?? 0;
      told.push(`${name}: median ${median.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`);
      if (process.env.ANNAL_TEST_TOLD === '1') console.log(told.at(-1));
      expect(median, told.at(-1)).to.be.at.most(MOST);
    }
    const overview = await owner.done('GET', `${base}/overview`);
    expect((overview.position as { versions: number }).versions).to.be.at.least(RESOURCES * 1.09);
  }).timeout(300_000);
});

function makeResource(patient: string, n: number, value: number): { readonly resourceType: string } {
  const subject = { reference: `Patient/${patient}` };
  const day = new Date(Date.UTC(2000, 0, 1 + n)).toISOString().slice(0, 10);
  if (n % 20 === 1)
    return {
      ...{ resourceType: 'Condition', subject, onsetDateTime: day },
      ...{ code: { text: `Problem ${n % 400}` } },
    } as { readonly resourceType: string };
  if (n % 20 === 2)
    return {
      ...{ resourceType: 'MedicationRequest', status: 'active', intent: 'order', subject, authoredOn: day },
      ...{ medicationCodeableConcept: { text: `Drug ${n % 300}` } },
    } as { readonly resourceType: string };
  return {
    ...{ resourceType: 'Observation', status: 'final', subject, effectiveDateTime: day },
    ...{
      code: {
        coding: [
          { system: 'http://loinc.org', code: `${10_000 + (n % CODES)}-0`, display: `Kind ${n % CODES}` },
        ],
      },
    },
    ...{ valueQuantity: { value, unit: 'mg/dL', system: 'http://unitsofmeasure.org', code: 'mg/dL' } },
    ...{ referenceRange: [{ low: { value: 3, unit: 'mg/dL' }, high: { value: 10, unit: 'mg/dL' } }] },
  } as { readonly resourceType: string };
}
