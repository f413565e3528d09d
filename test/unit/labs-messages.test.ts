/** given messages about one result · when they arrive one by one, or several in one body · then the content of the record */
import { expect } from 'chai';
import { decideLabs, draftKey, type Earlier } from '#src/labs/decide.ts';
import { Notes } from '#src/labs/labs.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { listIn, objectIn } from '#src/v1/elements.ts';
import { labsOf } from '#test/support/labs/forms.ts';
import { GLUCOSE, msh, OBR, PID } from '#test/support/labs/parts.ts';

interface Sent {
  readonly value?: string;
  readonly letter: string;
  /** MSH-7, as an hour of the day. */
  readonly sent: number;
  /** OBX-19, as an hour of the day. */
  readonly made?: number;
  readonly note?: string;
  /** OBX-6 and OBX-7. */
  readonly unit?: string;
  readonly range?: string;
}

const at = (hour: number | undefined): string =>
  hour === undefined ? '' : `20260331${String(hour).padStart(2, '0')}0000+0200`;
/** Returns a message whose order doesn't contain OBR-22. */
const message = ({ value = '', letter, sent, made, note, unit = 'mmol/L', range = '' }: Sent): string =>
  [
    msh().replace('20260331093000+0200', at(sent)),
    PID,
    OBR.replace('20260331092500+0200', ''),
    `OBX|1|NM|${GLUCOSE}||${value}|${unit}|${range}||||${letter}||||||||${at(made)}`,
    ...(note === undefined ? [] : [`NTE|1||${note}`]),
  ].join('\r');
const pdf = (text: string): string =>
  `OBX|2|ED|PDF^Report^L||^text^plain^Base64^${Buffer.from(text).toString('base64')}||||||F`;

/** A record of everything that was written. */
class Record {
  readonly #written = new Map<string, Earlier>();

