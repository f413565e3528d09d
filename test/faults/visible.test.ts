/** A write's response promises that every read shows the write, on every instance that uses the same database. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { inParallel, resourcesIn } from '../support/audit.ts';
import { createMigratedDatabase, type TestDatabase } from '../support/database.ts';
import { sentAgain } from '../support/patience.ts';
import { MARKER_SYSTEM, markerSearch, sample } from '../support/samples.ts';
import { scaled } from '../support/scale.ts';
import { type Service, startService } from '../support/service.ts';
import { tell } from '../support/tell.ts';

const CLIENTS = 16;
const ENV = { RATE_LIMIT_PER_MINUTE: '100000000' };

describeAtFullSize('reads after writes', () => {
  let database: TestDatabase;
  /** Two instances of the service on one database. */
  let first: Service;
  let second: Service;
  /** Several records, because writes to one record wait for each other. */
  const patients: string[] = [];
  let patient: string;
  /** Number of requests that earlier tests had to send again. */
  let sentBefore = 0;

  before(async () => {
    sentBefore = sentAgain();
    database = await createMigratedDatabase();
    first = await startService({ databaseUrl: database.url, env: ENV });
    second = await startService({ databaseUrl: database.url, env: ENV, key: first.key });
    while (patients.length < 8)
      patients.push(`Patient/${await createdId(first, 'Patient', sample('Patient'))}`);
    patient = patients[0] ?? '';
  });
  after(async () => {
    // When nothing else runs, no read is repeated. If writes were always answered too early, every read would be repeated.
    expect(sentAgain() - sentBefore, 'reads that had to be asked again').to.be.lessThan(scaled(250, 40));
    await Promise.all([first?.stop(), second?.stop()]);
    await database?.drop();
  });

  it(`show the write, ${scaled(1_000, 40)} times under load, by read, vread, history and search`, async () => {
    const misses = await writeAndRead(() => [first, first], scaled(1_000, 40));
    expect(misses).to.deep.equal([]);
  });

  it(`show it on the other instance too, ${scaled(1_000, 40)} times`, async () => {
    const misses = await writeAndRead(
      (n) => (n % 2 === 0 ? [first, second] : [second, first]),
      scaled(1_000, 40),
    );
    expect(misses).to.deep.equal([]);
  });

  it('show a delete on the other instance', async () => {
    const misses: string[] = [];
    await inParallel(range(scaled(200, 20)), CLIENTS, async () => {
      const id = await createdId(first, 'Condition', sample('Condition', { patient }));
      const deleted = await second.fhir(`/Condition/${id}`, { method: 'DELETE' });
      const read = await first.fhir(`/Condition/${id}`);
      if (deleted.status !== 204 || read.status !== 410) misses.push(`${deleted.status} then ${read.status}`);
    });
    expect(misses).to.deep.equal([]);
  });

  it('never make a right If-Match fail: two instances take turns on one resource', async () => {
    const id = await createdId(first, 'Observation', sample('Observation', { patient }));
    for (let version = 1; version <= scaled(400, 40); version += 1) {
      const instance = version % 2 === 0 ? first : second;
      const body = sample('Observation', { patient }, { marker: `turn ${version}` });
      const answer = await instance.fhir(`/Observation/${id}`, {
        method: 'PUT',
        headers: { 'If-Match': `W/"${version}"` },
        body: printJson({ ...body, id }),
      });
      expect(answer.status, String(answer)).to.equal(200);
      expect(answer.version).to.equal(version + 1);
    }
  });

  it('never let two instances both win with the same If-Match', async () => {
    const id = await createdId(first, 'Observation', sample('Observation', { patient }));
    for (let version = 1; version <= scaled(100, 10); version += 1) {
      const answers = await Promise.all(
        [first, second, first, second].map((instance, n) =>
          instance.fhir(`/Observation/${id}`, {
            method: 'PUT',
            headers: { 'If-Match': `W/"${version}"` },
            body: printJson({
              ...sample('Observation', { patient }, { marker: `race ${version}.${n}` }),
              id,
            }),
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort(), answers.join('; ')).to.deep.equal([
        200, 412, 412, 412,
      ]);
    }
  });

  it('64 conditional creates of one thing, on both instances at once, make one resource', async () => {
    for (const round of range(scaled(10, 1))) {
      const marker = `once ${round} ${randomUUID()}`;
      const body = printJson(sample('Observation', { patient }, { marker }));
      const criteria = `identifier=${encodeURIComponent(`${MARKER_SYSTEM}|${marker}`)}`;
      const answers = await Promise.all(
        range(64).map((n) =>
          (n % 2 === 0 ? first : second).fhir('/Observation', {
            method: 'POST',
            headers: { 'If-None-Exist': criteria },
            body,
          }),
        ),
      );
      const statuses = answers.map(({ status }) => status);
      expect(
        statuses.filter((status) => status === 201),
        answers.join('; '),
      ).to.have.length(1);
      expect(statuses.filter((status) => status === 200)).to.have.length(63);
      expect(new Set(answers.map(({ json }) => json.id)).size).to.equal(1);
      expect(await resourcesIn(second, markerSearch('Observation', marker))).to.have.length(1);
    }
  });

  it('show 1.50 as 1.50 by create, read, vread, history, search, update, patch and Bundles', async () => {
    const marker = randomUUID();
    const body = { ...sample('Observation', { patient }, { marker, decimal: '1.50' }) };
    const created = await first.fhir('/Observation', { method: 'POST', body: printJson(body) });
    const id = String(created.json.id);
    const updated = await first.fhir(`/Observation/${id}`, {
      method: 'PUT',
      body: printJson({ ...body, id }),
    });
    const patched = await first.fhir(`/Observation/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json-patch+json' },
      body: '[{"op":"test","path":"/component/0/valueQuantity/value","value":1.5},{"op":"add","path":"/valueQuantity","value":{"value":2.500}}]',
    });
    const transaction = await first.fhir('/', {
      method: 'POST',
      headers: { Prefer: 'return=representation' },
      body: printJson({
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          { resource: body, request: { method: 'POST', url: 'Observation' } },
          { request: { method: 'GET', url: `Observation/${id}/_history/1` } },
        ],
      }),
    });
    const answers = [
      created,
      updated,
      patched,
      transaction,
      await second.fhir(`/Observation/${id}`),
      await second.fhir(`/Observation/${id}/_history/1`),
      await second.fhir(`/Observation/${id}/_history`),
      await second.fhir(`/Observation/_history?_count=5`),
      await second.fhir(markerSearch('Observation', marker)),
    ];
    for (const answer of answers) {
      expect(answer.status, String(answer)).to.be.oneOf([200, 201]);
      expect(answer.text, String(answer)).to.match(/"valueDecimal":1\.50[,}]/);
      expect(answer.text).to.match(/"value":1\.50,"unit"/);
      expect(answer.text).not.to.match(/:1\.5[,}]/);
    }
    expect(patched.text).to.contain('"valueQuantity":{"value":2.500}');
    expect(answers[4]?.text).to.contain('"valueQuantity":{"value":2.500}');
  });

  /**
   * Writes and reads, and checks that each read shows the write.
   * @param instances returns, for a turn, the instance to write to and the instance to read from
   */
  async function writeAndRead(
    instances: (turn: number) => readonly [Service, Service],
    turns: number,
  ): Promise<string[]> {
    const misses: string[] = [];
    await inParallel(range(turns), CLIENTS, async (turn) => {
      const [writer, reader] = instances(turn);
      const inRecord = { patient: patients[turn % patients.length] ?? patient };
      const marker = randomUUID();
      const created = await writer.fhir('/Observation', {
        method: 'POST',
        body: printJson(sample('Observation', inRecord, { marker })),
      });
      if (created.status !== 201) return void misses.push(`create got ${created}`);
      const id = String(created.json.id);
      const miss = await missOf(reader, id, 1, marker, turn);
      if (miss !== undefined) return void misses.push(`after the create: ${miss}`);
      const next = randomUUID();
      const updated = await writer.fhir(`/Observation/${id}`, {
        method: 'PUT',
        headers: { 'If-Match': 'W/"1"' },
        body: printJson({ ...sample('Observation', inRecord, { marker: next }), id }),
      });
      if (updated.status !== 200) return void misses.push(`update got ${updated}`);
      const unseen = await missOf(reader, id, 2, next, turn);
      if (unseen !== undefined) misses.push(`after the update: ${unseen}`);
    });
    tell(`${turns} turns of a create, a read, an update and a read: ${misses.length} misses`);
    return misses;
  }

  /** Returns which part of an acknowledged version a reader fails to show. Each turn tries one kind of read, in rotation. */
  async function missOf(
    reader: Service,
    id: string,
    version: number,
    marker: string,
    turn: number,
  ): Promise<string | undefined> {
    switch (turn % 4) {
      case 0: {
        const read = await reader.fhir(`/Observation/${id}`);
        return read.status === 200 && read.version === version ? undefined : `read got ${read}`;
      }
      case 1: {
        const vread = await reader.fhir(`/Observation/${id}/_history/${version}`);
        return vread.status === 200 && vread.text.includes(marker) ? undefined : `vread got ${vread}`;
      }
      case 2: {
        const history = await resourcesIn(reader, `/Observation/${id}/_history`);
        return history.length === version ? undefined : `history shows ${history.length} of ${version}`;
      }
      default: {
        const found = await resourcesIn(reader, markerSearch('Observation', marker));
        return found.length === 1 && found[0]?.id === id ? undefined : `search finds ${found.length}`;
      }
    }
  }
});

async function createdId(service: Service, type: string, body: JsonObject): Promise<string> {
  const answer = await service.fhir(`/${type}`, { method: 'POST', body: printJson(body) });
  if (answer.status !== 201) throw new Error(`create of ${type} got ${answer}`);
  return String(answer.json.id);
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
