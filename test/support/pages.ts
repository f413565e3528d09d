/** Runs the shell blocks in documentation pages, in order, and compares the output with the output shown in the pages. */
import { execFile } from 'node:child_process';

/** A shell block, and the output block that follows it. */
export interface Step {
  /** The line of the first command on the page. */
  readonly line: number;
  readonly commands: string;
  /** The output shown on the page; undefined if none is shown. */
  readonly shown?: string;
}

/** The result of a step. */
export interface Outcome {
  readonly stdout: string;
  /** The last command's exit code. */
  readonly code: number;
}

const FENCE = /^```(\S*)/;
/** A comment before a block that isn't run, which gives the reason. */
const NOT_RUN = /^<!-- not run: .+ -->$/;

/**
 * Returns a page's steps: every `sh` block, except blocks after `<!-- not run: why -->`. A `text` block directly after a step
 * shows the step's standard output.
 */
export function stepsOf(page: string): Step[] {
  return blocksOf(page)
    .filter(({ language, skipped }) => language === 'sh' && !skipped)
    .map(({ start, lines, output }) => ({
      line: start + 1,
      commands: lines.join('\n'),
      ...(output === undefined ? {} : { shown: output.lines.join('\n') }),
    }));
}

/**
 * Returns the page with its outputs replaced.
 * @param outputs the new outputs, by the step's index
 */
export function withOutputs(page: string, outputs: readonly string[]): string {
  const lines = page.split('\n');
  const steps = blocksOf(page).filter(({ language, skipped }) => language === 'sh' && !skipped);
  for (const [index, { output }] of [...steps.entries()].reverse()) {
    const printed = outputs[index];
    if (output !== undefined && printed !== undefined)
      lines.splice(output.start, output.lines.length, ...printed.split('\n'));
  }
  return lines.join('\n');
}

interface Block {
  readonly language: string;
  /** Index of the line after the fence, which equals the line number of the fence counted from 1. */
  readonly start: number;
  readonly lines: readonly string[];
  readonly skipped: boolean;
  readonly output?: Block;
}

function blocksOf(page: string): Block[] {
  const lines = page.split('\n');
  const blocks: Block[] = [];
  /** The last non-blank line outside blocks. */
  let before = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const language = FENCE.exec(line)?.[1];
    if (language === undefined) {
      if (line.trim() !== '') before = line;
      continue;
    }
    const end = lines.indexOf('```', at + 1);
    if (end < 0) throw new Error(`the block at line ${at + 1} does not end`);
    const block = { language, start: at + 1, lines: lines.slice(at + 1, end), skipped: NOT_RUN.test(before) };
    const previous = blocks.at(-1);
    if (language === 'text' && before === 'sh' && previous !== undefined)
      blocks[blocks.length - 1] = { ...previous, output: block };
    blocks.push(block);
    before = language;
    at = end;
  }
  return blocks;
}

/** Separates the outputs of two steps; no program prints this character. */
const END_OF_STEP = '\u001e';

/**
 * Runs steps in one shell, like a person who pastes them one after another.
 * @param folder the working directory
 * @param env the complete environment
 * @returns a result for each step; fewer if the shell exited early
 */
export function runSteps(
  steps: readonly Step[],
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ outcomes: Outcome[]; stderr: string }> {
  const script = steps.map(
    ({ commands }) => `{\n${commands}\n} </dev/null\nprintf '${END_OF_STEP}%s${END_OF_STEP}' "$?"\n`,
  );
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { ...env }, maxBuffer: 50_000_000 };
    execFile('sh', ['-c', script.join('')], options, (_error, stdout, stderr) => {
      const parts = stdout.split(END_OF_STEP);
      const outcomes: Outcome[] = [];
      for (let at = 0; at + 1 < parts.length; at += 2)
        outcomes.push({ stdout: (parts[at] ?? '').trimEnd(), code: Number(parts[at + 1]) });
      resolve({ outcomes, stderr });
    });
  });
}

/**
 * Returns a function that replaces values that vary between runs: ids (numbered by first occurrence, so that the same id
 * always gets the same number), recording times, durations, and the last four characters of keys. Use one such function for
 * all output of a run.
 */
export function steadier(): (text: string) => string {
  const ids = new Map<string, string>();
  return (text) =>
    text
      .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (id) => {
        const known = ids.get(id) ?? `id-${ids.size + 1}`;
        ids.set(id, known);
        return known;
      })
      .replace(/\breq_[\w-]{22,26}/g, 'request')
      .replace(/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z/g, 'moment')
      .replace(/\(…[\w-]{4}\)/g, '(…key)')
      .replace(/\bin [\d.]+ s\b(, \d+ resources\/s)?/g, 'in some time')
      .trimEnd();
}