  /**
   * Imports a body.
   * @returns its warnings
   */
  import(...messages: readonly string[]): readonly string[] {
    const notes = new Notes();
    const { drafts } = labsOf(messages.join('\r'));
    for (const { draft, entries } of atOnce(decideLabs(drafts, this.#written, notes))) {
      const [entry] = entries;
      const { id, version } = this.#written.get(draftKey(draft)) ?? {
        id: String(this.#written.size),
        version: 0,
      };
      if (entry !== undefined)
        this.#written.set(draftKey(draft), { id, version: version + 1, resource: entry.resource ?? {} });
    }
    return notes.told.warnings;
  }

  /** The value, status and version of the only result. */
  get result(): readonly unknown[] {
    const { resource, version } = this.#of('Observation');
    return [objectIn(resource.valueQuantity).value, resource.status, version];
  }

  resource(type: string): JsonObject {
    return this.#of(type).resource;
  }

  #of(type: string): Earlier {
    const found = [...this.#written.values()].filter(({ resource }) => resource.resourceType === type);
    expect(found).to.have.length(1);
    return found[0] as Earlier;
  }
}
const imported = (
  ...bodies: readonly (readonly Sent[])[]
): { record: Record; warnings: readonly string[] } => {
  const record = new Record();
  let warnings: readonly string[] = [];
  for (const body of bodies) warnings = record.import(...body.map(message));
  return { record, warnings };
};

const FINAL: Sent = { value: '5.6', letter: 'F', sent: 10, made: 10 };
const EMPTY: Sent = { letter: 'F', sent: 12, made: 12, note: 'seen' };
const STAYS = 'OBX[1]: it has no value; the earlier value is kept';
const TAKES = 'OBX[1]: it withdraws the earlier value';

describe('a result that was taken back', () => {
  for (const letter of ['D', 'W'])
    it(`by ${letter} gets no value from an empty final one`, () => {
      const { record, warnings } = imported([FINAL], [{ letter, sent: 11, made: 11 }], [EMPTY]);
      expect(record.result).to.deep.equal([undefined, 'final', 3]);
      expect(record.resource('Observation').note).to.deep.equal([{ text: 'seen' }]);
      expect(warnings).to.include(TAKES).and.not.include(STAYS);
    });
  it('keeps its value until then, and has the one that comes with a later result', () => {
    const back: Sent = { letter: 'D', sent: 11, made: 11 };
    expect(imported([FINAL], [back]).record.result).to.deep.equal([5.6, 'entered-in-error', 2]);
    expect(imported([FINAL], [back], [{ ...EMPTY, value: '7' }]).record.result).to.deep.equal([
      7,
      'final',
      3,
    ]);
  });
  it('gets none by way of an unknown status either', () => {
    const back: Sent = { letter: 'D', sent: 11, made: 11 };
    const unknown: Sent = { letter: '?', sent: 12, made: 12 };
    expect(imported([FINAL], [back], [unknown]).record.result).to.deep.equal([undefined, 'unknown', 3]);
    const { record } = imported([{ ...FINAL, letter: '?' }], [EMPTY]);
    expect(record.result).to.deep.equal([undefined, 'final', 2]);
  });
});

describe('a result with a range', () => {
  const first: Sent = { ...FINAL, range: '3.9-5.5' };
  const later: Sent = { ...FINAL, value: '6.1', sent: 12, made: 12 };
  const textOf = ({ record }: ReturnType<typeof imported>): unknown =>
    listIn(record.resource('Observation').referenceRange)[0]?.text;
  it('keeps it when it comes again with another value and an empty OBX-7', () => {
    const again = imported([first], [later]);
    expect(textOf(again)).to.equal('3.9-5.5');
    expect(again.record.result).to.deep.equal([6.1, 'final', 2]);
    expect(again.warnings[0]).to.match(/; value changed$/);
  });
  it('loses it with "" and with another unit, and says so', () => {
    for (const now of [
      { ...later, range: '""' },
      { ...later, unit: 'mg/dL' },
    ]) {
      const again = imported([first], [now]);
      expect(textOf(again)).to.equal(undefined);
      expect(again.warnings[0]).to.match(/; value changed, reference range removed$/);
    }
  });
});

describe('a result that says it has no value', () => {
  const none: Sent = { letter: 'N', sent: 11, made: 11 };
  it('leaves none for an empty one to keep', () => {
    const { record, warnings } = imported([none], [EMPTY]);
    expect(record.resource('Observation')).not.to.have.property('dataAbsentReason');
    expect(warnings).to.deep.equal([
      'OBX[1]: an earlier result is replaced by version 2: it is final; note added, reason for a missing value removed',
    ]);
  });
  it('takes back the value that was there, and says so', () => {
    const { record, warnings } = imported([FINAL], [none]);
    expect(record.resource('Observation')).to.have.property('dataAbsentReason');
    expect(warnings).to.include(TAKES);
  });
  it('has none to be taken back, and keeps what it says when it is', () => {
    const cancelled = imported([none], [{ letter: 'X', sent: 12, made: 12 }]);
    expect(cancelled.record.result).to.deep.equal([undefined, 'cancelled', 2]);
    expect(cancelled.warnings).not.to.include(TAKES);
    const deleted = imported([none], [{ letter: 'D', sent: 12, made: 12 }]);
    expect(deleted.record.resource('Observation')).to.have.property('dataAbsentReason');
  });
});

describe('a correction that is sent again', () => {
  it('does not undo the final result that took its place', () => {
    const corrected: Sent = { value: '5.7', letter: 'C', sent: 10, made: 9 };
    const final: Sent = { value: '5.8', letter: 'F', sent: 12, made: 11 };
    const { record, warnings } = imported([corrected], [final], [{ ...corrected, sent: 13 }]);
    expect(record.result).to.deep.equal([5.8, 'final', 2]);
    expect(warnings).to.deep.equal(['OBX[1]: it is older than the stored result, which is kept']);
  });
  it('was issued when OBX-19 says, else when it was sent', () => {
    const issued = (sent: Sent) => imported([sent]).record.resource('Observation').issued;
    expect(issued({ ...FINAL, sent: 12 })).to.equal('2026-03-31T10:00:00+02:00');
    expect(issued({ value: '5', letter: 'F', sent: 12 })).to.equal('2026-03-31T12:00:00+02:00');
  });
});

describe('several messages in one body', () => {
  const corrected: Sent = { value: '5.7', letter: 'C', sent: 13, made: 11 };
  const bodies: readonly (readonly [string, readonly Sent[], readonly unknown[], string])[] = [
    ['keep a value that the later one does not have', [FINAL, EMPTY], [5.6, 'final'], STAYS],
    [
      'end with the correction, not with an older result',
      [corrected, FINAL],
      [5.7, 'corrected'],
      'OBX[1]: it is older than the stored result, which is kept',
    ],
    [
      'end with the later correction',
      [FINAL, corrected],
      [5.7, 'corrected'],
      'OBX[1]: an earlier result of the same request is replaced: it is corrected; status and value changed',
    ],
    ['take a value back', [FINAL, { ...EMPTY, value: '""' }], [undefined, 'final'], TAKES],
    [
      'revive no value that one of them took back',
      [FINAL, { letter: 'D', sent: 11, made: 11 }, EMPTY],
      [undefined, 'final'],
      TAKES,
    ],
  ];
  for (const [name, body, result, warning] of bodies)
    it(name, () => {
      const { record, warnings } = imported(body);
      expect(record.result).to.deep.equal([...result, 1]);
      expect(warnings).to.include(warning);
      // If they arrive one by one, the messages give the same result.
      const apart = imported(...body.map((sent) => [sent]));
      expect(apart.record.result.slice(0, 2)).to.deep.equal(result);
    });

  it('that say the same are one, and say nothing', () => {
    const { record, warnings } = imported([FINAL, { ...FINAL, sent: 12 }]);
    expect(record.result).to.deep.equal([5.6, 'final', 1]);
    expect(warnings).to.deep.equal([]);
  });
  it('are held to the record one by one', () => {
    // The first message is older than the record, so after the second message the record still has the correction's value.
    const { record, warnings } = imported([corrected], [FINAL, EMPTY]);
    expect(record.result).to.deep.equal([5.7, 'final', 2]);
    expect(warnings).to.include(STAYS);
    expect(record.import(message(FINAL), message(EMPTY))).to.have.length(1);
    expect(record.result).to.deep.equal([5.7, 'final', 2]);
  });
  it('add up to one report with the results of all', () => {
    const other = message(FINAL).replace(GLUCOSE, '718-7^Hemoglobin^LN');
    const record = new Record();
    const { drafts } = labsOf([message(FINAL), other].join('\r'));
    expect(drafts).to.have.length(3);
    record.import([message(FINAL), other].join('\r'));
    expect(record.resource('DiagnosticReport').result).to.have.length(2);
  });
  it('write the last of several payloads, and say that another was replaced', () => {
    const record = new Record();
    const warnings = record.import(`${message(FINAL)}\r${pdf('a')}`, `${message(FINAL)}\r${pdf('b')}`);
    expect(warnings).to.deep.equal(['OBX[2]: an earlier document of the same request is replaced']);
    expect(record.resource('DocumentReference')).to.have.nested.property(
      'content[0].attachment.data',
      Buffer.from('b').toString('base64'),
    );
  });
});
