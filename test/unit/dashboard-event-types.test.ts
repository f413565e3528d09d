/** The dashboard has words for every event that a project's auditors see. */
import { expect } from 'chai';
import { CATALOG } from '#src/events/catalog.ts';
import { PROJECT_TYPES, RECORD_TYPES } from '../../dashboard/screens/audit/event-types.ts';
import { de } from '../../dashboard/texts/de.ts';
import { en } from '../../dashboard/texts/en.ts';

describe('types of events in the dashboard', () => {
  it('are those of the catalogue, except of organizations', () => {
    const inStreams = (kinds: RegExp) =>
      Object.entries(CATALOG).flatMap(([type, { streams }]) => (kinds.test(streams) ? type : []));
    expect(RECORD_TYPES).to.have.members(inStreams(/record-/));
    expect(PROJECT_TYPES).to.have.members(inStreams(/project-|application-|webhook-/));
  });

  it('have words in each language', () => {
    for (const type of [...RECORD_TYPES, ...PROJECT_TYPES])
      for (const texts of [en, de] as Readonly<Record<string, string>>[])
        expect(texts[`audit.type.${type}`], type).to.match(/^[A-ZÄÖÜ]/);
  });
});
