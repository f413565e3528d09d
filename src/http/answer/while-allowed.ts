/** Breaks off streams when the reader loses the right to read: a slow reader may take hours. */

/** The number of characters or bytes after which the right is checked again. */
const PART = 1_000_000;

/**
 * Yields the pieces of a stream, and before each further part of it checks that the reader may go on.
 * @param goOn checks the right; the connection is closed when it throws
 * @throws Refusal when `goOn` does
 */
export async function* whileAllowed<Piece extends string | Buffer>(
  stream: Iterable<Piece> | AsyncIterable<Piece>,
  goOn: () => Promise<unknown>,
): AsyncGenerator<Piece> {
  let sent = 0;
  for await (const piece of stream) {
    if (sent >= PART) {
      await goOn();
      sent = 0;
    }
    yield piece;
    sent += piece.length;
  }
}
