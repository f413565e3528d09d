/**
 * Keeps the digits of numbers in messages: the library prints results with JavaScript's numbers, which would turn 1.50 into
 * 1.5. So a result contains marks, which are replaced by the exact texts once the message is printed. Marks also save time,
 * because the library checks each block of a result.
 */
import { randomUUID } from 'node:crypto';

/** The exact texts for the messages that are being written. */
export class Exact {
  readonly #texts = new Map<string, string>();

  /** Returns the mark for a JSON text. */
  hold(text: string): { readonly annal_exact: string } {
    const mark = { annal_exact: randomUUID() };
    this.#texts.set(JSON.stringify(mark), text);
    return mark;
  }

  /**
   * Returns one block that stands for several blocks.
   * @param blocks not empty
   */
  holdBlocks(blocks: readonly object[]): { readonly type: 'text'; readonly text: string } {
    const mark = { type: 'text' as const, text: randomUUID() };
    this.#texts.set(JSON.stringify(mark), JSON.stringify(blocks).slice(1, -1));
    return mark;
  }

  /** Returns a printed message with each mark replaced by its text, and forgets the marks. */
  restore(message: string): string {
    let restored = message;
    for (const [mark, text] of this.#texts) {
      const at = restored.indexOf(mark);
      if (at < 0) continue;
      restored = restored.slice(0, at) + text + restored.slice(at + mark.length);
      this.#texts.delete(mark);
    }
    return restored;
  }
}
