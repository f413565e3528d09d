/** Runs the `annal` command in the test's own process, saving the second that a new process takes to start. */
import { main } from '#src/cli/main.ts';

/** The result of a command. */
export interface CommandOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command line; only one may run at a time.
 * @param env variables in addition to this process's environment
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandOutcome> {
  const before = { ...process.env };
  const written = { stdout: '', stderr: '' };
  const { stdout, stderr } = process;
  const originals = { stdout: stdout.write, stderr: stderr.write };
  const collect = (name: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    written[name] += String(text);
    return true;
  };
  Object.assign(process.env, env);
  stdout.write = collect('stdout');
  stderr.write = collect('stderr');
  try {
    return { code: await main(args), ...written };
  } finally {
    stdout.write = originals.stdout;
    stderr.write = originals.stderr;
    process.env = before;
  }
}
