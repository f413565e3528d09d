/** The record as of any point in time. */
import { expect } from 'chai';
import { recordAt, toCollection } from '#src/audit/record-at.ts';
import type { ResourceEvent } from '#src/events/catalog.ts';
import { encode } from '#src/events/codec.ts';
import type { Position, RecordedEvent } from '#src/events/store.ts';
import { faultOfMoment, parseMoment } from '#src/shared/time/moment.ts';
import { toMicros } from '#src/shared/time/time.ts';

const BASE = 'http://localhost:3000/fhir/R4';
const ID = '018f0000-0000-7000-8000-000000000001';

const stored = (revision: number, recordedAt: string, event: ResourceEvent): RecordedEvent => ({
  id: `00000000-0000-7000-8000-00000000000${revision}`,
  type: event.type,
  stream: `record-${ID}`,
  revision,
  position: String(100 + revision) as Position,
  data: encode(event),
  metadata: JSON.stringify({ schema_version: 1, recorded_at: recordedAt }),
});

const version = (n: number, body: string): ResourceEvent => ({
  type: n === 1 ? 'ResourceCreated' : 'ResourceUpdated',
  resourceType: 'Patient',
  resourceId: ID,
  version: n,
  body,
});

const events = [
  stored(0, '2026-01-01T10:00:00.000001Z', version(1, '{"weight":1.50}')),
  stored(1, '2026-01-02T10:00:00.000000Z', version(2, '{"weight":2.0}')),
  stored(2, '2026-01-03T00:00:00.000000Z', {
    type: 'ResourceDeleted',
    resourceType: 'Patient',
    resourceId: ID,
    version: 3,
  }),
];

const at = async (text: string) => {
  const moment = parseMoment(text);
  if (moment === undefined) throw new Error(`${text} is a moment`);
  return recordAt(events, moment, (event, position) => event.position > position);
};

describe('a record as of a moment', () => {
  it('holds what was recorded until then, to the microsecond', async () => {
    expect((await at('2026-01-01T10:00:00Z')).events).to.equal(0);
    const first = await at('2026-01-01T10:00:00.000001Z');
    expect(first.resources.get(ID)).to.include({ version: 1, body: '{"weight":1.50}' });
  });

  it('says that an offset is missing, and of other texts nothing', () => {
    expect(faultOfMoment('2026-01-02T12:00')).to.equal(
      'needs a time zone, for example 2026-01-02T12:00Z or 2026-01-02T12:00+02:00',
    );
    for (const text of ['2026-02-30T12:00', '2026-02-30', 'yesterday', '2026', 'T'])
      expect(faultOfMoment(text), text).to.equal(undefined);
  });

  it('takes a date as the whole day', async () => {
    expect((await at('2026-01-02')).resources.get(ID)?.version).to.equal(2);
    expect((await at('2026-01-01')).resources.get(ID)?.version).to.equal(1);
  });

  it('takes an offset, a revision and a position', async () => {
    expect((await at('2026-01-02T12:00:00+02:00')).resources.get(ID)?.version).to.equal(2);
    expect((await at('2026-01-02T11:59:59+02:00')).resources.get(ID)?.version).to.equal(1);
    expect((await at('revision:1')).resources.get(ID)?.version).to.equal(2);
    expect((await at('position:100')).resources.get(ID)?.version).to.equal(1);
  });

  it('leaves out of the Bundle what was deleted then; texts are as they were written', async () => {
    expect(toCollection(await at('2026-01-03'), BASE)).to.equal(
      '{"resourceType":"Bundle","type":"collection","timestamp":"2026-01-03T00:00:00.000000Z","entry":[]}',
    );
    expect(toCollection(await at('revision:0'), BASE)).to.contain(
      `"fullUrl":"${BASE}/Patient/${ID}","resource":{"weight":1.50}`,
    );
  });

  it('knows a moment from a typing error', () => {
    for (const text of [
      '',
      'yesterday',
      '2026',
      '2026-02-30',
      '2026-01-01T10:00:00',
      'revision:',
      'revision:-1',
    ]) {
      expect(parseMoment(text), text).to.equal(undefined);
    }
    expect(parseMoment('2026-01-01T10:00Z')).to.deep.equal({
      kind: 'time',
      micros: toMicros('2026-01-01T10:00:00Z'),
    });
  });
});
