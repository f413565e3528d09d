/** Decides how many processes share a machine's work (docs/scale.md, "Every core"). */
import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

/** Numbers of processes on a machine. One worker without projectors means a single process that does everything. */
export interface Sizes {
  /** Processes that answer HTTP requests. */
  readonly workers: number;
  /** Processes that keep read models up to date; if 0, the worker does this. */
  readonly projectors: 0 | 1 | 2;
}

/** If Node has at least this many cores, `search` and `timeline` get a projector of their own. */
const CORES_FOR_TWO = 4;

/** The memory that one process may grow to, in bytes: the limit in the benchmark. */
const PROCESS_BYTES = 350_000_000;
/** The share of the memory that all processes together may use. */
const PART_OF_MEMORY = { embedded: 0.5, own: 0.75 } as const;

/** The share of a machine that the service may use. */
export interface Room {
  readonly cores: number;
  /** In bytes. */
  readonly memory: number;
  /** True if PostgreSQL runs on the same machine: it then gets half of the cores, at least one, and half of the memory. */
  readonly embedded: boolean;
}

/**
 * Chooses the sizes.
 * @param asked the values of the settings; undefined for `auto`
 */
export function chooseSizes(
  asked: { readonly workers: number | undefined; readonly projectors: 0 | 1 | 2 | undefined },
  { cores, memory, embedded }: Room,
): Sizes {
  const own = embedded ? Math.floor(cores / 2) : cores - 1;
  const most = Math.floor((memory * PART_OF_MEMORY[embedded ? 'embedded' : 'own']) / PROCESS_BYTES);
  const isSmall = cores <= 2 || most < 2 + (asked.projectors ?? 1);
  if (asked.workers === 1 || (asked.workers === undefined && asked.projectors === undefined && isSmall))
    return { workers: 1, projectors: asked.projectors ?? 0 };
  const projectors = asked.projectors ?? (own >= CORES_FOR_TWO && most > CORES_FOR_TWO ? 2 : 1);
  const workers = Math.min(Math.max(own < 2 ? 1 : 2, own - 1), Math.max(1, most - projectors));
  return { workers: asked.workers ?? workers, projectors };
}

/** Returns how many cores this process may use, as limited by its affinity and its container's quota. */
export function countCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor(readQuota(readText))));
}

/** Returns the memory that this process may use, in bytes: the machine's memory or its container's limit. */
export function readMemory(): number {
  const limit = process.constrainedMemory() ?? 0;
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Files with the quota of CPU time, by version of Linux's control groups. */
const QUOTAS = {
  two: '/sys/fs/cgroup/cpu.max',
  one: ['/sys/fs/cgroup/cpu/cpu.cfs_quota_us', '/sys/fs/cgroup/cpu/cpu.cfs_period_us'],
} as const;

/**
 * Returns the quota in cores; infinite if there is none.
 * @param read returns a file's text; empty if there is no such file
 */
export function readQuota(read: (file: string) => string): number {
  const both = read(QUOTAS.two) || QUOTAS.one.map(read).join(' ');
  const [quota, period] = both.trim().split(/\s+/).map(Number);
  const cores = (quota ?? 0) / (period ?? 0);
  return cores > 0 ? cores : Number.POSITIVE_INFINITY;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
