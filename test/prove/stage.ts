/** The type of a stage of `npm run prove`. */

/** A part of the proof: a program, with what makes it full size. */
export interface Stage {
  /** For the command line. */
  readonly name: string;
  /** What it shows. */
  readonly shows: string;
  /** Code whose change runs the stage in `--changed`: folders, files, or patterns with `*` for a file's name. */
  readonly touches: readonly string[];
  /** Test files for mocha, or the bench's arguments. */
  readonly run: { readonly tests: readonly string[] } | { readonly bench: readonly string[] };
  /** Default of tests: `ANNAL_TEST_SCALE=1`, their full size. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether its files run one after the other because they measure time or memory. By default two run at once. */
  readonly alone?: boolean;
}
