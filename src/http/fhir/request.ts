/**
 * Defines the input of an interaction in the FHIR interface. A Bundle's GET entries have the same input as separate requests.
 */
import type { Logger } from 'pino';
import type { CommandContext } from '#commands/command.ts';
import type { Commands } from '#commands/commands.ts';
import type { Queries } from '#queries/queries.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import type { FindImplausible } from '#src/shared/implausible.ts';
import type { ParsedJson } from '#src/shared/json/json.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Terminology } from '#src/terminology/terminology.ts';
import type { Answer } from '../answer/answer.ts';
import type { Header } from '../answer/authorship.ts';
import type { Prefer } from '../answer/negotiation.ts';
import type { RawBody } from '../body.ts';
import type { GrantToken } from '../grant/opening.ts';
import type { GrantPass } from '../grant/pass.ts';
import type { KeyReads } from '../key-reads.ts';
import type { Declared } from '../pipeline.ts';
import type { Freshness } from '../ports/freshness.ts';
import type { HistoryPages } from './history-pages.ts';

/** The services that interactions use. */
export interface FhirService {
  /** The FHIR interface's base URL, with a trailing slash. */
  readonly base: string;
  readonly commands: Commands;
  readonly queries: Queries;
  readonly terminology: Terminology;
  readonly findImplausible: FindImplausible;
  readonly freshness: Freshness;
  readonly bundleEntries: number;
  /** Maximum number of JSON values in a Bundle, and in all of its JSON Patches together. */
  readonly bundleValues: number;
  /** The CapabilityStatement's JSON text. */
  readonly capability: string;
  readonly historyPages: HistoryPages;
  readonly log: Logger;
  /** Returns the refusal for an error; undefined for an internal error. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
}

/** A read. */
export interface FhirRequest {
  readonly service: FhirService;
  readonly caller: Caller;
  readonly query: URLSearchParams;
  /** Returns a header by its lower-case name. */
  readonly header: Header;
  readonly prefer: Prefer;
  /** Limits on the response. */
  readonly budget: AnswerBudget;
  /** Under a grant: the pass that the parts of the request use. */
  readonly pass?: GrantPass | undefined;
  /**
   * Under a grant: checks that the token still works, if a request takes long.
   * @throws Refusal unauthenticated (401)
   */
  readonly confirm?: (() => Promise<void>) | undefined;
  /**
   * Checks that the caller may still read, before a further part of a response is sent.
   * @throws Refusal
   */
  readonly goOn?: (() => Promise<void>) | undefined;
  /** The log for a Bundle's reads, if the caller's reads are logged although there is no grant. */
  readonly reads?: KeyReads | undefined;
}

export interface FhirWrite extends FhirRequest {
  readonly command: CommandContext;
  /** Undefined for DELETE. */
  readonly body: RawBody | undefined;
  /**
   * Counts further requests (a Bundle's GET entries) against the rate limits.
   * @throws Refusal throttled (429)
   */
  readonly spend: (requests: number) => Promise<void>;
}

/**
 * Finds the interaction for a path and method.
 * @throws Refusal not_found (404), method_not_allowed (405)
 */
export type FindInteraction = (segments: readonly string[], method: string) => Interaction;

/** Declarations of interactions, in addition to those that all declarations have (`Declared`). */
interface Interacts extends Declared {
  readonly grantToken: GrantToken;
  /** True if the check of the grant includes the id in the path (`openingAt`). */
  readonly ofInstance?: boolean;
  /** True if the interaction supports reading as of an earlier time. All others refuse `_asOf`. */
  readonly takesAsOf?: true;
}

/**
 * Answers a request.
 * @param segments the segments of its path
 * @throws Refusal
 */
type Run<Request> = (request: Request, segments: readonly string[]) => Promise<Answer>;

/** An interaction: the requests that it accepts, and how it responds. */
export type Interaction =
  /** An interaction that needs no credential. */
  | (Declared & {
      readonly kind: 'open';
      readonly grantToken: 'ignored';
      readonly run: (service: FhirService) => Answer;
    })
  /** A read by GET. */
  | (Interacts & { readonly kind: 'read'; readonly run: Run<FhirRequest> })
  /** A read via POST with its parameters as a form. */
  | (Interacts & { readonly kind: 'form'; readonly run: Run<FhirRequest> })
  /** A read via POST with its parameters as a resource, or without parameters. */
  | (Interacts & {
      readonly kind: 'operation';
      readonly run: (request: FhirRequest, body: ParsedJson | undefined) => Promise<Answer>;
    })
  | (Interacts & {
      readonly kind: 'write';
      /**
       * The body: none, a resource, a patch, or a Bundle. A Bundle may be larger, and needs the scopes that its entries need.
       */
      readonly takes: 'nothing' | 'resource' | 'patch' | 'bundle';
      readonly run: Run<FhirWrite>;
    });

/** Returns what an interaction requires of a grant, including the id in its path. */
export function openingAt(
  { grantToken, ofInstance }: Exclude<Interaction, { kind: 'open' }>,
  segments: readonly string[],
): GrantToken {
  return grantToken === 'refused' || ofInstance !== true
    ? grantToken
    : { ...grantToken, id: segments[1] ?? null };
}
