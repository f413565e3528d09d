/**
 * A take-back of many records that is killed repeatedly, next to a service that other clients are using (docs/take-back.md).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import pg from 'pg';
import { verify } from '#projections/verify/verify.ts';
import { openEventStore } from '#src/events/open.ts';
import type { NewEvent } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL, foundProject } from '#test/support/project.ts';
import { scaled } from '#test/support/scale.ts';

const RECORDS = scaled(5_000, 20);
const EVENTS = scaled(200, 20);
/** Number of selected events per record; half of them change what other authors wrote. */
const SELECTED = scaled(10, 4);
const KILLS = scaled(5, 1);
const isFull = RECORDS >= 1_000;
const SOURCE = 'wrong';
const BEGAN = Date.parse('2026-03-01T00:00:00Z') * 1_000;
const PROGRAM = fileURLToPath(new URL('../../bin/annal.js', import.meta.url));

/** Returns a record's events: a Patient, observations by other authors, and the selected events in between. */
function madeRecord(
  patient: string,
  owner: { readonly project: string; readonly environment: 'sandbox' },
): NewEvent[] {
  const events: NewEvent[] = [];
  const metadata = (source: string, index: number): string =>
    JSON.stringify({
      schema_version: 1,
      request_id: 'req_made',
      command_id: patient,
      credential: { kind: 'api_key', ...owner, key_id: 'key_made' },
      author: { type: 'device' },
      source_system: source,
      recorded_at: toInstant(BEGAN + index),
      append: [index, EVENTS],
      owner,
    });
  const write = (type: string, id: string, version: number, source: string, rest: string): void => {
    const index = events.length;
    const meta = `{"versionId":"${version}","lastUpdated":"${toInstant(BEGAN + index)}"}`;
    const resource = `{"resourceType":"${type}","id":"${id}","meta":${meta},${rest}}`;
    events.push({
      id: newUuid(),
      type: version === 1 ? 'ResourceCreated' : 'ResourceUpdated',
      data: `{"resource_type":"${type}","resource_id":"${id}","version":${version},"resource":${resource}}`,
      metadata: metadata(source, index),
    });
  };
  const observe = (id: string, version: number, source: string): void =>
    write(
      'Observation',
      id,
      version,
      source,
      `"status":"final","code":{"coding":[{"system":"http://loinc.org","code":"2160-0"}]},"subject":{"reference":"Patient/${patient}"},"effectiveDateTime":"2026-03-01","valueQuantity":{"value":${events.length}.50,"unit":"mg/dL"}`,
    );
  write('Patient', patient, 1, 'others', '"name":[{"family":"Sand"}]');
  for (let n = 0; events.length < EVENTS; n += 1) {
    const id = newUuid();
    if (n >= SELECTED) observe(id, 1, 'others');
    else if (n % 2 === 0) observe(id, 1, SOURCE);
    else {
      observe(id, 1, 'others');
      observe(id, 2, SOURCE);
    }
  }
  return events;
}

