/** The event of a version that the answer of a search shows. */
export interface ShownVersion {
  /** `Type/id`. */
  readonly resource: string;
  readonly version: number;
  readonly stream: string;
  readonly revision: number;
  readonly event: string;
  readonly hash: string;
}
