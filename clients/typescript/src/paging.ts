/** Pages of a list. */

/** A page, and the function that fetches the next page. */
interface Page<P> {
  readonly page: P;
  /** Undefined after the last page. */
  readonly next: (() => Promise<Page<P>>) | undefined;
}

/** A list that is fetched page by page while it is read: `for await (const item of list)`. */
export class Paged<P, T> implements AsyncIterable<T> {
  readonly #first: () => Promise<Page<P>>;
  readonly #items: (page: P) => readonly T[];

  constructor(first: () => Promise<Page<P>>, items: (page: P) => readonly T[]) {
    this.#first = first;
    this.#items = items;
  }

  /** Returns the first page. */
  async first(): Promise<P> {
    return (await this.#first()).page;
  }

  /** Yields whole pages. */
  async *pages(): AsyncGenerator<P, void, void> {
    for (let at: Page<P> | undefined = await this.#first(); at !== undefined; at = await at.next?.())
      yield at.page;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for await (const page of this.pages()) yield* this.#items(page);
  }

  /**
   * Returns all items, or the first few.
   * @param most the maximum number of items
   */
  async all(most = Number.POSITIVE_INFINITY): Promise<T[]> {
    const found: T[] = [];
    if (most <= 0) return found;
    for await (const item of this) if (found.push(item) >= most) break;
    return found;
  }
}
