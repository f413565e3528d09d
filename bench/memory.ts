/** Measures the resident memory of our Node processes while they are being measured. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const EVERY_MS = 200;

/** A sample: its time (in ms, on this process's clock) and the memory (in MB). */
interface Look {
  readonly at: number;
  readonly megabytes: number;
}

/** One process's memory over time. */
export interface MemoryUse {
  readonly peak: number;
  /**
   * Returns the mean over a span of `performance.now()`, in MB. If the span contains no sample, returns the last sample before
   * it.
   */
  readonly between: (from: number, to: number) => number;
}

/** Watches processes, using one sampler for a whole run. */
export class Memory {
  #peak = 0;

  /** Returns the maximum memory that any watched process has used so far, in MB. */
  get peak(): number {
    return this.#peak;
  }

  /** Forgets the peak, so that the next row has its own. */
  reset(): void {
    this.#peak = 0;
  }

  /** Watches a process. The returned function stops watching and returns the process's memory use. */
  watch(pid: number): () => Promise<MemoryUse> {
    const looks: Look[] = [];
    let looking: Promise<void> = Promise.resolve();
    const look = async (): Promise<void> => {
      const megabytes = await residentMegabytes(pid);
      if (megabytes === undefined) return;
      looks.push({ at: performance.now(), megabytes });
      this.#peak = Math.max(this.#peak, megabytes);
    };
    const timer = setInterval(() => {
      looking = look();
    }, EVERY_MS);
    return async () => {
      clearInterval(timer);
      await looking;
      await look();
      return {
        peak: Math.max(0, ...looks.map(({ megabytes }) => megabytes)),
        between: (from, to) => {
          const within = looks.filter(({ at }) => at >= from && at <= to);
          return mean(within.length > 0 ? within : looks.filter(({ at }) => at <= to).slice(-1));
        },
      };
    };
  }
}

function mean(looks: readonly Look[]): number {
  return looks.reduce((sum, { megabytes }) => sum + megabytes, 0) / looks.length;
}

/** Returns a process's resident memory in MB; undefined if the process has exited. */
async function residentMegabytes(pid: number): Promise<number | undefined> {
  const kilobytes =
    process.platform === 'linux'
      ? /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1]
      : (await run('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => ({ stdout: '' }))).stdout.trim();
  return kilobytes === undefined || kilobytes === '' ? undefined : Number(kilobytes) / 1024;
}
