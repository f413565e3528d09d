/** Reading one stream. */
import { expect } from 'chai';
import { readHash } from '#src/events/chain.ts';
import type { EventStore } from '#src/events/store.ts';
import { all, faultsIn, newEvents, newStream, write } from './events.ts';

/** Text that a store might be tempted to normalise. */
const AWKWARD = [
  '{}',
  ' {\t"a" :\r\n 1.50 , "a":1e400,\n"b":-0.0 } ',
  String.raw`{"escapes":"\" \\ \/ \b \f \n \r \t \u0000 \u00e9 \ud83d\ude00 \ud800"}`,
  '{"astral":"😀𝒳\u{10ffff}","separators":"\u2028\u2029\u0085","marks":"e\u0301 é \ufeff \ufffd"}',
  `{"digits":${'9'.repeat(400)}}`,
  `{"large":"${'é€😀x'.repeat(5_000)}"}`,
  `{"larger":"${'abcdefghij'.repeat(100_000)}"}`,
  `{"quotes":"'' $1 $$ \\\\ %s {} NULL","control":"\u0001\u001f\u007f"}`,
];

/**
 * Describes reading.
 * @param store the store under test, once it is open.
 */
export function reading(store: () => EventStore): void {
  describe('read', () => {
    it('gives nothing for a stream that was never written', async () => {
      expect(await all(store().read(newStream()))).to.deep.equal([]);
    });

    it('gives data and metadata back byte for byte', async () => {
      const stream = newStream();
      const given = AWKWARD.map((data, index) => ({
        ...(newEvents()[0] ?? { id: '', type: '', metadata: '' }),
        type: `Étrange·${index}`,
        data,
        metadata: `{ "note":"é😀\\n\\u0000" ,\t"append":[${index},${AWKWARD.length}] }`,
      }));
      const { head } = await store().append(stream, 'none', given);
      const events = await all(store().read(stream));
      expect(events.map(({ data }) => data)).to.deep.equal(AWKWARD);
      events.forEach((event, index) => {
        const { id, type, metadata } = given[index] ?? {};
        expect(event).to.include({ id, type, stream, revision: index });
        expect(event.metadata).to.equal(`${metadata?.slice(0, -1)},"hash":"${readHash(event)}"}`);
      });
      expect(readHash(events.at(-1) ?? { metadata: '' })).to.equal(head.hash);
      expect(faultsIn(events)).to.deep.equal([]);
      // On a shared log, events of unknown types would stop a service.
      await store().erase(stream);
    });

    it('reads forwards and backwards, from any revision, up to a limit, past any page', async () => {
      const stream = newStream();
      await write(store(), stream, [1, 1_199]);
      const revisions = async (options: Parameters<EventStore['read']>[1]): Promise<number[]> =>
        (await all(store().read(stream, options))).map(({ revision }) => revision);
      const numbers = Array.from({ length: 1_200 }, (_, n) => n);
      expect(await revisions({})).to.deep.equal(numbers);
      expect(await revisions({ direction: 'backwards' })).to.deep.equal(numbers.toReversed());
      expect(await revisions({ from: 1_198 })).to.deep.equal([1_198, 1_199]);
      expect(await revisions({ from: 1_200 })).to.deep.equal([]);
      expect(await revisions({ from: 2, direction: 'backwards' })).to.deep.equal([2, 1, 0]);
      expect(await revisions({ limit: 3 })).to.deep.equal([0, 1, 2]);
      expect(await revisions({ from: 100, limit: 600 })).to.deep.equal(numbers.slice(100, 700));
      expect(await revisions({ direction: 'backwards', limit: 1 })).to.deep.equal([1_199]);
      expect(await revisions({ limit: 0 })).to.deep.equal([]);
    });

    it('reads a stream that is larger than the memory it may use at a time', async () => {
      const stream = newStream();
      const body = `"${'x'.repeat(2_000_000)}"`;
      let { head } = await write(store(), stream, [1]);
      for (let n = 0; n < 5; n += 1)
        ({ head } = await store().append(
          stream,
          head,
          newEvents(5, () => body),
        ));
      const seen: number[] = [];
      for await (const event of store().read(stream, { from: 1 })) {
        expect(event.data).to.equal(body);
        seen.push(event.revision);
      }
      expect(seen).to.deep.equal(Array.from({ length: 25 }, (_, n) => n + 1));
    });

    it('tells many at once where it ends, though its last event is large', async () => {
      const body = `"${'x'.repeat(10_000_000)}"`;
      const { position } = await store().append(
        newStream(),
        'none',
        newEvents(1, () => body),
      );
      const heads = await Promise.all(Array.from({ length: 100 }, () => store().head()));
      expect([...new Set(heads)]).to.deep.equal([position]);
    });
  });
}
