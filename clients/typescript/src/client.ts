/** The client: REST v1, administration and `/me` (called by path), FHIR, and documents. */
import { AnnalError } from './errors.ts';
import { FhirClient } from './fhir.ts';
import type { CreatedDocument, Operations, WrittenDocument } from './generated/api.ts';
import { Paged } from './paging.ts';
import { type Answer, encodeSegment, type RequestOptions, type Settings, Transport } from './transport.ts';
import { type UploadOptions, uploadContent } from './upload.ts';

type Method = keyof Operations;
interface Operation {
  path: object;
  query: object;
  body: unknown;
  answer: unknown;
}
type At<M extends Method, P extends keyof Operations[M]> = Operations[M][P] & Operation;
type BodyOf<B> = [B] extends [undefined] ? unknown : undefined extends B ? { body?: B } : { body: B };
type Joined<T> = { [K in keyof T]: T[K] };
type InputOf<O extends Operation> = Joined<O['path'] & O['query'] & BodyOf<O['body']>>;
/** An operation's input: the parts of its path, its query parameters, and `body`. */
export type Input<M extends Method, P extends keyof Operations[M]> = keyof InputOf<At<M, P>> extends never
  ? Record<string, never>
  : InputOf<At<M, P>>;
type Arguments<M extends Method, P extends keyof Operations[M]> =
  Record<string, never> extends Input<M, P>
    ? [input?: Input<M, P>, options?: RequestOptions]
    : [input: Input<M, P>, options?: RequestOptions];
/** An operation's response. */
export type AnswerOf<M extends Method, P extends keyof Operations[M]> = At<M, P>['answer'];

interface ListPage {
  readonly data: readonly unknown[];
  readonly next_cursor?: string | null;
}
/** The paths of lists. */
type ListPath = {
  [P in keyof Operations['GET']]: AnswerOf<'GET', P> extends ListPage ? P : never;
}[keyof Operations['GET']];
type ItemOf<P extends ListPath> = (AnswerOf<'GET', P> & ListPage)['data'][number];

/** The description of a document. */
export type NewDocument = Input<'POST', '/v1/patients/{patient_id}/documents'>['body'];

/** A client for one service, with one credential. */
export class Annal {
  readonly fhir: FhirClient;
  readonly #transport: Transport;

  constructor(settings: Settings) {
    this.#transport = new Transport(settings);
    this.fhir = new FhirClient(this.#transport);
  }

  /**
   * Calls a route: `annal.get('/v1/patients/{patient_id}', { patient_id })`.
   * @throws ApiError for a response other than a success
   */
  get<P extends keyof Operations['GET']>(path: P, ...args: Arguments<'GET', P>): Promise<AnswerOf<'GET', P>> {
    return this.#call('GET', path, args);
  }

  /** Calls a route with POST. Sends a new Idempotency-Key unless you give one. */
  post<P extends keyof Operations['POST']>(
    path: P,
    ...args: Arguments<'POST', P>
  ): Promise<AnswerOf<'POST', P>> {
    return this.#call('POST', path, args);
  }

  put<P extends keyof Operations['PUT']>(path: P, ...args: Arguments<'PUT', P>): Promise<AnswerOf<'PUT', P>> {
    return this.#call('PUT', path, args);
  }

  patch<P extends keyof Operations['PATCH']>(
    path: P,
    ...args: Arguments<'PATCH', P>
  ): Promise<AnswerOf<'PATCH', P>> {
    return this.#call('PATCH', path, args);
  }

  delete<P extends keyof Operations['DELETE']>(
    path: P,
    ...args: Arguments<'DELETE', P>
  ): Promise<AnswerOf<'DELETE', P>> {
    return this.#call('DELETE', path, args);
  }

  /** Reads a list page by page: `for await (const patient of annal.list('/v1/patients'))`. */
  list<P extends ListPath>(path: P, ...args: Arguments<'GET', P>): Paged<AnswerOf<'GET', P>, ItemOf<P>> {
    type Page = AnswerOf<'GET', P> & ListPage;
    type At = { page: Page; next: (() => Promise<At>) | undefined };
    const [input, options] = args;
    const fetchPage = async (cursor: string | undefined): Promise<At> => {
      const asked = cursor === undefined ? input : { ...input, cursor };
      const page = await this.#call<Page>('GET', path, [asked, options]);
      const next = page.next_cursor;
      if (next === cursor && next !== undefined) throw new AnnalError('a page names itself as the next one');
      return { page, next: next === null || next === undefined ? undefined : () => fetchPage(next) };
    };
    return new Paged<Page, ItemOf<P>>(
      () => fetchPage(undefined),
      ({ data }) => data as readonly ItemOf<P>[],
    );
  }

  /**
   * Sends any request and returns the response with its text, in which numbers keep all their digits.
   * @param path below the base URL, with its query
   */
  send(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<Answer> {
    const query = options.asOf === undefined ? {} : { as_of: options.asOf };
    return this.#transport.send({ method, path, query, body }, options);
  }

  /**
   * Stores a document: first its description, then its bytes.
   * @returns the document, with the status `final`
   */
  async createDocument(
    patient: string,
    description: NewDocument,
    content: Blob | Uint8Array<ArrayBuffer> | string,
    options: UploadOptions = {},
  ): Promise<WrittenDocument> {
    const input = { patient_id: patient, body: description };
    const created: CreatedDocument = await this.post('/v1/patients/{patient_id}/documents', input, options);
    return this.upload(created.id, content, { ...options, contentType: created.content_type ?? undefined });
  }

  /** Sends the bytes of a document that is `pending`. */
  async upload(
    document: string,
    content: Blob | Uint8Array<ArrayBuffer> | string,
    options: UploadOptions & { readonly contentType?: string | undefined } = {},
  ): Promise<WrittenDocument> {
    return this.#transport.parse(await uploadContent(this.#transport, document, content, options));
  }

  /** Returns the bytes of a document. */
  async download(document: string, options: RequestOptions = {}): Promise<Blob> {
    const path = `/v1/documents/${encodeSegment(document)}/content`;
    const { blob } = await this.#transport.send({ method: 'GET', path, binary: true }, options);
    return blob ?? new Blob();
  }

  async #call<R>(
    method: Method,
    template: string,
    [input, options = {}]: readonly [input?: unknown, options?: RequestOptions | undefined],
  ): Promise<R> {
    const { body, ...query } = { ...(input as Record<string, unknown> | undefined) };
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      const value = query[name];
      delete query[name];
      if (value === undefined || value === '') throw new TypeError(`${template} needs ${name}`);
      return encodeSegment(String(value));
    });
    // These routes take a list as one value: a parameter that occurs twice is refused.
    for (const [name, value] of Object.entries(query))
      if (Array.isArray(value)) query[name] = value.join(',');
    if (options.asOf !== undefined) query.as_of = options.asOf;
    const binary = /^GET .*\/(?:content|qr|\{checkpoint_id\})$|^POST .*\/exports$/.test(
      `${method} ${template}`,
    );
    const asked = { method, path, query, body, binary };
    const answer = await this.#transport.send(asked, options);
    return (answer.blob ?? this.#transport.parse(answer.text)) as R;
  }
}
