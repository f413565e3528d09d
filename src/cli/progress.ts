/** Shows a long command's progress on standard error: as a bar on a terminal, otherwise as occasional lines. */
import { Presets, SingleBar } from 'cli-progress';

/** Receives progress. */
export interface Progress {
  /** Adds to the amount that is done. */
  advance(count: number): void;
  /** Sets the amount that is done and the total, if the total becomes known only during the work. */
  reach(done: number, total: number): void;
  /** Shows what the command is doing now. */
  say(text: string): void;
  stop(): void;
}

/** Seconds between two lines without a terminal. */
const LINE_EVERY = 10;
/** Seconds between two JSON lines. */
const JSON_EVERY = 1;

/**
 * Starts showing progress.
 * @param unit what is counted: `resources`, `events`.
 * @param quiet true shows nothing, as with `--json`; `lines` prints JSON lines for a program.
 */
export function startProgress(total: number, unit: string, quiet: boolean | 'lines' = false): Progress {
  if (quiet === true)
    return { advance: () => undefined, reach: () => undefined, say: () => undefined, stop: () => undefined };
  if (quiet === 'lines') return lines(total, unit, JSON_EVERY, (line) => JSON.stringify(line));
  return process.stderr.isTTY ? bar(total, unit) : lines(total, unit, LINE_EVERY, sentence);
}

function bar(total: number, unit: string): Progress {
  const shown = new SingleBar(
    {
      format: `{bar} {percentage} % | {value}/{total} ${unit} | {rate}/s | {left} left {note}`,
      stream: process.stderr,
      hideCursor: true,
    },
    Presets.shades_classic,
  );
  const pace = new Rate(total);
  let note = '';
  const update = () => {
    const { done, rate, secondsLeft } = pace.now();
    shown.update(done, { rate, left: secondsLeft === undefined ? '?' : duration(secondsLeft), note });
  };
  shown.start(total, 0, { rate: 0, left: '?', note });
  return {
    advance(count) {
      pace.reach(pace.done + count, pace.total);
      note = '';
      update();
    },
    reach(now, of) {
      pace.reach(now, of);
      shown.setTotal(of);
      update();
    },
    say(text) {
      note = text === '' ? '' : `| ${text}`;
      update();
    },
    stop: () => shown.stop(),
  };
}

/** The content of a progress line. */
interface Line {
  readonly done: number;
  readonly total: number;
  readonly unit: string;
  /** A second. */
  readonly rate: number;
  /** Absent until the time can be estimated. */
  readonly seconds_left?: number | undefined;
  readonly note?: string;
}

function lines(total: number, unit: string, every: number, print: (line: Line) => string): Progress {
  const pace = new Rate(total);
  let last = Date.now();
  const write = (note?: string) => {
    const { done, rate, secondsLeft } = pace.now();
    const line = { done, total: pace.total, unit, rate, seconds_left: secondsLeft };
    process.stderr.write(`${print(note === undefined ? line : { ...line, note })}\n`);
  };
  const tick = () => {
    if (Date.now() - last < every * 1000) return;
    last = Date.now();
    write();
  };
  return {
    advance(count) {
      pace.reach(pace.done + count, pace.total);
      tick();
    },
    reach(now, of) {
      pace.reach(now, of);
      tick();
    },
    say(text) {
      if (text !== '') write(text);
    },
    stop: () => undefined,
  };
}

function sentence({ done, total, unit, rate, seconds_left: left, note }: Line): string {
  if (note !== undefined) return note;
  const rest = left === undefined ? '' : `, about ${duration(left)} left`;
  return `${done}/${total} ${unit}, ${rate}/s${rest}`;
}

/** Measures the speed. */
class Rate {
  readonly #started = Date.now();
  done = 0;

  constructor(public total: number) {}

  reach(done: number, total: number): void {
    this.done = done;
    this.total = total;
  }

  now(): { done: number; rate: number; secondsLeft: number | undefined } {
    const { done, total } = this;
    const perMs = done / Math.max(1, Date.now() - this.#started);
    const secondsLeft = perMs > 0 ? Math.ceil((total - done) / perMs / 1000) : undefined;
    return { done, rate: Math.round(perMs * 1000), secondsLeft };
  }
}

/** Formats seconds as `1 h 5 min`, `3 min 20 s`, `45 s`. */
function duration(seconds: number): string {
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  if (seconds >= 60) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${seconds} s`;
}
