/** Findings are byte-for-byte the same on every instance and after rebuilding all read models. */
import { expect } from 'chai';
import { isObject } from '#src/shared/json/json.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';

const DAY = 86_400_000;

describe('patterns on two instances, before and after a rebuild', () => {
  let service: InProcess;
  const others: SecondInstance[] = [];
  before(async () => {
    service = await startInProcess();
  });
  after(async () => {
    for (const other of others) await other.close();
    await service?.stop();
  });

  const started = async (): Promise<string> => {
    const other = await startSecondInstance(service);
    others.push(other);
    return other.url;
  };
  const read = async (url: string): Promise<string> => {
    const answer = await fetchOnce(url, { headers: { Authorization: `Bearer ${service.key}` } });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    return text;
  };
  /** Returns an instance's answers: the findings, and the evidence for each finding. */
  const told = async (instance: string, patient: string): Promise<readonly string[]> => {
    const path = `${instance}/v1/patients/${patient}/patterns`;
    const list = await read(path);
    const { data }: { data?: unknown } = JSON.parse(list);
    const ids = Array.isArray(data)
      ? data.flatMap((each) => (isObject(each) ? String(each.finding_id) : []))
      : [];
    const evidence = [];
    for (const id of ids) evidence.push(await read(`${path}/${id}/evidence?limit=100`));
    return [list, ...evidence];
  };

  it('are equal to the byte', async () => {
    const patient = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    const observation = (code: string, day: number, value: number) => ({
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code }] },
      subject: { reference: `Patient/${patient}` },
      effectiveDateTime: new Date(Date.UTC(2024, 0, 1, 8) + day * DAY).toISOString(),
      valueQuantity: { value, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
      referenceRange: [{ high: { value: 8, unit: '%', system: 'http://unitsofmeasure.org', code: '%' } }],
    });
    /** Returns a small variation, which is the same every time. */
    const waver = (n: number): number => Math.sin(n * 12.9898) * Math.cos(n * 78.233);
    const all = Array.from({ length: 40 }, (_, n) => [
      observation('4548-4', n * 7 + (n > 20 ? 60 : 0), Number((6 + 0.1 * n + 0.3 * waver(n)).toFixed(2))),
      observation('2345-7', n * 7 + (n > 20 ? 60 : 0), Number((100 + 5 * waver(n)).toFixed(1))),
    ]).flat();
    // Newest first, so that the values don't arrive in chronological order.
    const entry = all.toReversed().map((resource) => ({
      resource,
      request: { method: 'POST', url: 'Observation' },
    }));
    await service.post('', { resourceType: 'Bundle', type: 'transaction', entry });
    const late = String((await service.post('/Observation', observation('4548-4', 350, 2))).json.id);
    const corrected = { ...observation('4548-4', 350, 10), id: late };
    const put = await service.fhir(`/Observation/${late}`, {
      method: 'PUT',
      body: JSON.stringify(corrected),
    });
    expect(put.status).to.equal(200);

    const first = await told(service.url, patient);
    const kinds = [...(first[0] ?? '').matchAll(/"kind":"(\w+)"/g)].map(([, kind]) => kind);
    expect(kinds).to.include.members(['trend', 'gap', 'out_of_range']);
    expect(first.join()).to.contain(`Observation/${late}`);
    expect(await told(await started(), patient)).to.deep.equal(first);
    const { code, stderr } = await runCommand(['rebuild', '--json'], {
      DATABASE_URL: service.databaseUrl,
      EVENTSTORE_URL,
    });
    expect(code, stderr).to.equal(0);
    // This instance has computed nothing before the rebuild.
    expect(await told(await started(), patient)).to.deep.equal(first);
  });
});
