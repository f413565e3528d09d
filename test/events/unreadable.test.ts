/** Events that no version of the service has ever written. */
import { expect } from 'chai';
import { understand } from '#src/events/codec.ts';
import { BEGINNING, type RecordedEvent } from '#src/events/store.ts';
import { UnreadableEvent } from '#src/events/unreadable.ts';
import { made } from '#test/projections/made.ts';

describe('an event that no version has written', () => {
  const event = made({ type: 'ProjectDeleted', data: { project_id: 'proj_a' } });
  const recorded: RecordedEvent = { ...event, stream: 'project-proj_a', revision: 3, position: BEGINNING };
  const withMetadata = (more: object): string =>
    JSON.stringify({ ...(JSON.parse(event.metadata) as object), ...more });

  for (const [name, changed, reason] of [
    ['a fraction as its version', { metadata: withMetadata({ schema_version: 1.5 }) }, 'schema_version'],
    ['a text as its version', { metadata: withMetadata({ schema_version: '9' }) }, 'schema_version'],
    ['version 0', { metadata: withMetadata({ schema_version: 0 }) }, 'schema_version'],
    ['no version', { metadata: withMetadata({ schema_version: undefined }) }, 'schema_version'],
    [
      'a fraction, and an unknown type',
      { type: 'X', metadata: withMetadata({ schema_version: 1.5 }) },
      'schema_version',
    ],
    ['no time', { metadata: withMetadata({ recorded_at: null }) }, 'recorded_at'],
    ['metadata that are not JSON', { metadata: '{"x": Smith' }, 'its metadata is not valid JSON'],
    ['metadata that are no object', { metadata: '["Smith"]' }, 'its metadata is not an object'],
    ['data that are not JSON', { data: '{"project_id": Smith' }, 'could not be parsed'],
    ['data of another form', { data: '{"project_id":{"Smith":1}}' }, 'project_id invalid_type'],
  ] as const)
    it(`is unreadable, not newer, with ${name}; none of it is quoted`, () => {
      expect(() => understand({ ...recorded, ...changed }))
        .to.throw(UnreadableEvent, /^cannot read the event at revision 3 of project-proj_a: /)
        .with.property('message')
        .that.contains(reason)
        .and.does.not.contain('Smith');
    });
});
