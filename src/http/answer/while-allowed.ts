/** Cuts off streams when the reader is no longer allowed to read. This can happen because a slow reader may take hours. */

/** The number of characters or bytes after which permission is checked again. */
const PART = 1_000_000;

/**
 * Yields the pieces of a stream. Before each further part, checks that the reader may still read.
 * @param goOn checks the permission; if it throws, the connection is closed
 * @throws Refusal if `goOn` throws one
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
