/** Messages between the processes of a machine: news directly (`peers.ts`), all else over the primary. */
import type { ProjectionStatus } from '#projections/projector.ts';
import type { Summaries } from '../events/newer.ts';
import type { Position, WrittenBatch } from '../events/store.ts';
import type { Disk } from '../shared/load/full-disks.ts';

/** A position that a request waits for, of all these read models. */
export interface Wanted {
  readonly models: readonly string[];
  readonly position: Position;
}

/** News of one process for others. */
export interface News {
  /** Batches that the sender wrote, or passes on. */
  readonly batches?: readonly WrittenBatch[];
  /** True if a stream was erased: its events must be forgotten. */
  readonly erased?: boolean;
  /** Positions that read models have passed. */
  readonly passed?: readonly (readonly [model: string, position: Position])[];
  readonly wanted?: readonly Wanted[];
}

/** Sockets of a process. */
export interface Sockets {
  /** Where it listens; undefined for a worker. */
  readonly own: string | undefined;
  /** Where it connects to. */
  readonly others: readonly string[];
  /** True if it passes batches of one worker on to the others. */
  readonly passesOn: boolean;
}

/** Names the instance that operators see: all processes of a machine together. */
export interface InstanceMark {
  readonly id: string;
  /** Of the process that gets signals: the primary, where there is one. */
  readonly pid: number;
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
  /** The same for all processes of the machine; undefined: the process is an instance of its own. */
  readonly instance?: InstanceMark;
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

/** How the work of a process goes. */
export interface Work {
  /** The states of the read models that it runs. */
  readonly states: readonly ProjectionStatus[];
  /** Events of a newer version at which its read models and processes stopped. */
  readonly newer: Summaries;
  /** Disks that it found full within the last minute. */
  readonly full: readonly Disk[];
}

/** From the primary. */
export type ToMember =
  | { readonly do: 'begin'; readonly part: Part; readonly sockets: Sockets; readonly databaseUrl: string }
  /** The first project is there: sandboxes may be filled. */
  | { readonly do: 'begun' }
  | { readonly do: 'stop' }
  /** Passes on how the work of a process goes. */
  | ({ readonly do: 'hear'; readonly from: string } & Work)
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
  /** Every second. */
  | ({ readonly is: 'alive' } & Work)
  | { readonly is: 'asking'; readonly question: string }
  | { readonly is: 'answering'; readonly question: string; readonly answer: unknown };
