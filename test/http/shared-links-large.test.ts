/**
 * Shared links to a large record: creating and opening them blocks the event loop for at most 250 ms (20,000 observations at
 * full size).
 */
import { expect } from 'chai';
import { heldBy } from '#test/support/held.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { observations } from '#test/support/largest-bodies.ts';
import { linkOf, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { scaled } from '#test/support/scale.ts';
import { openLink, payloadOf, share } from '#test/support/shared-links.ts';

const EMAIL = 'mira@example.org';
const OBSERVATIONS = scaled(20_000, 400);
const AT_ONCE = 4_000;
/** With few resources, only work that grows faster than their number takes this long, even on a busy machine. */
const MOST_MS = scaled(250, 1_500);

describe('shared links to a large record', () => {
  let service: InProcess;
  let events: RecordEvents;
  let record: string;

  before(async function () {
    this.timeout(600_000);
    service = await startInProcess();
    events = await RecordEvents.open(service.databaseUrl);
    record = await newPatient(service);
    await events.append(record, linkOf(service, EMAIL));
    await eventually(
      async () =>
        (await service.pool.query('select from consents.links where record = $1', [record])).rowCount === 1,
    );
    for (let from = 0; from < OBSERVATIONS; from += AT_ONCE) {
      const body = observations(record, Math.min(AT_ONCE, OBSERVATIONS - from), from);
      const { status } = await service.fhir('', { method: 'POST', body, timeoutMs: 300_000 });
      expect(status).to.equal(200);
    }
  });
  after(async () => {
    await events?.close();
    await service?.stop();
  });

  for (const [name, body] of [
    ['made and opened', { content: 'everything' }],
    ['opened as it is', { content: 'everything', long_term: true }],
    ['opened as a summary', { content: 'summary', long_term: true }],
  ] as const) {
    it(`are ${name} without holding the event loop`, async function () {
      this.timeout(300_000);
      let characters = 0;
      const { longest } = await heldBy(async () => {
        const { url } = payloadOf(await share(service, EMAIL, record, body));
        const { json } = await openLink(url, { recipient: 'Clinic', embeddedLengthMax: 0 });
        const response = await fetch(String(json.files?.[0]?.location));
        expect(response.status).to.equal(200);
        for await (const part of response.body ?? []) characters += part.length;
      });
      expect(characters).to.be.greaterThan(1_000);
      if (process.env.ANNAL_TEST_SCALE !== undefined)
        console.log(
          `      ${OBSERVATIONS} observations, ${characters} characters: ${Math.round(longest)} ms at most`,
        );
      expect(longest).to.be.below(MOST_MS);
    });
  }
});
