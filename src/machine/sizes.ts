/** How many processes share the work of a machine (docs/scale.md, "Every core"). */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Processes of a machine. One worker without projectors is a single process that does everything. */
export interface Sizes {
  /** Processes that answer HTTP requests. */
  readonly workers: number;
  /** Processes that keep read models up to date; 0: the worker does. */
  readonly projectors: 0 | 1 | 2;
}

/** From this number of cores for Node on, `search` and `timeline` have a projector of their own. */
const CORES_FOR_TWO = 4;

/**
 * Decides the sizes.
 * @param asked the settings; undefined: `auto`
 * @param cores those that this process may use
 * @param embedded whether PostgreSQL runs on the same cores: it gets half of them, at least one
 */
export function chooseSizes(
  asked: { readonly workers: number | undefined; readonly projectors: 0 | 1 | 2 | undefined },
  cores: number,
  embedded: boolean,
): Sizes {
  const own = embedded ? Math.floor(cores / 2) : cores - 1;
  const projectors = asked.projectors ?? chooseProjectors(asked.workers, cores, own);
  if (asked.workers !== undefined) return { workers: asked.workers, projectors };
  if (projectors === 0) return { workers: 1, projectors };
  return { workers: Math.max(own < 2 ? 1 : 2, own - 1), projectors };
}

function chooseProjectors(workers: number | undefined, cores: number, own: number): Sizes['projectors'] {
  if (workers === 1 || (workers === undefined && cores <= 2)) return 0;
  return own >= CORES_FOR_TWO ? 2 : 1;
}

/** Returns how many cores this process may use: by its affinity, and by the quota of its container. */
export function countCores(): number {
  return Math.max(1, Math.min(availableParallelism(), Math.floor(readQuota(readText))));
}

/** The quota of processor time, by version of Linux's control groups. */
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
