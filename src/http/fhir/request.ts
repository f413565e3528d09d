/** The input of an interaction of the FHIR interface. GET entries of a Bundle get the same as separate requests. */
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

/** The parts that interactions work with. */
export interface FhirService {
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
  readonly commands: Commands;
  readonly queries: Queries;
  readonly terminology: Terminology;
  readonly findImplausible: FindImplausible;
  readonly freshness: Freshness;
  readonly bundleEntries: number;
  /** Maximum number of JSON values of a Bundle, and of all JSON Patches in it. */
  readonly bundleValues: number;
  /** JSON text of the CapabilityStatement. */
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
  /** Values by lower-case name. */
  readonly header: Header;
  readonly prefer: Prefer;
  /** Limits of the answer. */
  readonly budget: AnswerBudget;
  /** Under a grant: the pass for its parts. */
  readonly pass?: GrantPass | undefined;
  /** Under a grant: checks that the token still works, where a request takes long. @throws Refusal unauthenticated (401) */
  readonly confirm?: (() => Promise<void>) | undefined;
  /** Checks that the caller may still read, before a further part of an answer that is being sent. @throws Refusal */
  readonly goOn?: (() => Promise<void>) | undefined;
  /** If the caller's reads are logged outside a grant: the log for the reads of a Bundle. */
  readonly reads?: KeyReads | undefined;
}

export interface FhirWrite extends FhirRequest {
  readonly command: CommandContext;
  /** Undefined for DELETE. */
  readonly body: RawBody | undefined;
  /** Counts further requests against the rate limits: the GET entries of a Bundle. @throws Refusal throttled (429) */
  readonly spend: (requests: number) => Promise<void>;
}

/** Finds the interaction of a path and method. @throws Refusal not_found (404), method_not_allowed (405) */
export type FindInteraction = (segments: readonly string[], method: string) => Interaction;

/** The declarations of interactions in addition to the shared ones (`Declared`). */
interface Interacts extends Declared {
  readonly grantToken: GrantToken;
  /** The grant is asked for the id in the path (`openingAt`). */
  readonly ofInstance?: boolean;
  /** It can answer as of an earlier moment: others refuse `_asOf`. */
  readonly takesAsOf?: true;
}

/** Answers a request. @param segments of its path @throws Refusal */
type Run<Request> = (request: Request, segments: readonly string[]) => Promise<Answer>;

/** An interaction: what it takes, and its answer. */
export type Interaction =
  /** Without a credential. */
  | (Declared & {
      readonly kind: 'open';
      readonly grantToken: 'ignored';
      readonly run: (service: FhirService) => Answer;
    })
  /** A read by GET. */
  | (Interacts & { readonly kind: 'read'; readonly run: Run<FhirRequest> })
  /** A read by POST with its parameters as a form. */
  | (Interacts & { readonly kind: 'form'; readonly run: Run<FhirRequest> })
  /** A read by POST with its parameters as a resource, or without parameters. */
  | (Interacts & {
      readonly kind: 'operation';
      readonly run: (request: FhirRequest, body: ParsedJson | undefined) => Promise<Answer>;
    })
  | (Interacts & {
      readonly kind: 'write';
      /**
       * The body: none, one resource, a patch, or a Bundle, which may be larger and needs the scopes of its entries.
       */
      readonly takes: 'nothing' | 'resource' | 'patch' | 'bundle';
      readonly run: Run<FhirWrite>;
    });

/** Returns the requirements of an interaction on a grant, with the id in its path. */
export function openingAt(
  { grantToken, ofInstance }: Exclude<Interaction, { kind: 'open' }>,
  segments: readonly string[],
): GrantToken {
  return grantToken === 'refused' || ofInstance !== true
    ? grantToken
    : { ...grantToken, id: segments[1] ?? null };
}
