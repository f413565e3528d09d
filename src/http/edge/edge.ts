/**
 * The edge of the process under a grant. Inside it, ids are real and cursors are plain; outside it, ids are those that the
 * application knows, and cursors are encrypted (docs/spec/decisions.md, section 1).
 */
import { hkdfSync } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { WithinRecord } from '#src/fhir/references/foreign.ts';
import { deriveHiddenKey, IdExchange, type PatientIds } from '#src/shared/access/id-exchange.ts';
import type { Json } from '#src/shared/json/json.ts';
import { atOnce, inSlices } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import type { Header } from '../answer/authorship.ts';
import { outwardAnswer } from './answer.ts';
import { type CursorKeys, openCursor, sealCursor } from './cursors.ts';
import { exchangeJson } from './json.ts';

/** The record that a grant's token gives access to. */
export interface EdgeGrant extends PatientIds {
  readonly grantId: string;
}

/** Query parameters that contain a cursor. */
const CURSORS: ReadonlySet<string> = new Set(['_cursor', 'cursor']);

/** The edge for one grant. Each text of a request or response must pass through exactly one of its functions, exactly once. */
export class Edge {
  readonly #ids: IdExchange;

  constructor(
    readonly grant: EdgeGrant,
    private readonly keys: EdgeKeys,
    private readonly service: EdgeService,
  ) {
    this.#ids = new IdExchange(grant, keys.hidden);
  }

  /** Returns decoded text from a request, such as a path segment, with real ids. */
  readonly inward = (text: string): string => this.#ids.inward(text);

  /** Returns text from a response, such as a message, in the form that the application may see. */
  readonly outward = (text: string): string => this.#ids.outward(text);

  /** Returns the decoded parameters in a URL or form, with real ids and decrypted cursors. */
  query(query: URLSearchParams): URLSearchParams {
    return this.#queryWith(query, this.inward);
  }

  /** Returns parameters with decrypted cursors. Their ids must already have been exchanged, as in a Bundle's entry. */
  queryOfEntry(query: URLSearchParams): URLSearchParams {
    return this.#queryWith(query, (text) => text);
  }

  #queryWith(query: URLSearchParams, inward: (text: string) => string): URLSearchParams {
    if (query.size === 0) return query;
    return new URLSearchParams(
      [...query].map(([name, value]) =>
        CURSORS.has(name) && value !== ''
          ? [name, openCursor(this.keys.cursors, this.grant.grantId, value)]
          : [inward(name), inward(value)],
      ),
    );
  }

  /** Returns headers with real ids. */
  header(header: Header): Header {
    return (name) => {
      const value = header(name);
      if (value === undefined) return undefined;
      return name === 'if-none-exist' ? this.#ids.inwardUrl(value) : this.inward(value);
    };
  }

  /**
   * Exchanges the ids in a parsed body, in place.
   * @returns the value, or its replacement if it is a string
   */
  json(value: Json): Json {
    return atOnce(exchangeJson(value, this.#ids));
  }

  /** Does the same as `json` for a long body, slice by slice. */
  jsonInSlices(value: Json): Promise<Json> {
    return inSlices(exchangeJson(value, this.#ids));
  }

  /**
   * Runs a function that reads a body before its ids are exchanged. If the function throws a refusal that quotes the body, the
   * ids in the quotation are exchanged too.
   * @throws the function's errors; in the text of a Refusal, ids are exchanged
   */
  refusing<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** Does the same as `refusing` for a function that returns a promise. */
  async refusingLater<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  #refusal(error: unknown): unknown {
    if (!(error instanceof Refusal)) return error;
    const issues = error.issues.map((issue) => ({ ...issue, diagnostics: this.inward(issue.diagnostics) }));
    return new Refusal(error.kind, issues, error.headers);
  }

  /** Returns a cursor as the application receives it. */
  readonly cursor = (cursor: string): string => sealCursor(this.keys.cursors, this.grant.grantId, cursor);

  /** The FHIR interface's base URL, with a trailing slash. */
  get base(): string {
    return this.service.base;
  }

  /**
   * Returns a response as the application receives it. Call it after everything else, but before the response is indented,
   * compressed and sent. References to other records are removed, and then ids are exchanged in headers and text; the bytes of
   * documents stay unchanged. Each piece of a stream must contain only whole resources.
   * @param foreign receives the ids that the response refers to but that aren't in the record
   * @throws errors from looking up references
   */
  answer(answer: Answer, foreign?: Set<string>): Promise<Answer> {
    const { base, within } = this.service;
    const noting: WithinRecord = async (record, ids) => {
      const known = await within(record, ids);
      for (const id of ids) if (!known.has(id)) foreign?.add(id);
      return known;
    };
    const { record } = this.grant;
    return outwardAnswer(answer, this.#ids, { record, base, within: noting });
  }
}

/** The services that the edge needs. */
export interface EdgeService {
  /** The FHIR interface's base URL, with a trailing slash. */
  readonly base: string;
  readonly within: WithinRecord;
}

export interface EdgeKeys {
  readonly cursors: CursorKeys;
  readonly hidden: Buffer;
}

/**
 * Returns the edge's keys.
 * @param key 32 bytes, `pairwise_key` in `src/operations/installation-key.ts`
 */
export function edgeKeys(key: Buffer): EdgeKeys {
  const derived = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', key, '', purpose, 32));
  return {
    cursors: { encryption: derived('annal cursor encryption'), nonce: derived('annal cursor nonce') },
    hidden: deriveHiddenKey(key),
  };
}

/** Maximum number of grants whose edges are cached, with their compiled patterns. */
const REMEMBERED = 2_000;

/** Caches the edges of grants. */
export class Edges {
  readonly #known = new LRUCache<string, Edge>({ max: REMEMBERED });

  constructor(
    private readonly keys: EdgeKeys,
    private readonly service: EdgeService,
  ) {}

  /** Returns a grant's edge. A grant's ids never change. */
  of(grant: EdgeGrant): Edge {
    const known = this.#known.get(grant.grantId);
    if (known !== undefined) return known;
    const { grantId, record, patient } = grant;
    const edge = new Edge({ grantId, record, patient }, this.keys, this.service);
    this.#known.set(grantId, edge);
    return edge;
  }
}
