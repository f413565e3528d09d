/** Requests with an `Idempotency-Key`, as HTTP asks for them to be done once (docs/spec/decisions.md, section 3). */

/** An HTTP answer that is kept and repeated. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** True if it has data that was read, besides or instead of data that was written. */
  readonly reads?: boolean;
}

/** The stream and revision at which a command's append was tried. */
export interface Attempt {
  readonly stream: string;
  readonly expectedRevision: number;
}

/** A request with an Idempotency-Key, and its caller. */
export interface IdempotentRequest {
  /** The owner of the key: project and environment, application and grant, or person. */
  readonly scope: string;
  readonly key: string;
  /** The caller's credential: a part of the key that encrypts the answer. */
  readonly credential: string;
  /**
   * The holder of a credential that is replaced often: a person or an application. With a key of the installation it
   * takes the credential's place, so that a retry with the next token gets the first answer.
   */
  readonly holder?: string | undefined;
  /** SHA-256 over all parts that identify the request. */
  readonly requestHash: Buffer;
  /** The size of its body, which is kept while it waits. */
  readonly bytes: number;
  /** Aborted when the client has closed the connection: then nothing waits for it. */
  readonly gone: () => AbortSignal;
}

/** A reserved request that this process is to carry out. */
export interface Reservation {
  readonly commandId: string;
  readonly millis: number;
  /** The notes of an earlier attempt that died. */
  readonly earlier: ReadonlyMap<string, Attempt>;
  /** Notes durably where an append will be. @throws Refusal conflict when another attempt took over. */
  note(commandId: string, attempt: Attempt): Promise<void>;
  /**
   * 256 random bits, the same for every attempt at the request.
   * @throws Refusal conflict when another attempt took over.
   */
  secret(): Promise<Buffer>;
  /** Keeps the answer for 24 hours. */
  keep(answer: KeptAnswer): Promise<void>;
  /** Nothing was written: the key is free again. */
  forget(): Promise<void>;
  /** Something may have been written: the next attempt continues under the same seed. */
  release(): Promise<void>;
}

/** The result of reserving a request. */
export type Begun = { readonly kept: KeptAnswer } | { readonly reserved: Reservation };
