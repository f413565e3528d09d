/**
 * No request blocks the event loop for more than 250 ms. The requests are the corpus of the largest bodies, sent one at a
 * time. `npm test` sends smaller bodies, which reveals work that grows faster than its body. At full size, bodies are as large
 * as the service accepts.
 */
import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { BODIES_OVER_LIMITS, type BodyOverLimit } from '#test/support/bodies-over-limits.ts';
import { heldBy } from '#test/support/held.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import {
  LARGE_READS,
  LARGE_REQUESTS,
  type LargeRequest,
  longObservation,
  observations,
} from '#test/support/largest-bodies.ts';
import { everyNth, scaled } from '#test/support/scale.ts';

/** With small bodies, only work that grows faster than the body takes this long, even on a busy machine. */
const MOST_MS = scaled(250, 1_500);
/** Limit for a whole request that is refused while it arrives: 25 MB of blanks are decompressed. */
const CPU_MS = scaled(1_000, 1_500);
const BODY = scaled(9_900_000, 30_000);
const BUNDLE = scaled(24_900_000, 100_000);
/** Number of observations in the large record, and number per transaction. */
const OBSERVATIONS = scaled(20_000, 400);
const AT_ONCE = 4_000;
/** Number of versions of an Observation with a long note, and number of such Observations. */
const VERSIONS = scaled(100, 5);
const NOTE = scaled(400_000, 20_000);

