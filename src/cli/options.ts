/** Defines and validates the options of every command, as text from the command line. */
import type { Command } from 'commander';
import { z } from 'zod';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';

const text = z.string().optional();
const flag = z.boolean().optional();

/** A whole number, as decimal digits. */
function whole(option: string, least: number, most: number) {
  const message = `${option} must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d+$/, message)
    .transform(Number)
    .refine((value) => value >= least && value <= most, message)
    .optional();
}

const schema = z.strictObject({
  json: flag,
  content: flag,
  url: text,
  key: text,
  dataDir: text,
  at: text,
  out: text,
  html: text,
  checkpoint: text,
  state: text,
  sourceSystem: text,
  authorType: z.enum(AUTHOR_TYPES, `--author-type must be one of ${AUTHOR_TYPES.join(', ')}`).optional(),
  concurrency: whole('--concurrency', 1, 64),
  again: flag,
  skipInvalid: flag,
  report: text,
  force: flag,
  fresh: flag,
  from: text,
  to: text,
  cutover: flag,
  cancel: flag,
  load: z.enum(['full', 'low'], '--load must be full or low').optional(),
  retry: flag,
  keep: flag,
  now: flag,
  restored: flag,
  email: text,
  patient: text,
  project: text,
  application: text,
  model: text,
  since: text,
  until: text,
  environment: z.enum(['sandbox', 'production'], '--environment must be sandbox or production').optional(),
  analyze: flag,
  deleted: flag,
  patients: flag,
  system: text,
  release: text,
  lang: text,
  port: whole('--port', 1, 65_535),
  events: text,
  secret: text,
  readOnly: flag,
  command: text,
  reason: text,
  guests: flag,
});

/** The names of all options, as commands use them. */
export const OPTION_NAMES: readonly string[] = Object.keys(schema.shape);

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The options that were given; all others are absent. */
export type Options = Given<z.infer<typeof schema>>;

/**
 * Returns a command's validated options. If an option is repeated, its last value is used.
 * @throws Failure for a missing value, ZodError for an invalid value; both with messages for the user.
 */
export function readOptions(command: Command): Options {
  const flags = ['-h', '--help', ...command.options.flatMap(({ short, long }) => [short, long])];
  const given = command.optsWithGlobals<Record<string, unknown>>();
  for (const option of command.options) {
    const value = given[option.attributeName()];
    // If another option follows where the value should be, the value was forgotten.
    if (typeof value === 'string' && (value.trim() === '' || flags.includes(value)))
      throw new Failure(`${option.long} needs a value`, MISUNDERSTOOD);
  }
  const parsed = schema.parse(given);
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== undefined)) as Options;
}

/**
 * Returns a command's arguments, without options, as they were typed.
 * @throws Failure for an empty argument.
 */
export function readWords({ args, registeredArguments }: Command): string[] {
  for (const [at, word] of args.entries()) {
    const name = (registeredArguments[at] ?? registeredArguments.at(-1))?.name() ?? 'argument';
    if (word.trim() === '') throw new Failure(`${name} must not be empty`, MISUNDERSTOOD);
  }
  return [...args];
}
