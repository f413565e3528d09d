/** Messages between the processes of a machine: news is sent directly (`peers.ts`), everything else through the primary. */
import type { ProjectionStatus } from '#projections/projector.ts';
import type { Summaries } from '../events/newer.ts';
import type { Position, WrittenBatch } from '../events/store.ts';
import type { Disk } from '../shared/load/full-disks.ts';

/** A position that a request is waiting for in all of the given read models. */
export interface Wanted {
  readonly models: readonly string[];
  readonly position: Position;
}

/** News from one process for other processes. */
export interface News {
  /** Batches that the sender wrote, or passes on for another process. */
  readonly batches?: readonly WrittenBatch[];
  /** True if a stream was erased: its events must be forgotten. */
  readonly erased?: boolean;
  /** Positions that read models have passed. */
  readonly passed?: readonly (readonly [model: string, position: Position])[];
  readonly wanted?: readonly Wanted[];
}

/** A process's sockets. */
export interface Sockets {
  /** The socket that the process listens on; undefined for a worker. */
  readonly own: string | undefined;
  /** The sockets that the process connects to. */
  readonly others: readonly string[];
  /** True if the process passes on each worker's batches to the other workers. */
  readonly passesOn: boolean;
}

/** Identifies an instance as operators see it: all processes on one machine together. */
export interface InstanceMark {
  readonly id: string;
  /** The process that receives signals: the primary, if there is one. */
  readonly pid: number;
}

/** A process's part in the work of its machine. */
export interface Part {
  /** `http-1`, `projector-1`: used in log lines and metrics. */
  readonly name: string;
  /** True if it answers HTTP requests. */
  readonly answers: boolean;
  /** The read models that it keeps up to date; undefined for all read models. */
  readonly projects: readonly string[] | undefined;
  /** True if it runs processes, sweeps and jobs, and listens for other machines. */
  readonly leads: boolean;
  /** True if it brings read models up to date at startup, before the machine's other processes start. */
  readonly prepares: boolean;
  /** True if it creates the installation's first project. */
  readonly begins: boolean;
  /** The number of processes that share the machine's budgets. */
  readonly sharers: number;
  /** The same for all processes on the machine; undefined if the process is an instance by itself. */
  readonly instance?: InstanceMark;
}

/** The part of a single process that does everything. */
export const ALONE: Part = {
  name: 'annal',
  answers: true,
  projects: undefined,
  leads: true,
  prepares: true,
  begins: true,
  sharers: 1,
};

/** The state of a process's work, as reported to the other processes. */
export interface Work {
  /** The states of the read models that it runs. */
  readonly states: readonly ProjectionStatus[];
  /** Events of a newer version at which the process's read models and processes stopped. */
  readonly newer: Summaries;
  /** Disks that the process found to be full within the last minute. */
  readonly full: readonly Disk[];
}

/** From the primary. */
export type ToMember =
  | { readonly do: 'begin'; readonly part: Part; readonly sockets: Sockets; readonly databaseUrl: string }
  /** The first project exists, so sandboxes may be filled. */
  | { readonly do: 'begun' }
  | { readonly do: 'stop' }
  /** Passes on the state of the work in another process. */
  | ({ readonly do: 'hear'; readonly from: string } & Work)
  /** Asks for metrics. */
  | { readonly do: 'measure'; readonly question: string }
  /** The answers to a question from all other processes. */
  | { readonly do: 'answered'; readonly question: string; readonly answers: readonly unknown[] };

/** To the primary. */
export type FromMember =
  /** The process is now listening to the primary. */
  | { readonly is: 'here' }
  | { readonly is: 'ready'; readonly url: string | undefined }
  | { readonly is: 'begun'; readonly quickstart: unknown }
  /** The process can't start, or must not continue: the whole service exits. */
  | { readonly is: 'fatal'; readonly message: string; readonly plain: boolean }
  /** Every second. */
  | ({ readonly is: 'alive' } & Work)
  | { readonly is: 'asking'; readonly question: string }
  | { readonly is: 'answering'; readonly question: string; readonly answer: unknown };
