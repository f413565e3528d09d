/** The limits of one request. */
export interface Limits {
  /** Limit on JSON bodies other than Bundles. */
  readonly bodyBytes: number;
  readonly bundleBytes: number;
  readonly bundleEntries: number;
  /** Limit on a document's content. */
  readonly documentBytes: number;
  /**
   * Limits on one answer: the total size of its resources in bytes, their number, and how long reading them may take, in
   * seconds.
   */
  readonly answerBytes: number;
  readonly answerResources: number;
  readonly answerSeconds: number;
  /** Limit on all long answers together that an instance has in memory at the same time. */
  readonly answerMemoryBytes: number;
  /** Limit on all large request bodies together that an instance has in memory at the same time. */
  readonly bodyMemoryBytes: number;
  /** Limit per client address; 0 means no limit. */
  readonly connectionsPerAddress: number;
}
