/** Requests that clients send to an instance, and its responses. */
import type { WriteResult } from '#commands/command.ts';
import type { WriteEntry } from '#src/fhir/bundle.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** A request. */
export type Request = { readonly key?: string } & (
  | {
      readonly is: 'create';
      readonly type: ResourceType;
      readonly resource: JsonObject;
      /** `If-None-Exist` */
      readonly criteria?: string;
    }
  | {
      readonly is: 'update';
      readonly type: ResourceType;
      readonly id: string;
      readonly resource: JsonObject;
      readonly ifMatch?: number;
    }
  | {
      readonly is: 'patch';
      readonly type: ResourceType;
      readonly id: string;
      /** The new `valueString`. */
      readonly value: string;
      readonly ifMatch?: number;
    }
  | {
      readonly is: 'delete';
      readonly type: ResourceType;
      readonly id: string;
      readonly ifMatch?: number;
    }
  | { readonly is: 'transaction'; readonly entries: readonly WriteEntry[] }
  | { readonly is: 'read'; readonly type: ResourceType; readonly id: string }
  | { readonly is: 'search'; readonly type: ResourceType; readonly criteria: string }
);

/** A version that a response shows. */
export interface Shown extends Pick<WriteResult, 'type' | 'id' | 'version'> {
  readonly outcome: WriteResult['outcome'] | 'read';
}

/** An answer. */
export interface Response {
  readonly status: number;
  readonly shown: readonly Shown[];
  /** The number of matches of a search. */
  readonly total?: number;
  /** True if the refusal asks the client to retry. */
  readonly isPassing?: boolean;
}
