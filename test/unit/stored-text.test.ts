/**
 * The last check before an event is written to the log: after decoding, no event's data contains anything that a database
 * can't store.
 */
import { expect } from 'chai';
import { CATALOG, type DomainEvent } from '#src/events/catalog.ts';
import { decode, encode } from '#src/events/codec.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';

const events: Record<string, (json: string) => DomainEvent> = {
  'the body of a resource': (json) => ({
    type: 'ResourceCreated',
    resourceType: 'Patient',
    resourceId: newUuid(),
    version: 1,
    body: `{"resourceType":"Patient","x":${json}}`,
  }),
  'data of their own': (json) => ({
    type: 'ProjectCreated',
    data: { project_id: 'proj_1', organization_id: 'org_1', name: JSON.parse(json) },
  }),
  'a carried entry': (json) => ({
    type: 'DirectoryEntriesCarried',
    data: {
      stream: 'directory-x',
      entries: [
        { event_id: 'e', resource_type: 'Organization', resource_id: 'r', resource: `{"name":${json}}` },
      ],
    },
  }),
};

describe('text of events', () => {
  for (const [name, eventOf] of Object.entries(events)) {
    it(`is refused with a NUL or an unpaired surrogate: ${name}`, () => {
      for (const json of [
        '"a\\u0000b"',
        '"\\ud83d"',
        '"\\uDE00\\uD83D"',
        '"\\ud83dx"',
        '"\\ud83d\\ud83d\\ude00"',
        '"\\\\\\ud83d"',
        '"\\n\\ude00"',
        '"\ud83d"',
      ]) {
        expect(() => encode(eventOf(json)), json)
          .to.throw(Refusal)
          .with.property('kind', 'invalid');
      }
    });

    it(`is kept with whatever else JSON can say: ${name}`, () => {
      for (const json of [
        '"\\ud83d\\ude00"',
        '"😀 \\u00e9\\uD83D\\uDE00\\n"',
        '"\\\\ud83d"',
        '"\\\\u0000"',
        '"\\u0001"',
        '"C:\\\\users"',
      ]) {
        const event = eventOf(json);
        expect(decode(event.type, CATALOG[event.type].version, encode(event)), json).to.deep.equal(event);
      }
    });
  }
});
