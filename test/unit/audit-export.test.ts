/** An export and its stand-alone verifier. */
import { expect } from 'chai';
import { BrokenChain, exportLines } from '#src/audit/export.ts';
import type { SigningKey } from '#src/audit/key.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { created, deleted, updated } from '#test/projections/made.ts';
import { joined, newKey, otherSpellings, recorded, tamperings } from '#test/support/audit-files.ts';
import { everyNth, itAtFullSize, scaled } from '#test/support/scale.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

interface Found {
  readonly stream: string;
  readonly events: number;
  readonly key_id: string;
}

/** The verifier is plain JavaScript without types, so these are the types of the functions that this test calls. */
const VERIFIER = new URL('../../bin/verify-export.mjs', import.meta.url).href;
const { verifyExport, Altered } = (await import(VERIFIER)) as {
  verifyExport: (bytes: Uint8Array, key?: string) => Found;
  Altered: new () => Error;
};

const ID = '018f0000-0000-7000-8000-000000000001';
const STREAM = `record-${ID}`;
const TIME = '2026-03-01T10:00:00.000000Z';

describe('an export', () => {
  let key: SigningKey;
  let text: string;

  const write = (events: AsyncIterable<RecordedEvent>, by = key): Promise<string> =>
    joined(
      exportLines(
        events,
        () => TIME,
        by,
        () => undefined,
      ),
    );
  const events = () => [
    created('Patient', ID, { name: [{ family: 'Sánd "Q" \u2028 😀' }] }),
    updated('Patient', ID, 2, { multipleBirthInteger: 2 }),
    deleted('Patient', ID, 3),
  ];
  /** Returns the problem that the verifier reports; undefined if it finds none. */
  const complaint = (bytes: string | Buffer, expected?: string): string | undefined => {
    try {
      verifyExport(Buffer.from(bytes), expected);
      return undefined;
    } catch (error) {
      if (error instanceof Altered) return error.message;
      throw error;
    }
  };

  before(async () => {
    key = await newKey();
    text = await write(recorded(STREAM, events()));
  });
  after(removeTemporaryFolders);

  it('proves itself', () => {
    expect(verifyExport(Buffer.from(text), key.text)).to.include({
      stream: STREAM,
      events: 3,
      key_id: key.id,
      public_key: key.text,
      time: TIME,
    });
    expect(verifyExport(Buffer.from(text))).to.include({ events: 3 });
  });

  it('holds the exact texts of the events', async () => {
    const [, first = ''] = text.split('\n');
    const [event] = events();
    expect(JSON.parse(first)).to.include({ revision: 0, type: 'ResourceCreated' });
    expect(JSON.parse(first).data).to.equal(event?.data);
  });

  it('betrays every change of one byte, everywhere', () => {
    const bytes = Buffer.from(text);
    let tried = 0;
    for (const { at, how, altered } of everyNth([...tamperings(bytes)], 11)) {
      if (altered.equals(bytes)) continue;
      tried += 1;
      expect(complaint(altered), `${how} at ${at}`).to.be.a('string');
    }
    expect(tried).to.be.greaterThan(scaled(bytes.length * 6, bytes.length / 2));
    for (const spelling of otherSpellings(text)) expect(complaint(spelling)).to.be.a('string');
    expect(complaint(Buffer.concat([bytes, Buffer.from('\n')]))).to.be.a('string');
    expect(complaint(Buffer.concat([bytes, bytes]))).to.be.a('string');
  });

  it('betrays lines that are missing, doubled or out of order, and names them', () => {
    const lines = text.split('\n').slice(0, -1);
    for (const [i, line] of lines.entries()) {
      const without = lines.filter((_, at) => at !== i);
      expect(complaint(`${without.join('\n')}\n`), `without line ${i + 1}`).to.be.a('string');
      expect(complaint(`${[...lines.slice(0, i), line, ...lines.slice(i)].join('\n')}\n`)).to.be.a('string');
      for (let j = i + 1; j < lines.length; j += 1) {
        const swapped = lines.with(i, lines[j] ?? '').with(j, line);
        expect(complaint(`${swapped.join('\n')}\n`), `lines ${i + 1} and ${j + 1}`).to.be.a('string');
      }
    }
    expect(complaint(`${lines.toSpliced(2, 1).join('\n')}\n`)).to.equal(
      'line 3 has revision 2, expected 1: lines are missing or out of order',
    );
  });

  itAtFullSize('of more than 512 MB is checked, too', () => {
    const line = Buffer.alloc(2 ** 26, 'x');
    line[line.length - 1] = 0x0a;
    const parts = Array.from({ length: 9 }, () => line);
    expect(complaint(Buffer.concat([Buffer.from(text), ...parts]))).to.equal(
      'line 5 is not an event of an export',
    );
    expect(() => verifyExport(Buffer.concat(parts))).to.throw('not an Annal export');
  });

  it('betrays a history that was written anew, by the key alone', async () => {
    const other = await newKey();
    const forged = await write(recorded(STREAM, [created('Patient', ID, { active: false })]), other);
    expect(complaint(forged)).to.equal(undefined);
    expect(complaint(forged, key.text)).to.contain(other.text).and.to.contain(key.text);
  });

  it('is not made of a chain that does not hold', async () => {
    const broken = async function* (): AsyncGenerator<RecordedEvent> {
      for await (const event of recorded(STREAM, events())) {
        yield event.revision === 1 ? { ...event, data: event.data.replace('2', '3') } : event;
      }
    };
    const refusal = await write(broken()).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(BrokenChain);
    expect((refusal as BrokenChain).revision).to.equal(1);
  });
});
