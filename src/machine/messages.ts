/** Messages between the processes of a machine, over the primary. */
import type { ProjectionStatus } from '#projections/projector.ts';
import type { Position } from '../events/store.ts';

/** A read model and a position of the log. */
export type At = readonly [model: string, position: Position];

/** News for all other processes of the machine; sent at most once per turn of the event loop. */
export interface News {
  /** Positions that read models have passed. */
  readonly passed?: readonly At[];
  /** Positions that requests wait for. */
  readonly wanted?: readonly At[];
  /** The states of the read models that the sender runs, every second. */
  readonly states?: readonly ProjectionStatus[];
}

/** The part of a process in the work of its machine. */
export interface Part {
  /** `http-1`, `projector-1`: in log lines and metrics. */
  readonly name: string;
  /** Answers HTTP requests. */
  readonly answers: boolean;
  /** The read models that it keeps up to date; undefined: all. */
  readonly projects: readonly string[] | undefined;
  /** Runs processes, sweeps and jobs, and listens for other machines. */
  readonly leads: boolean;
  /** Brings read models up to date at its start, before other processes of the machine start. */
  readonly prepares: boolean;
  /** Creates the first project. */
  readonly begins: boolean;
  /** The number of processes that share the machine's budgets. */
  readonly sharers: number;
}

/** The part of a process that does everything. */
export const ALONE: Part = {
  name: 'annal',
  answers: true,
  projects: undefined,
  leads: true,
  prepares: true,
  begins: true,
  sharers: 1,
};

/** From the primary. */
export type ToMember =
  | { readonly do: 'begin'; readonly part: Part; readonly databaseUrl: string }
  /** The first project is there: sandboxes may be filled. */
  | { readonly do: 'begun' }
  | { readonly do: 'stop' }
  | { readonly do: 'hear'; readonly news: News }
  /** Asks for metrics. */
  | { readonly do: 'measure'; readonly question: string }
  /** Answers of all others to a question. */
  | { readonly do: 'answered'; readonly question: string; readonly answers: readonly unknown[] };

/** To the primary. */
export type FromMember =
  /** It listens to the primary from now on. */
  | { readonly is: 'here' }
  | { readonly is: 'ready'; readonly url: string | undefined }
  | { readonly is: 'begun'; readonly quickstart: unknown }
  /** It can't start, or must not go on: the whole service ends. */
  | { readonly is: 'fatal'; readonly message: string; readonly plain: boolean }
  /** Every second, also without news. */
  | { readonly is: 'alive'; readonly news: News }
  | { readonly is: 'asking'; readonly question: string }
  | { readonly is: 'answering'; readonly question: string; readonly answer: unknown };
