/** The FHIR interface: docs/fhir.md. */
import { AnnalError } from './errors.ts';
import type {
  Bundle,
  BundleEntry,
  FhirResource,
  ResourceTypes,
  SearchParameterNames,
} from './generated/fhir.ts';
import { Paged } from './paging.ts';
import { type Answer, type RequestOptions, encodeSegment as segment, type Transport } from './transport.ts';

/** The name of a resource type that the service stores. */
export type ResourceType = keyof ResourceTypes;

type Value = string | number | boolean | Date;

/**
 * The parameters of a search: names of the type's parameters, optionally with a modifier (`code:in`) or a chain
 * (`subject.name`).
 */
export type SearchParameters<T extends ResourceType> = {
  readonly [name in
    | SearchParameterNames[T]
    | `${SearchParameterNames[T]}:${string}`
    | `${SearchParameterNames[T]}.${string}`
    | `_has:${string}`
    | '_sort'
    | '_count'
    | '_include'
    | '_include:iterate'
    | '_revinclude'
    | '_revinclude:iterate'
    | '_summary'
    | '_elements'
    | '_total']?: Value | readonly Value[] | undefined;
};

/** An operation of JSON Patch: RFC 6902. */
export type JsonPatch =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** Parameters for `$everything`. */
export interface EverythingParameters {
  readonly start?: string;
  readonly end?: string;
  readonly _since?: string;
  readonly _type?: string;
  readonly _count?: number;
}

const BASE = '/fhir/R4';
const FHIR_JSON = 'application/fhir+json';

/** A resource to be created; the service assigns its id. */
export type NewResource<T extends ResourceType> = Omit<ResourceTypes[T], 'id' | 'meta'> &
  Partial<Pick<ResourceTypes[T], 'meta'>>;

