/**
 * Every read and search shows at least what was acknowledged before it began, and at most what had begun before it ended. This
 * holds whichever process answers, even while processes of the machine are killed and stopped.
 */
import { expect } from 'chai';
import { makeChance } from '#test/support/chance.ts';
import { type Call, findFaults } from '#test/support/histories.ts';
import { listProcesses } from '#test/support/machine.ts';
import { eventually } from '#test/support/process.ts';
import { randomSeed, scaled } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';
import { tell } from '#test/support/tell.ts';

const CALLS = scaled(100_000, 300);
const CLIENTS = 12;
const PATIENTS = 6;
const KILL_EVERY = scaled(4_000, 130);
/** Five crashes within a minute would stop the service, so there are at most this many kills within this many ms. */
const KILLS = { most: 3, within: 70_000 } as const;

describe('histories of several processes', () => {
  let service: Service;
  before(async () => {
    service = await startService({ env: { WORKERS: '3', PROJECTORS: '2' } });
  });
  after(() => service.stop());

  it(`of ${CALLS} calls are explained by an order of them`, async () => {
    const seed = randomSeed();
    const chance = makeChance(seed);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(chance() * all.length)] as T;
    const calls: Call[] = [];
    const resources: { readonly id: string; readonly patient: string }[] = [];
    const patients: string[] = [];
    for (let n = 0; n < PATIENTS; n += 1) {
      const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: `History${n}` }] });
      patients.push(String((await service.fhir('/Patient', { method: 'POST', body })).json.id));
    }
    const note = async (
      object: string,
      isWrite: boolean,
      ask: () => Promise<number | undefined>,
    ): Promise<void> => {
      const began = performance.now();
      let value: number | undefined;
      let ended = Number.POSITIVE_INFINITY;
      try {
        value = await ask();
        if (value !== undefined) ended = performance.now();
      } catch {
        // The connection broke, so the outcome of the call is unknown.
      }
      if (isWrite || value !== undefined) calls.push({ object, began, ended, isWrite, value });
    };
    const observation = (patient: string, id?: string): string =>
      JSON.stringify({
        ...{ resourceType: 'Observation', ...(id === undefined ? {} : { id }), status: 'final' },
        code: { text: 'pulse' },
        subject: { reference: `Patient/${patient}` },
        valueQuantity: { value: Math.floor(chance() * 1e9), unit: 'x' },
      });
    const create = async (): Promise<void> => {
      const patient = pick(patients);
      const began = performance.now();
      let isDone = false;
      try {
        const { status, json } = await service.fhir('/Observation', {
          method: 'POST',
          body: observation(patient),
        });
        isDone = status === 201;
        if (isDone) resources.push({ id: String(json.id), patient });
        if (isDone)
          calls.push({ object: String(json.id), began, ended: performance.now(), isWrite: true, value: 1 });
      } catch {
        // The connection broke.
      }
      const ended = isDone ? performance.now() : Number.POSITIVE_INFINITY;
      calls.push({ object: `total of ${patient}`, began, ended, isWrite: true });
    };
    const update = ({ id, patient }: (typeof resources)[number]): Promise<void> =>
      note(id, true, async () => {
        const answer = await service.fhir(`/Observation/${id}`, {
          method: 'PUT',
          body: observation(patient, id),
        });
        return answer.status === 200 ? answer.version : undefined;
      });
    const read = ({ id }: (typeof resources)[number]): Promise<void> =>
      note(id, false, async () => (await service.fhir(`/Observation/${id}`)).version);
    const count = (patient: string): Promise<void> =>
      note(`total of ${patient}`, false, async () => {
        const answer = await service.fhir(`/Observation?patient=${patient}&_summary=count`);
        return answer.status === 200 ? Number(answer.json.total) : undefined;
      });
    for (let n = 0; n < 12; n += 1) await create();

    let asked = 0;
    const client = async (): Promise<void> => {
      while (asked < CALLS) {
        asked += 1;
        const what = chance();
        if (what < 0.1) await create();
        else if (what < 0.4) await update(pick(resources.slice(-24)));
        else if (what < 0.8) await read(pick(resources.slice(-24)));
        else await count(pick(patients));
      }
    };
    const killed: string[] = [];
    const killedAt: number[] = [];
    const mayKill = (): boolean =>
      killedAt.filter((at) => performance.now() - at < KILLS.within).length < KILLS.most;
    const killer = async (): Promise<void> => {
      for (let next = KILL_EVERY; next < CALLS; next = Math.max(next, asked) + KILL_EVERY) {
        await eventually(() => asked >= CALLS || (asked >= next && mayKill()), 600_000);
        if (asked >= CALLS) return;
        const all = listProcesses(service.pid);
        const { pid, name } =
          killed.length % 2 === 0 ? pick(all) : pick(all.filter((each) => /http/.test(each.name)));
        // A process that is only stopped (SIGSTOP) is killed by the primary after five seconds.
        const signal = chance() < scaled(1, 0) * 0.3 ? 'SIGSTOP' : 'SIGKILL';
        process.kill(pid, signal);
        killed.push(`${name} ${signal}`);
        killedAt.push(performance.now());
        if (signal === 'SIGSTOP')
          await eventually(() => !listProcesses(service.pid).some((each) => each.pid === pid));
        await eventually(() => listProcesses(service.pid).length === 5).catch((error: unknown) => {
          throw new Error(`${service.log()}\n${killed.join(', ')}`, { cause: error });
        });
      }
    };
    await Promise.all([killer(), ...Array.from({ length: CLIENTS }, client)]);
    await eventually(async () => (await fetch(`${service.url}/health/ready`)).ok);
    for (const resource of resources) await read(resource);
    for (const patient of patients) await count(patient);

    const unknown = calls.filter(({ ended }) => ended === Number.POSITIVE_INFINITY).length;
    tell(
      `${calls.length} calls on ${resources.length} resources, ${unknown} without an answer, killed: ${killed.join(', ')}; seed ${seed}`,
    );
    expect(killed.length).to.be.greaterThan(0);
    expect(unknown).to.be.lessThan(calls.length / 20);
    expect(findFaults(calls), `seed ${seed}`).to.deep.equal([]);
  });
});
