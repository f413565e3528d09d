/** Which problems `annal verify` counts as one fault, and how it fits its output to a terminal's width. */
import { expect } from 'chai';
import type { ReadModelFault } from '#projections/verify/verify-read-model.ts';
import { groupByCause } from '#src/cli/verify/verify-causes.ts';
import { describeCauses, wrapped } from '#src/cli/verify/verify-text.ts';

const RECORD = '018f0000-0000-7000-8000-000000000001';
const ID = '018f0000-0000-7000-8000-000000000002';
const OTHER = '018f0000-0000-7000-8000-000000000003';

const row = (
  projection: string,
  table: string,
  id: string,
  more: object = {},
  what: 'changed' | 'orphan' | 'missing' = 'changed',
): ReadModelFault => ({ projection, table, key: { id }, what, record: RECORD, ...more });

const log = (what: 'hash' | 'revision' | 'version' | 'checkpoint', revision: number, resource?: string) => ({
  what,
  stream: `record-${RECORD}`,
  revision,
  event: `event-${revision}`,
  ...(resource === undefined ? {} : { resource }),
  message: `${what} at ${revision}`,
});

describe('the causes of what verify finds', () => {
  it('takes the rows of an altered event for one fault, with what the event said before and after', () => {
    const changes = [{ path: 'body.valueQuantity.value', before: '9.50', after: '1.50' }];
    const causes = groupByCause({
      log: [log('hash', 3, `Observation/${ID}`), log('checkpoint', 7)],
      operations: [
        {
          table: 'snapshot',
          key: { stream: `record-${RECORD}`, revision: 3 },
          what: 'changed',
          message: 'hash',
        },
      ],
      readModels: [
        row('resources', 'resource', ID, { changes }),
        row('search', 'entry', ID),
        row('search', 'entry', OTHER),
        row('history', 'version', ID, { changes }),
      ],
    });
    expect(causes).to.have.length(2);
    expect(causes[0]).to.deep.include({
      where: 'log',
      what: 'hash',
      event: 'event-3',
      messages: ['hash at 3', 'checkpoint at 7'],
      changes: [{ path: 'body.valueQuantity.value', before: '1.50', after: '9.50' }],
      follows: { 'resources.resource': 1, 'search.entry': 1, 'history.version': 1, 'operations.snapshot': 1 },
    });
    expect(causes[1]).to.deep.include({ where: 'search.entry', follows: {} });
  });

  it('takes all rows of the record for the consequence of events that are missing', () => {
    const causes = groupByCause({
      log: [log('revision', 4), log('version', 4, `Observation/${ID}`)],
      readModels: [
        row('resources', 'resource', OTHER, {}, 'orphan'),
        { projection: 'timeline', table: 'tally', key: { list: 'x' }, what: 'changed', record: RECORD },
        { projection: 'resources', table: 'resource', key: { id: 'x' }, what: 'changed', record: 'another' },
      ],
    });
    expect(causes.map(({ where, what }) => [where, what])).to.deep.equal([
      ['log', 'revision'],
      ['resources.resource', 'changed'],
    ]);
  });

  it('takes neighbours for one fault, events apart for two', () => {
    expect(groupByCause({ log: [log('hash', 1), log('hash', 2), log('hash', 5)] })).to.have.length(2);
  });

  it('takes the rows of one resource for one fault', () => {
    const causes = groupByCause({
      log: [],
      readModels: [
        row('resources', 'resource', ID),
        row('history', 'version', ID, { changes: [{ path: 'metadata', before: '1', after: '2' }] }),
        { projection: 'projects', table: 'member', key: { issuer: 'a' }, what: 'changed', record: null },
        { projection: 'projects', table: 'member', key: { issuer: 'b' }, what: 'changed', record: null },
        { projection: 'history', what: 'outdated', message: 'behind' },
      ],
    });
    expect(causes).to.have.length(4);
    expect(causes[0]).to.deep.include({ where: 'history.version', follows: { 'resources.resource': 1 } });
  });

  it('takes the rows that the end of a stream left behind for one fault', () => {
    const causes = groupByCause({
      log: [],
      readModels: [
        row('resources', 'resource', ID),
        row('search', 'entry', OTHER, {}, 'orphan'),
        row('history', 'version', OTHER, {}, 'orphan'),
      ],
    });
    expect(causes).to.have.length(1);
    expect(causes[0]).to.include({ where: 'history.version', what: 'orphan' });
  });

  it('shows before and after in lines that fit', () => {
    const long = JSON.stringify('x'.repeat(290));
    const causes = groupByCause({
      log: [
        {
          ...log('hash', 3, `Observation/${ID}`),
          message: 'hash mismatch: this event or the one before it was altered',
        },
      ],
      readModels: [
        row('resources', 'resource', ID, {
          changes: [
            { path: 'body.status', before: '"final"', after: '"amended"' },
            { path: 'body.note[0].text', before: long, after: long },
            ...Array.from({ length: 9 }, (_, n) => ({ path: `body.extension[${n}].url`, after: '"u"' })),
          ],
        }),
        ...['entry', 'string', 'period', 'quantity'].map((table) => row('search', table, ID)),
      ],
    });
    for (const width of [60, 80, 120]) {
      const lines = describeCauses(causes, width);
      for (const line of lines) expect(line.length, line).to.be.at.most(width);
      expect(lines.join('\n'))
        .to.contain('~ body.status: "amended" → "final"')
        .and.to.contain('before: "xxx')
        .and.to.contain('and 6 more elements');
    }
    expect(wrapped('one two three', 8, '  ')).to.deep.equal(['  one', '  two', '  three']);
  });
});
