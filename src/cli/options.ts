/** The options of every command, as cac hands them over. */
import { z } from 'zod';
import { AUTHOR_TYPES } from '#src/events/metadata.ts';

/** cac turns texts that look like numbers into numbers, and repeats into lists: the last one counts, as text. */
const text = z
  .union([z.string(), z.number(), z.array(z.union([z.string(), z.number()]))])
  .transform((value) => String(Array.isArray(value) ? (value.at(-1) ?? '') : value))
  .optional();

const schema = z.object({
  json: z.boolean().optional(),
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
  concurrency: z
    .int('--concurrency must be a whole number from 1 to 64')
    .min(1, '--concurrency must be at least 1')
    .max(64, '--concurrency must be at most 64')
    .optional(),
  again: z.boolean().optional(),
  skipInvalid: z.boolean().optional(),
  report: text,
  force: z.boolean().optional(),
  fresh: z.boolean().optional(),
  from: text,
  to: text,
  cutover: z.boolean().optional(),
  cancel: z.boolean().optional(),
  load: z.enum(['full', 'low'], '--load must be full or low').optional(),
  retry: z.boolean().optional(),
  restored: z.boolean().optional(),
  email: text,
  patient: text,
  system: text,
  release: text,
  port: z
    .int('--port must be a whole number from 1 to 65535')
    .min(1, '--port must be at least 1')
    .max(65_535, '--port must be at most 65535')
    .optional(),
  events: text,
  secret: text,
  readOnly: z.boolean().optional(),
  command: text,
});

/** The options that were given, checked; the others are absent. @throws ZodError whose messages are for the person. */
export function read(options: unknown): Given<z.infer<typeof schema>> {
  const parsed = schema.parse(options);
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => value !== undefined)) as Given<
    typeof parsed
  >;
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
