/** Writes sorted texts with their numbers in the form that `TextLists` reads. */
import type { Part } from './pieces.ts';
import { asBytes, BLOCK, type TextListsBytes } from './text-lists.ts';

/** A text with its numbers in ascending order, as bytes in the form that they have in memory. */
export type TextList = readonly [text: string, numbers: Buffer];

/**
 * Writes texts with their lists, as the parts `<name>.texts`, `<name>.blocks`, `<name>.starts` and `<name>.numbers`.
 * @param begin begins a part of the index
 * @param batches texts in the order of their bytes
 */
export async function writeLists(
  begin: (part: string) => Part,
  name: string,
  batches: AsyncIterable<readonly TextList[]> | Iterable<readonly TextList[]>,
): Promise<void> {
  const part = (of: keyof TextListsBytes) => begin(`${name}.${of}`);
  const [texts, blocks, starts, numbers] = [part('texts'), part('blocks'), part('starts'), part('numbers')];
  const parts = [texts, blocks, starts, numbers];
  let [place, length, start] = [0, 0, 0];
  let before: Buffer = Buffer.alloc(0);
  for await (const batch of batches) {
    const begins: number[] = [];
    const lists: number[] = [];
    for (const [text, list] of batch) {
      const bytes = Buffer.from(text);
      const shared = place % BLOCK === 0 ? 0 : sharedBy(before, bytes);
      if (place % BLOCK === 0) begins.push(length);
      lists.push(start);
      const line = Buffer.concat([
        Buffer.from([...asBytes(shared), ...asBytes(bytes.length - shared)]),
        bytes.subarray(shared),
      ]);
      texts.append(line);
      numbers.append(list);
      place += 1;
      length += line.length;
      start += list.length / 4;
      before = bytes;
    }
    blocks.append(Uint32Array.from(begins));
    starts.append(Uint32Array.from(lists));
    for (const each of parts) await each.write();
  }
  starts.append(Uint32Array.of(start));
  for (const each of parts) await each.write('all');
}

/** Returns the number of bytes at the beginning that two texts share. */
function sharedBy(one: Buffer, other: Buffer): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}
