/** given what earlier reports wrote · when a report arrives · then what is written */
import { expect } from 'chai';
import { decideLabs, draftKey, type Earlier, keysIn } from '#src/labs/decide.ts';
import { type Draft, draftUrl, makeIdentifier, Notes } from '#src/labs/labs.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';

const T1 = '2026-03-31T08:00:00Z';
const T2 = '2026-03-31T09:00:00Z';

const draft = (members: JsonObject, more: Partial<Draft> = {}): Draft => ({
  type: 'Observation',
  key: 'k',
  place: 'OBX[1]',
  resource: { resourceType: 'Observation', identifier: [makeIdentifier('k')], status: 'final', ...members },
  ...more,
});
const when = (earlier: JsonObject | undefined, now: Draft) => {
  const notes = new Notes();
  const there: Earlier | undefined =
    earlier === undefined
      ? undefined
      : { id: 'o1', version: 3, resource: { ...draft({}).resource, ...earlier } };
  const [decided] = atOnce(
    decideLabs([now], new Map(there === undefined ? [] : [[draftKey(now), there]]), notes),
  );
  return { entry: decided?.entries[0], warnings: notes.told.warnings };
};

describe('a result that comes again', () => {
  it('is new when nothing is there', () => {
    const { entry } = when(undefined, draft({ valueString: 'a' }));
    expect(entry).to.include({ method: 'POST', type: 'Observation', fullUrl: draftUrl('Observation', 'k') });
  });
  it('is nothing when it says the same, whenever it was sent', () => {
    const { entry, warnings } = when(
      { valueString: 'a', issued: T1 },
      draft({ valueString: 'a', issued: T2 }),
    );
    expect(entry).to.equal(undefined);
    expect(warnings).to.deep.equal([]);
  });
  it('is a version on the one that was looked at, when it says another thing', () => {
    const { entry } = when({ valueString: 'a' }, draft({ valueQuantity: { value: 1 }, status: 'corrected' }));
    expect(entry).to.include({ method: 'PUT', id: 'o1', ifMatch: 3 });
    expect(entry?.resource).to.deep.include({ status: 'corrected', valueQuantity: { value: 1 } });
    expect(entry?.resource).not.to.have.property('valueString');
  });
  it('keeps what the import does not decide on, and numbers of other identifiers', () => {
    const identifier = [makeIdentifier('k'), { value: 'own' }];
    const { entry } = when(
      { identifier, encounter: { display: 'x' }, valueString: 'a' },
      draft({ valueString: 'b' }),
    );
    expect(entry?.resource).to.deep.include({ identifier, encounter: { display: 'x' }, valueString: 'b' });
  });

  const stays: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['it is older', { valueString: 'a', issued: T2 }, { valueString: 'b', issued: T1 }],
    ['it is preliminary after final', { valueString: 'a' }, { valueString: 'b', status: 'preliminary' }],
    ['it is final after corrected', { valueString: 'a', status: 'corrected' }, { valueString: 'b' }],
    [
      'the result was taken back, and it is no later one',
      { valueString: 'a', status: 'entered-in-error', issued: T1 },
      { valueString: 'a', issued: T1 },
    ],
  ];
  for (const [name, there, now] of stays)
    it(`is left out, and told, when ${name}`, () => {
      const { entry, warnings } = when(there, draft(now));
      expect(entry).to.equal(undefined);
      expect(warnings).to.have.length(1);
    });

  const corrected = { valueString: 'a', status: 'corrected', issued: T1 };
  it('is final after corrected when it was made after that was issued', () => {
    const { entry } = when(corrected, draft({ valueString: 'b', issued: T2 }, { made: T2 }));
    expect(entry?.resource).to.include({ status: 'final', valueString: 'b', issued: T2 });
  });
  it('is left out when only its message is later than the correction', () => {
    for (const more of [{}, { made: T1 }])
      expect(when(corrected, draft({ valueString: 'b', issued: T2 }, more)).entry).to.equal(undefined);
    const preliminary = draft({ valueString: 'b', issued: T2, status: 'preliminary' }, { made: T2 });
    expect(when(corrected, preliminary).entry).to.equal(undefined);
  });

  const KEEPING = { keeps: ['value', 'referenceRange', 'interpretation'], keptNote: 'kept' };
  it('without a value keeps the one that was there, with a note', () => {
    const there = { valueString: 'a', interpretation: [{ text: 'H' }], referenceRange: [{ text: '1-2' }] };
    const members = { status: 'corrected', referenceRange: [{ text: '1-3' }], note: [{ text: 'n' }] };
    const { entry, warnings } = when(there, draft(members, KEEPING));
    expect(entry?.resource).to.deep.include({
      ...there,
      ...members,
      note: [{ text: 'n' }, { text: 'kept' }],
    });
    expect(warnings[1]).to.equal('OBX[1]: it has no value; the earlier value is kept');
    // Sending the report again adds nothing; a later value removes the note.
    expect(when(entry?.resource, draft(members, KEEPING))).to.deep.equal({ entry: undefined, warnings: [] });
    const valued = when(entry?.resource, draft({ status: 'corrected', valueString: 'b' }));
    expect(valued.entry?.resource).not.to.have.property('note');
  });
  it('without a value has no note on one that never was', () => {
    const { entry } = when({ status: 'preliminary' }, draft({}, KEEPING));
    expect(entry?.resource).not.to.have.property('note');
  });
  it('that takes back a value says so', () => {
    const { entry, warnings } = when({ valueString: 'a' }, draft({ status: 'corrected' }));
    expect(entry?.resource).not.to.have.property('valueString');
    expect(warnings[1]).to.equal('OBX[1]: it withdraws the earlier value');
  });

  it('comes back after it was taken back, when it is later', () => {
    const { entry } = when(
      { valueString: 'a', status: 'entered-in-error', issued: T1 },
      draft({ valueString: 'b', issued: T2 }),
    );
    expect(entry?.resource).to.include({ status: 'final', valueString: 'b' });
  });
  it('that is taken back without a value keeps it', () => {
    const now = draft({ status: 'entered-in-error' }, { keeps: ['value'] });
    expect(when({ valueString: 'a' }, now).entry?.resource).to.include({
      valueString: 'a',
      status: 'entered-in-error',
    });
    expect(when({ valueString: 'a' }, draft({ status: 'cancelled' })).entry?.resource).not.to.have.property(
      'valueString',
    );
  });
  it('that is taken back and was never there is told', () => {
    const { entry, warnings } = when(undefined, draft({ status: 'entered-in-error' }));
    expect(entry?.method).to.equal('POST');
    expect(warnings).to.have.length(1);
    expect(when(undefined, draft({ status: 'cancelled' })).warnings).to.deep.equal([]);
  });
});