describe('the event loop', () => {
  let service: InProcess;
  let patient: string;
  const names = new Map<string, string>();
  const rows: string[] = [];
  before(async () => {
    service = await startInProcess();
    const created = await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Large' }] });
    patient = String(created.json.id);
  });
  after(async () => {
    const to = process.env.ANNAL_HELD_ROWS ?? '';
    if (to !== '') writeFileSync(to, rows.join('\n'));
    await service.stop();
  });

  /** Sends prepared bytes, and reads the response without keeping it. */
  const send = (
    method: string,
    path: string,
    type: string,
    body: Buffer,
  ): Promise<{ status: number; head: string }> =>
    new Promise((resolve, reject) => {
      const headers = {
        Authorization: `Bearer ${service.key}`,
        'Content-Type': type,
        'Content-Length': body.length,
      };
      const sent = httpRequest(`${service.url}${path}`, { method, headers }, (answer) => {
        let head = '';
        answer.on('data', (chunk: Buffer) => {
          if (head.length < 300) head += chunk.toString('latin1', 0, 300);
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, head }));
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });

  /** Creates the records that the reads use. */
  const fill = async (): Promise<void> => {
    const made = async (path: string, body: string): Promise<string> => {
      const { status, head } = await send(
        'POST',
        `/fhir/R4${path}`,
        'application/fhir+json',
        Buffer.from(body),
      );
      expect(status, head).to.be.within(200, 201);
      return /"id":"([^"]+)"/.exec(head)?.[1] ?? '';
    };
    const record = await made('/Patient', '{"resourceType":"Patient","name":[{"family":"Many"}]}');
    const long = await made('/Patient', '{"resourceType":"Patient","name":[{"family":"Long"}]}');
    for (let from = 0; from < OBSERVATIONS; from += AT_ONCE)
      await made('', observations(record, Math.min(AT_ONCE, OBSERVATIONS - from), from));
    let versions = '';
    for (let n = 0; n < VERSIONS; n += 1) versions = await made('/Observation', longObservation(long, NOTE));
    for (let n = 1; n < VERSIONS; n += 1) {
      const body = longObservation(long, NOTE - n, `"id":"${versions}",`);
      const path = `/fhir/R4/Observation/${versions}`;
      expect((await send('PUT', path, 'application/fhir+json', Buffer.from(body))).status).to.equal(200);
    }
    for (const [name, id] of Object.entries({ record, long, versions })) names.set(`{${name}}`, id);
  };

  const test = ({ name, method, path, type, body, bundle, made, status }: LargeRequest): void => {
    it(`is not held for long by ${name}`, async () => {
      const bytes = bundle === true ? BUNDLE : BODY;
      const filledIn = (text: string, id = ''): string =>
        text
          .replaceAll('{patient}', patient)
          .replaceAll('{made}', id)
          .replaceAll(/\{(?:record|long|versions)\}/g, (place) => names.get(place) ?? place);
      let id = '';
      if (made !== undefined) {
        const created = await send(
          'POST',
          `/fhir/R4/${made.type}`,
          'application/fhir+json',
          Buffer.from(filledIn(made.body(bytes))),
        );
        id = /"id":"([^"]+)"/.exec(created.head)?.[1] ?? '';
        expect(created.status, created.head).to.equal(201);
      }
      const sent = Buffer.from(filledIn(body(bytes), id));
      let answer = { status: 0, head: '' };
      const began = performance.now();
      const { longest } = await heldBy(async () => {
        answer = await send(method, filledIn(path, id), type, sent);
        // The work of the projections counts as well.
        await service.fhir('/Patient?_summary=count&name=nobody');
      });
      const ms = Math.round(performance.now() - began);
      rows.push(
        `| ${name} | ${(sent.length / 1e6).toFixed(1)} MB | ${answer.status} | ${Math.round(longest)} ms | ${ms} ms |`,
      );
      if (status === undefined) expect(answer.status, answer.head).to.be.within(200, 499);
      else expect(answer.status, answer.head).to.equal(status);
      expect(longest).to.be.below(MOST_MS);
    });
  };

  for (const request of everyNth(LARGE_REQUESTS, 3)) test(request);

  describe('by a body that passes a limit', () => {
    let person: string;
    before(async () => {
      person = (await signIn(service, 'over@limits.example')).token;
    });

    /**
     * Sends a body and, unless `ends` is set, leaves it unfinished: the response must arrive at the byte that exceeds the
     * limit.
     */
    const answered = (
      { method, path, type, as, gzip, ends }: BodyOverLimit,
      body: Buffer,
    ): Promise<{ status: number; text: string }> =>
      new Promise((resolve, reject) => {
        const token = { person, key: service.key, nobody: undefined }[as];
        const headers = {
          ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
          ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
          'Content-Type': type,
        };
        const url = `${service.url}${path.replace('{patient}', patient)}`;
        const sent = httpRequest(url, { method, headers, agent: false }, async (answer) => {
          try {
            const text = Buffer.concat(await answer.toArray()).toString();
            resolve({ status: answer.statusCode ?? 0, text });
          } catch (error) {
            reject(error);
          }
          sent.destroy();
        });
        sent.on('error', reject);
        sent.write(body);
        if (ends) sent.end();
      });

    for (const request of everyNth(BODIES_OVER_LIMITS, 3))
      it(`is refused at once, and without more memory: ${request.name}`, async () => {
        const body = request.body();
        const used = (): number => {
          const { heapUsed, external } = process.memoryUsage();
          return heapUsed + external;
        };
        const before = used();
        let most = before;
        const looks = setInterval(() => {
          most = Math.max(most, used());
        }, 2);
        let answer = { status: 0, text: '' };
        const cpu = process.cpuUsage();
        const { longest } = await heldBy(async () => {
          answer = await answered(request, body);
        });
        clearInterval(looks);
        const { user, system } = process.cpuUsage(cpu);
        const ms = Math.round((user + system) / 1_000);
        const mb = Math.round((most - before) / 1e6);
        expect(answer.status, answer.text).to.equal(request.status);
        expect(answer.text).to.include(request.says);
        expect(ms, 'ms of the processor').to.be.below(CPU_MS);
        expect(longest, 'ms without a pause').to.be.below(MOST_MS);
        expect(mb, 'MB of memory').to.be.below(50);
      });
  });

  describe('with large records', () => {
    before(fill);
    for (const request of LARGE_READS) test(request);
  });
});
