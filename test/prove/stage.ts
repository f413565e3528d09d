/** The type of a stage of `npm run prove`. */

/** A part of the proof: a program, and the settings that make it full size. */
export interface Stage {
  /** The stage's name on the command line. */
  readonly name: string;
  /** What it shows. */
  readonly shows: string;
  /** Code that triggers this stage with `--changed`: folders, files, or patterns with `*` for a file's name. */
  readonly touches: readonly string[];
  /** Test files for mocha, or the bench's arguments. */
  readonly run: { readonly tests: readonly string[] } | { readonly bench: readonly string[] };
  /** Environment variables; for tests, the default is `ANNAL_TEST_SCALE=1`, which is full size. */
  readonly env?: Readonly<Record<string, string>>;
  /** True if the stage's files run one after another because they measure time or memory. By default, two run at once. */
  readonly alone?: boolean;
}
