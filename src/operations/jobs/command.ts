/** Runs an `annal` command as a child process, which reports its progress as JSON lines on standard error. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { FAILURE_REASONS, type FailureReason, type JobProgress } from '#src/shared/job.ts';
import type { Ended } from './ended.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/annal.js', import.meta.url));
/** How long a command may take to stop when asked, in ms, before it is killed. */
const STOP_MS = 3_000;
/** The maximum number of characters of output to keep. */
const KEPT = 20_000_000;

/** A running command. */
export interface RunningCommand {
  /** The newest progress. */
  readonly progress: () => JobProgress | undefined;
  readonly ended: Promise<Ended>;
  /** Asks the command to stop at its next step, and kills the command if that takes too long. */
  stop(): void;
}

/**
 * Starts a command. If this process dies, the command stops, because it loses its channel to this process.
 * @param env replaces variables of this process; undefined removes a variable
 * @param say receives lines that don't report progress
 */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): RunningCommand {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let progress: JobProgress | undefined;
  let failure: string | undefined;
  let reason: FailureReason | undefined;
  let output = '';
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < KEPT) output += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const read = readProgress(line);
      const why = readReason(line);
      if (read !== undefined) progress = read;
      else if (why !== undefined) reason = why;
      else if (line.startsWith('annal: ')) failure = line.slice('annal: '.length);
      else if (line !== '') say(line);
    }
  });
  let killing: NodeJS.Timeout | undefined;
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      clearTimeout(killing);
      // A signal to the whole process group or service may reach the command before it handles signals.
      if (signal === 'SIGTERM' || signal === 'SIGINT') reason ??= 'interrupted';
      resolve({ code, signal, printed: readJson(output), failure, reason });
    });
  });
  return {
    progress: () => progress,
    ended,
    stop() {
      killing ??= setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      child.kill('SIGTERM');
    },
  };
}

function readProgress(line: string): JobProgress | undefined {
  if (!line.startsWith('{"done":')) return undefined;
  const { done, total, unit, note } = (readJson(line) ?? {}) as Partial<JobProgress>;
  return done === undefined || total === undefined || unit === undefined
    ? undefined
    : { done, total, unit, note };
}

function readReason(line: string): FailureReason | undefined {
  if (!line.startsWith('{"reason":')) return undefined;
  const { reason } = (readJson(line) ?? {}) as { reason?: unknown };
  return FAILURE_REASONS.find((each) => each === reason);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