describe('a report that comes again', () => {
  it('has the results of all its messages', () => {
    const report = (results: readonly string[], status: string): Draft => ({
      type: 'DiagnosticReport',
      key: 'r',
      place: 'OBR[1]',
      resource: {
        resourceType: 'DiagnosticReport',
        status,
        result: results.map((reference) => ({ reference })),
      },
    });
    const there = { id: 'd1', version: 1, resource: report(['Observation/a'], 'final').resource };
    const decided = atOnce(
      decideLabs(
        [report(['Observation/b'], 'preliminary')],
        new Map([['DiagnosticReport r', there]]),
        new Notes(),
      ),
    );
    // An older report doesn't undo anything, but its results are still linked.
    expect(decided[0]?.entries[0]?.resource).to.deep.include({
      status: 'final',
      result: [{ reference: 'Observation/a' }, { reference: 'Observation/b' }],
    });
  });

  it('names by their ids what is there, by their drafts what is new', () => {
    const observation = draft({ valueString: 'a' });
    const parent = draft({ derivedFrom: [{ reference: draftUrl('Observation', 'k') }] }, { key: 'c' });
    const there = { id: 'o1', version: 1, resource: observation.resource };
    const [, child] = atOnce(
      decideLabs([observation, parent], new Map([[draftKey(observation), there]]), new Notes()),
    );
    expect(child?.entries[0]?.resource?.derivedFrom).to.deep.equal([{ reference: 'Observation/o1' }]);
    const [, fresh] = atOnce(decideLabs([observation, parent], new Map(), new Notes()));
    expect(fresh?.entries[0]?.resource?.derivedFrom).to.deep.equal([
      { reference: draftUrl('Observation', 'k') },
    ]);
  });
});

describe('a document that comes again', () => {
  const document = (hash: string, members: JsonObject = {}): Draft => ({
    type: 'DocumentReference',
    key: 'k',
    place: 'OBX[1]',
    keeps: ['content'],
    resource: {
      resourceType: 'DocumentReference',
      identifier: [makeIdentifier('k')],
      status: 'current',
      ...(hash === ''
        ? {}
        : { content: [{ attachment: { contentType: 'text/plain', data: 'YQ==', hash } }] }),
      ...members,
    },
  });
  const stored = { id: 'd1', version: 2, resource: document('h1').resource };
  const decided = (now: Draft) =>
    atOnce(decideLabs([now], new Map([[draftKey(now), stored]]), new Notes()))[0]?.entries ?? [];

  it('is nothing with the same bytes', () => expect(decided(document('h1'))).to.deep.equal([]));
  it('with other bytes is another document that replaces it', () => {
    const [added, replaced] = decided(document('h2'));
    expect(added).to.include({ method: 'POST' });
    expect(added?.resource?.relatesTo).to.deep.equal([
      { code: 'replaces', target: { reference: 'DocumentReference/d1' } },
    ]);
    expect(replaced).to.include({ method: 'PUT', id: 'd1', ifMatch: 2 });
    expect(replaced?.resource).to.include({ status: 'superseded' });
    expect(replaced?.index).not.to.equal(added?.index);
    expect(keysIn(replaced?.resource ?? {})).to.deep.equal([]);
  });
  it('without bytes changes its status alone', () => {
    const [changed] = decided(document('', { status: 'entered-in-error' }));
    expect(changed?.resource).to.deep.include({
      status: 'entered-in-error',
      content: stored.resource.content,
    });
  });
  it('without bytes has those of the one that was taken back', () => {
    const now = document('', { date: T2 });
    const there = { ...stored, resource: document('h1', { status: 'entered-in-error', date: T1 }).resource };
    const [decision] = atOnce(decideLabs([now], new Map([[draftKey(now), there]]), new Notes()));
    expect(decision?.entries[0]?.resource).to.deep.include({
      status: 'current',
      content: stored.resource.content,
    });
  });
  it('without bytes is nothing when it was never there', () => {
    const notes = new Notes();
    expect(atOnce(decideLabs([document('')], new Map(), notes))[0]?.entries).to.deep.equal([]);
    expect(notes.told.warnings).to.deep.equal(['OBX[1]: it has no content']);
  });
});
