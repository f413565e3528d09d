/**
 * Requests with an `Idempotency-Key`, which the HTTP interface must carry out only once (docs/spec/decisions.md, section 3).
 */

/** An HTTP answer that is stored and repeated. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True if the answer contains data that was read, possibly in addition to data that was written. */
  readonly reads?: boolean;
}

/** The stream and revision at which a command tried to append. */
export interface Attempt {
  readonly stream: string;
  readonly expectedRevision: number;
}

/** A request with an Idempotency-Key, and its caller. */
export interface IdempotentRequest {
  /** The key's owner: project and environment, application and grant, or person. */
  readonly scope: string;
  readonly key: string;
  /** The caller's credential, from which the key that encrypts the answer is partly derived. */
  readonly credential: string;
  /**
   * The holder of a credential that is replaced often: a person or an application. Together with a key of the installation,
   * the holder is used instead of the credential, so that a retry with the next token gets the first answer.
   */
  readonly holder?: string | undefined;
  /** SHA-256 over all parts of the request that identify it. */
  readonly requestHash: Buffer;
  /** The size of the request's body, which is kept in memory while the request waits. */
  readonly bytes: number;
  /** Aborted when the client has closed the connection; nothing is then waiting for the answer any more. */
  readonly gone: () => AbortSignal;
}

/** A reserved request that this process must carry out. */
export interface Reservation {
  readonly commandId: string;
  readonly millis: number;
  /** The notes from an earlier attempt that died. */
  readonly earlier: ReadonlyMap<string, Attempt>;
  /**
   * Durably records where an append will go.
   * @throws Refusal conflict if another attempt has taken over
   */
  note(commandId: string, attempt: Attempt): Promise<void>;
  /**
   * Returns 256 random bits, which are the same for every attempt at the request.
   * @throws Refusal conflict if another attempt has taken over
   */
  secret(): Promise<Buffer>;
  /** Stores the answer for 24 hours. */
  keep(answer: KeptAnswer): Promise<void>;
  /** Frees the key, because nothing was written. */
  forget(): Promise<void>;
  /** Ends the attempt if something may have been written; the next attempt continues with the same seed. */
  release(): Promise<void>;
}

/** The result of reserving a request. */
export type Begun = { readonly kept: KeptAnswer } | { readonly reserved: Reservation };
