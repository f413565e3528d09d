/** The limits of one request. */
export interface Limits {
  /** JSON bodies other than Bundles. */
  readonly bodyBytes: number;
  readonly bundleBytes: number;
  readonly bundleEntries: number;
  /** Content of a document. */
  readonly documentBytes: number;
  /**
   * Limits of one answer: bytes of the resources in it, their number, and how long they may take to read, in seconds.
   */
  readonly answerBytes: number;
  readonly answerResources: number;
  readonly answerSeconds: number;
  /** For all long answers that an instance holds at a time. */
  readonly answerMemoryBytes: number;
  /** For all large request bodies that an instance holds at a time. */
  readonly bodyMemoryBytes: number;
  /** For each client address; 0: no limit. */
  readonly connectionsPerAddress: number;
}
