/** How far a long command is, on standard error: a bar at a terminal, a line now and then elsewhere. */
import { Presets, SingleBar } from 'cli-progress';

/** Something to tell progress to. */
export interface Progress {
  /** More of it is done. */
  advance(count: number): void;
  /** It is done up to here, of so much; where the whole becomes known on the way. */
  reach(done: number, total: number): void;
  /** A word about what is going on now. */
  say(text: string): void;
  stop(): void;
}

/** Seconds between two lines where there is no terminal. */
const LINE_EVERY = 10;

/**
 * Starts to show progress.
 * @param unit what is counted: `resources`, `events`.
 * @param quiet shows nothing, as `--json` asks.
 */
export function startProgress(total: number, unit: string, quiet = false): Progress {
  if (quiet)
    return { advance: () => undefined, reach: () => undefined, say: () => undefined, stop: () => undefined };
  return process.stderr.isTTY ? bar(total, unit) : lines(total, unit);
}

function bar(total: number, unit: string): Progress {
  const shown = new SingleBar(
    {
      format: `{bar} {percentage} % | {value}/{total} ${unit} | {rate}/s | {eta_formatted} left {note}`,
      stream: process.stderr,
      hideCursor: true,
      etaBuffer: 200,
    },
    Presets.shades_classic,
  );
  const started = Date.now();
  let done = 0;
  let note = '';
  shown.start(total, 0, { rate: 0, note });
  const update = () => shown.update(done, { rate: rateOf(done, started), note });
  return {
    advance(count) {
      done += count;
      note = '';
      update();
    },
    reach(now, of) {
      done = now;
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

function lines(total: number, unit: string): Progress {
  const started = Date.now();
  let last = started;
  let done = 0;
  let all = total;
  const print = () => {
    if (Date.now() - last < LINE_EVERY * 1000) return;
    last = Date.now();
    const left = done > 0 ? Math.ceil(((all - done) * (last - started)) / done / 1000) : 0;
    process.stderr.write(`${done}/${all} ${unit}, ${rateOf(done, started)}/s, about ${left} s left\n`);
  };
  return {
    advance(count) {
      done += count;
      print();
    },
    reach(now, of) {
      done = now;
      all = of;
      print();
    },
    say(text) {
      if (text !== '') process.stderr.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}

function rateOf(done: number, started: number): number {
  return Math.round((done * 1000) / Math.max(1, Date.now() - started));
}
