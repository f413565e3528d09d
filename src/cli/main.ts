/** Reads the command line, runs the command, and turns failures into a message and an exit code. */
import { type Command, CommanderError } from 'commander';
import { z } from 'zod';
import { didYouMean } from '#src/shared/nearest.ts';
import { describeCommands } from './commands.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';

/**
 * Runs a command line.
 * @param args without node and script.
 * @returns the exit code: 0; 1 if the command failed; 2 if the command line was invalid; 3 if a check found faults; 4 if it
 * found no faults but couldn't check everything.
 */
export async function main(args: readonly string[]): Promise<number> {
  const [first, about] = args;
  if (first === 'help') return main(about === undefined ? ['--help'] : [about, '--help']);
  // The people are loaded only for the one command whose help lists them, because loading them takes as long as loading
  // everything else.
  const people = first === 'dev-token' ? (await import('./project/dev-patient.ts')).patientsHelp() : '';
  const { program, outcome } = describeCommands(people);
  const names = program.commands.map((command) => command.name());
  // Checked before options are parsed; otherwise, `--help` after a misspelt command would print the program's own help.
  if (first !== undefined && !first.startsWith('-') && !names.includes(first)) {
    const hint = didYouMean(first, names);
    return refuse(`unknown command ${first}${hint || '; annal --help lists the commands'}`, MISUNDERSTOOD);
  }
  try {
    await program.parseAsync(args, { from: 'user' });
    return outcome.code;
  } catch (error) {
    if (error instanceof z.ZodError)
      return refuse(error.issues.map(({ message }) => message).join('\n'), MISUNDERSTOOD);
    if (!(error instanceof CommanderError)) {
      const failure =
        error instanceof Failure
          ? error
          : (await import('./store/explained-failure.ts')).explainedFailure(error);
      if (failure === undefined) throw error;
      // A job that runs the command has a channel to it, asks for JSON, and reads JSON lines from standard error
      // (`src/operations/jobs/command.ts`).
      if (failure.reason !== undefined && process.send !== undefined && args.includes('--json'))
        process.stderr.write(`${JSON.stringify({ reason: failure.reason })}\n`);
      return refuse(failure.message, failure.exitCode);
    }
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') {
      program.outputHelp();
      return 0;
    }
    const command = program.commands.find((each) => each.name() === first);
    const help = command === undefined ? 'annal --help' : `annal ${command.name()} --help`;
    return refuse(`${explain(error, command ?? program)}. See ${help}`, MISUNDERSTOOD);
  }
}

/** Returns the parser's error message, reworded where it is unclear. */
function explain({ message }: CommanderError, { options }: Command): string {
  const [, valued] = /^error: option '.*?(--[\w-]+).*' argument missing$/.exec(message) ?? [];
  if (valued !== undefined) return `${valued} needs a value`;
  const [, given] = /^error: unknown option '(.+)'$/s.exec(message) ?? [];
  if (given === undefined) return message.replace(/^error: /, '').replace(/\.$/, '');
  const [name = given] = given.split('=');
  const flags = options.flatMap(({ long }) => long ?? []);
  return flags.includes(name)
    ? `${name} takes no value`
    : `unknown option \`${name}\`${didYouMean(name, flags)}`;
}

function refuse(message: string, code: number): number {
  process.stderr.write(`annal: ${message}\n`);
  return code;
}