describe('a take-back that is killed', () => {
  let service: InProcess;
  /** Reads whole tables of a million rows, so it has no time limit, unlike the service's own connections. */
  let database: pg.Client;
  let key: string;
  let project: string;

  before(async function () {
    this.timeout(2_400_000);
    service = await startInProcess();
    database = new pg.Client(service.databaseUrl);
    await database.connect();
    ({ key, project } = await foundProject(service.databaseUrl));
    const owner = { project, environment: 'sandbox' } as const;
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    try {
      for (let made = 0; made < RECORDS; made += 10)
        await Promise.all(
          Array.from({ length: Math.min(10, RECORDS - made) }, () => {
            const patient = newUuid();
            return store.append(recordStream(patient), 'none', madeRecord(patient, owner));
          }),
        );
      const head = await store.head();
      await eventually(
        async () => {
          const { rows } = await database.query<{ position: string }>(
            'select least(h.position, r.position) as position from history.checkpoint h, resources.checkpoint r',
          );
          return (rows[0]?.position ?? '') >= head;
        },
        1_800_000,
        250,
      );
    } finally {
      await store.close();
    }
    await eventually(async () => (await fetch(`${service.url}/health/ready`)).ok, 600_000, 250);
  });
  after(async () => {
    await database?.end();
    await service?.stop();
  });

  const digest = async (what: 'untouched' | 'content'): Promise<string> => {
    const value =
      what === 'untouched'
        ? 'r.version || r.body'
        : `r.deleted || regexp_replace(coalesce(r.body, ''), '"versionId":"[0-9]+","lastUpdated":"[^"]+"', '')`;
    const where =
      what === 'content'
        ? 'true'
        : `not exists (select from history.version v where v.id = r.id and strpos(v.metadata, '"source_system":"${SOURCE}"') > 0)`;
    const { rows } = await database.query<{ digest: string }>(
      `select md5(string_agg(md5(r.id::text || ${value}), '' order by r.id)) as digest from resources.resource r where ${where}`,
    );
    return rows[0]?.digest ?? '';
  };
  const count = async (sql: string, ...values: readonly unknown[]): Promise<number> =>
    (await database.query<{ n: number }>(`select count(*)::int as n from ${sql}`, [...values])).rows[0]?.n ??
    0;
  const annal = (...args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [PROGRAM, 'takeback', ...args, '--json'], {
      env: { ...process.env, DATABASE_URL: service.databaseUrl, EVENTSTORE_URL },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const finished = async (child: ChildProcess): Promise<Record<string, unknown>> => {
    let printed = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    const [code] = await once(child, 'close');
    expect(code, printed).to.equal(0);
    return JSON.parse(printed) as Record<string, unknown>;
  };
  /** Runs an action the given number of times, and kills it each time it has completed a further part of the records. */
  const runKilled = async (
    action: 'start' | 'undo',
    id: string,
    kills: number,
  ): Promise<Record<string, unknown>> => {
    const column = action === 'start' ? 'taken' : 'undone';
    for (let killed = 1; killed <= kills; killed += 1) {
      const child = annal(action, id);
      const ended = once(child, 'close');
      const due = Math.floor((RECORDS * killed) / (kills + 1));
      await eventually(
        async () =>
          child.exitCode !== null ||
          (await count(`operations.takeback_stream where takeback = $1 and ${column} is not null`, id)) >=
            due,
        600_000,
        isFull ? 100 : 5,
      );
      child.kill('SIGKILL');
      await ended;
    }
    return finished(annal(action, id));
  };
  /** Measures the latencies of other clients' reads and writes, in ms, until it is stopped. */
  const load = () => {
    const times: number[] = [];
    let going = true;
    const ids: string[] = [];
    const one = async (n: number): Promise<void> => {
      const began = performance.now();
      const id = ids[n % ids.length];
      const answer =
        n % 4 === 0 || id === undefined
          ? await service.fhir('/Patient', {
              key,
              method: 'POST',
              body: '{"resourceType":"Patient","name":[{"family":"Load"}]}',
            })
          : await service.fhir(`/Patient/${id}`, { key });
      times.push(performance.now() - began);
      expect(answer.status, answer.text).to.be.oneOf([200, 201]);
      if (answer.status === 201) ids.push(String(answer.json.id));
    };
    const loops = Array.from({ length: 4 }, async () => {
      for (let n = 0; going; n += 1) await one(n);
    });
    return {
      count: () => times.length,
      async stop(): Promise<number> {
        going = false;
        await Promise.all(loops);
        return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
      },
    };
  };

  it('takes back each record once, and its undo restores everything; nothing else changes', async function () {
    this.timeout(1_800_000);
    const [untouched, content] = [await digest('untouched'), await digest('content')];
    const quiet = load();
    await eventually(async () => quiet.count() >= scaled(5_000, 50), 120_000);
    const before = await quiet.stop();
    const { id, plan } = await finished(
      annal('--project', project, '--environment', 'sandbox', '--source-system', SOURCE),
    );
    const changed = Math.floor(SELECTED / 2);
    expect(plan).to.deep.include({
      versions: RECORDS * SELECTED,
      records: RECORDS,
      restored: RECORDS * changed,
      removed: RECORDS * (SELECTED - changed),
      stays: 0,
    });
    const busy = load();
    const began = performance.now();
    const done = await runKilled('start', String(id), KILLS);
    const seconds = (performance.now() - began) / 1000;
    const during = await busy.stop();
    process.stdout.write(
      `      ${RECORDS * SELECTED} of ${RECORDS * EVENTS} events in ${seconds.toFixed(1)} s, ${KILLS} kills; p99 of others ${before.toFixed(1)} ms before, ${during.toFixed(1)} ms during\n`,
    );
    expect(done.result).to.deep.equal({ records: RECORDS, versions: RECORDS * SELECTED, stays: 0 });
    expect(
      await count(`history.version where metadata::json ->> 'cause' = $1`, `takeback/${String(id)}`),
    ).to.equal(RECORDS * SELECTED);
    expect(
      await count(
        `resources.resource r join history.version v on v.id = r.id and v.version = r.version
          where strpos(v.metadata, '"source_system":"${SOURCE}"') > 0`,
      ),
    ).to.equal(0);
    if (isFull) {
      expect(seconds).to.be.below(600);
      expect(during).to.be.below(2 * before);
    }
    const undone = await runKilled('undo', String(id), 1);
    expect(undone.undo_result).to.deep.equal({ records: RECORDS, versions: RECORDS * SELECTED, stays: 0 });
    // The load created its own Patients, which are removed here.
    await database.query(`delete from resources.resource where body like '%"family":"Load"%'`);
    expect(await digest('content')).to.equal(content);
    expect(await digest('untouched')).to.equal(untouched);
  });

  it('leaves a log that holds', async function () {
    this.timeout(900_000);
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    try {
      const { log } = await verify({ store, databaseUrl: service.databaseUrl });
      // A shared log contains other tests' streams that aren't records.
      expect(log.filter(({ stream }) => !stream.startsWith('contract-'))).to.deep.equal([]);
    } finally {
      await store.close();
    }
  });
});
