import { expect } from 'chai';
import {
  isSelected,
  listTexts,
  nameCause,
  nameUndoCause,
  type Selection,
} from '#commands/takeback/selection.ts';
import { decideFate, decideUndo, type PastResource, type PastVersion } from '#commands/takeback/steps.ts';
import type { EventMetadata } from '#src/events/metadata.ts';

const ID = 'tb_one';
const SELECTION: Selection = { source_system: 'lab', since: null, until: 1_000 };

/**
 * Creates a resource's versions from short texts. The letter says who wrote the version: `L` the source that is taken back,
 * `h` other authors, `A` an AI of other authors, `T2` or `T-` a take-back, `U2` the undo of that take-back, `V2` a different
 * take-back. A `-` means a deletion.
 */
function made(...versions: readonly string[]): PastResource {
  return {
    type: 'Observation',
    id: '01890000-0000-7000-8000-000000000001',
    versions: versions.map((text, index): PastVersion => {
      const [by = '', restored = ''] = [text[0], text.slice(1)];
      const isOwn = by === 'T' || by === 'U';
      const isOther = by === 'V';
      const n = Number.parseInt(restored, 10);
      const metadata = {
        credential: { kind: 'api_key', key_id: by },
        author: { type: by === 'A' ? 'ai' : 'import', ...(by === 'A' ? { model: 'm1' } : {}) },
        ...(by === 'L' ? { source_system: 'lab' } : {}),
        ...(isOwn
          ? { source_system: nameCause(ID), cause: by === 'T' ? nameCause(ID) : nameUndoCause(ID) }
          : {}),
        ...(isOther ? { source_system: nameCause('tb_two'), cause: nameCause('tb_two') } : {}),
        ...((isOwn || isOther) && n > 0 ? { origin_id: `Observation/x/_history/${n}` } : {}),
      } as unknown as EventMetadata;
      return { version: index + 1, isDeletion: text.includes('-'), at: index + 1, metadata };
    }),
  };
}

/**
 * Returns what happens to the versions. `=2`: the content of version 2 is restored; `-`: the resource is deleted; `stays`: it
 * stays as it is; empty: there is nothing to do.
 */
function said(versions: string, undo = false): string {
  const resource = made(...versions.split(' '));
  const { step, stays } = undo ? decideUndo(resource, ID) : decideFate(resource, SELECTION, ID);
  if (stays !== undefined) return `stays ${stays.because}`;
  if (step === undefined) return '';
  expect(step.current).to.equal(resource.versions.length);
  return step.removes
    ? '-'
    : `=${step.restores}${step.author?.model === undefined ? '' : ` ${step.author.model}`}`;
}

describe('the decision on a resource', () => {
  const CASES = {
    h: '',
    L: '-',
    'L L': '-',
    'h L': '=1',
    'h L L': '=1',
    'A L': '=1 m1',
    'L h': 'stays changed_since',
    'h L h L': '=3',
    'h L h': 'stays changed_since',
    // The source deleted the resource, or a version that the source itself had written.
    'h L-': '=1',
    'L L-': '',
    // Other authors had already deleted the resource.
    'h h- L': '-',
    'h h- L L-': '',
    // The version has already been taken back.
    'L T-': '',
    'h L T1': '',
    'h L h L T3': '',
    // After the undo of a take-back, the result is the same as for the versions that the undo restored.
    'h L T1 U2': '=1',
    'L T- U1': '-',
    'h L T1 h': '',
    'h L T1 h L h': 'stays changed_since',
    'h L T1 L': '=1',
    // A different take-back has taken back what other authors wrote on top, and that remains taken back.
    'h L h V2': '=1',
    'L h V1': '-',
    'h L h L V2': '=1',
    // A different take-back has restored what other authors wrote on top.
    'L h h V2': 'stays changed_since',
    'L h h V2 V3': 'stays changed_since',
  };
  for (const [versions, expected] of Object.entries(CASES))
    it(`is ${expected || 'nothing'} after ${versions}`, () => {
      expect(said(versions)).to.equal(expected);
    });

  const UNDONE = {
    'h L': '',
    'h L T1': '=2',
    'L T-': '=1',
    'A A L T2': '=3',
    'L A T1': '=2 m1',
    'h L- T1': '-',
    'h L T1 h': 'stays changed_since',
    'h L T1 U2': '',
    'h L T1 U2 h': '',
    // A different take-back has taken back more, and may have been undone since then.
    'h L L T2 V1': 'stays changed_since',
    'h L L T2 V1 V2': '=3',
    'h L T1 V- V1': '=2',
    'h L T1 h V1': 'stays changed_since',
  };
  for (const [versions, expected] of Object.entries(UNDONE))
    it(`is ${expected || 'nothing'} when it is undone after ${versions}`, () => {
      expect(said(versions, true)).to.equal(expected);
    });

  it('counts the versions that are selected', () => {
    expect(decideFate(made('L', 'L', 'h', 'L'), SELECTION, ID).selected).to.equal(3);
    // One of the versions has already been taken back.
    expect(decideFate(made('h', 'L', 'T1', 'h', 'L'), SELECTION, ID).selected).to.equal(1);
    expect(decideFate(made('h', 'L', 'T1', 'U2', 'h'), SELECTION, ID).selected).to.equal(1);
  });
});

describe('the selection of versions', () => {
  const metadata = {
    credential: { kind: 'grant', application: 'app_1', key_id: 'key_1' },
    author: { type: 'ai', model: 'm"1' },
    source_system: 'a "b"',
  } as unknown as EventMetadata;
  const all = {
    source_system: 'a "b"',
    key_id: 'key_1',
    application_id: 'app_1',
    author_type: 'ai',
    model: 'm"1',
  } as const;
  const time = { since: 5, until: 10 };

  it('wants all selectors, from the beginning to before the end', () => {
    expect(isSelected({ ...all, ...time }, { at: 5, metadata })).to.equal(true);
    for (const at of [4, 10]) expect(isSelected({ ...all, ...time }, { at, metadata })).to.equal(false);
    for (const name of Object.keys(all))
      expect(isSelected({ ...all, ...time, [name]: 'other' }, { at: 5, metadata }), name).to.equal(false);
  });

  it('is found by texts that the metadata contain', () => {
    for (const text of listTexts(all)) expect(JSON.stringify(metadata)).to.contain(text);
    expect(listTexts(all)).to.have.length(5);
  });
});