/** The methods of the FHIR interface. */
export class FhirClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns a resource, or a version of it. */
  async read<T extends ResourceType>(
    type: T,
    id: string,
    options: RequestOptions & { readonly version?: string | number } = {},
  ): Promise<ResourceTypes[T]> {
    const version = options.version === undefined ? '' : `/_history/${segment(String(options.version))}`;
    return this.#json('GET', `/${type}/${segment(id)}${version}`, undefined, options);
  }

  /** Searches a type. Iterating yields the matches; `pages()` yields the Bundles, including what `_include` adds. */
  search<T extends ResourceType>(
    type: T,
    parameters: SearchParameters<T> = {},
    options: RequestOptions = {},
  ): Paged<Bundle, ResourceTypes[T]> {
    return this.#paged(this.#path(`/${type}`, parameters), options, (bundle) =>
      (bundle.entry ?? []).flatMap(({ resource, search }) =>
        resource === undefined || (search?.mode ?? 'match') !== 'match' ? [] : [resource as ResourceTypes[T]],
      ),
    );
  }

  /**
   * Creates a resource.
   * @param options `ifNoneExist`: search criteria; if a resource matches them, it is returned and nothing is created
   */
  create<T extends ResourceType>(
    resource: NewResource<T> & { readonly resourceType: T },
    options: RequestOptions & { readonly ifNoneExist?: string } = {},
  ): Promise<ResourceTypes[T]> {
    const { ifNoneExist } = options;
    const headers = {
      ...options.headers,
      ...(ifNoneExist !== undefined && { 'If-None-Exist': ifNoneExist }),
    };
    return this.#json('POST', `/${resource.resourceType}`, resource, { ...options, headers });
  }

  /** Replaces a resource. With `ifMatch`, replaces it only if that version is the current one. */
  async update<R extends ResourceTypes[ResourceType]>(
    resource: R & { readonly id: string },
    options: RequestOptions = {},
  ): Promise<R> {
    return this.#json('PUT', `/${resource.resourceType}/${segment(resource.id)}`, resource, options);
  }

  /** Changes parts of a resource. */
  async patch<T extends ResourceType>(
    type: T,
    id: string,
    operations: readonly JsonPatch[],
    options: RequestOptions = {},
  ): Promise<ResourceTypes[T]> {
    const path = `/${type}/${segment(id)}`;
    return this.#json('PATCH', path, operations, options, 'application/json-patch+json');
  }

  /** Deletes a resource. Its versions are kept. */
  async delete(type: ResourceType, id: string, options: RequestOptions = {}): Promise<void> {
    await this.send('DELETE', `/${type}/${segment(id)}`, undefined, options);
  }

  /** Lists the versions of a resource, newest first. An entry without `resource` is a deletion. */
  history<T extends ResourceType>(
    type: T,
    id: string,
    options: RequestOptions = {},
  ): Paged<Bundle<ResourceTypes[T]>, BundleEntry<ResourceTypes[T]>> {
    return this.#paged(`/${type}/${segment(id)}/_history`, options, ({ entry = [] }) => entry);
  }

  /** Returns a whole record, resource by resource. */
  everything(
    patient: string,
    parameters: EverythingParameters = {},
    options: RequestOptions = {},
  ): Paged<Bundle, FhirResource> {
    return this.#paged(
      this.#path(`/Patient/${segment(patient)}/$everything`, parameters),
      options,
      ({ entry = [] }) => entry.flatMap(({ resource }) => (resource === undefined ? [] : [resource])),
    );
  }

  /** Returns the International Patient Summary. */
  async summary(patient: string, options: RequestOptions = {}): Promise<Bundle> {
    return this.#json('GET', `/Patient/${segment(patient)}/$summary`, undefined, options);
  }

  /** Executes all entries or none. */
  transaction(entry: readonly BundleEntry[], options: RequestOptions = {}): Promise<Bundle> {
    return this.#json('POST', '', { resourceType: 'Bundle', type: 'transaction', entry }, options);
  }

  /** Executes each entry separately; check the `response` of each. */
  batch(entry: readonly BundleEntry[], options: RequestOptions = {}): Promise<Bundle> {
    return this.#json('POST', '', { resourceType: 'Bundle', type: 'batch', entry }, options);
  }

  /**
   * Sends any FHIR request and returns the response with its text, in which numbers keep all their digits.
   * @param path below `/fhir/R4`
   */
  send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
    options: RequestOptions = {},
    type = FHIR_JSON,
  ): Promise<Answer> {
    const query = options.asOf === undefined ? {} : { _asOf: options.asOf };
    const media = body === undefined ? undefined : type;
    return this.#transport.send({ method, path: BASE + path, query, body, type: media }, options);
  }

  async #json<R>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH',
    path: string,
    body: unknown,
    options: RequestOptions,
    type?: string,
  ): Promise<R> {
    return this.#transport.parse((await this.send(method, path, body, options, type)).text);
  }

  #path(path: string, parameters: object): string {
    const url = this.#transport.url(path, { ...parameters });
    return url.slice(this.#transport.baseUrl.length);
  }

  #paged<B extends Bundle<unknown>, T>(
    path: string,
    options: RequestOptions,
    items: (bundle: B) => readonly T[],
  ): Paged<B, T> {
    type At = { page: B; next: (() => Promise<At>) | undefined };
    const fetchPage = async (at: string, given: RequestOptions): Promise<At> => {
      const page = await this.#json<B>('GET', at, undefined, given);
      const url = page.link?.find(({ relation }) => relation === 'next')?.url;
      // Uses only the part below the FHIR base: the credential never goes to another server, and links work behind a gateway.
      const next = url?.replace(/^.*?\/fhir\/R4(?=[/?])/, '');
      if (next !== undefined && (next === url || next === at))
        throw new AnnalError(`a page names a next one that can’t follow it: ${url}`);
      return {
        page,
        next: next === undefined ? undefined : () => fetchPage(next, { ...given, asOf: undefined }),
      };
    };
    return new Paged(() => fetchPage(path, options), items);
  }
}
