/**
 * `npm run bench:peers -- <base URL> [<base URL> …]`: runs the same load on the given FHIR servers, one after another, and
 * divides the first server's rates by each other server's (docs/performance.md).
 */
import { parseArgs } from 'node:util';
import type { Outcome } from '../load/plan.ts';
import { median } from '../statistics.ts';
import { Worker } from '../worker.ts';
import { type Data, fill, ROWS, type Row } from './rows.ts';
import { openPeer, type Peer } from './server.ts';

const NAMES = ROWS.map(({ name }) => name);
const USAGE = `npm run bench:peers -- <FHIR base URL> [<FHIR base URL> …] [options]
  --token <token>   bearer token of the servers, in their order; '' for none; may be repeated
  --only <row>      only this row; may be repeated: ${NAMES.join(', ')}
  --records <n>     records of 300 resources that each server gets first (default 40)
  --rounds <n>      rounds of each row, by turns (default 5), after one that warms up
  --seconds <n>     seconds of a round (default 5)
  --json            prints the report as JSON`;

/** A server with its data. */
interface Side {
  readonly url: string;
  readonly peer: Peer;
  readonly data: Data;
}

/** A server's results for a row; times in ms. */
interface Found {
  readonly url: string;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Set if the answer, or a request, was wrong. */
  readonly failure?: string;
}

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      token: { type: 'string', multiple: true, default: [] },
      only: { type: 'string', multiple: true, default: NAMES },
      records: { type: 'string', default: '40' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const unknown = values.only.filter((name) => !NAMES.includes(name));
  if (values.help || positionals.length === 0 || unknown.length > 0) {
    process.stdout.write(`${USAGE}\n`);
    return values.help ? 0 : 2;
  }
  const say = (text: string): void => void (values.json ? process.stderr : process.stdout).write(`${text}\n`);
  const generator = Worker.start('load/generator.ts');
  try {
    const sides: Side[] = [];
    for (const [n, url] of positionals.entries()) {
      const peer = openPeer(url, values.token[n] ?? '');
      sides.push({ url, peer, data: await fill(peer, Number(values.records)) });
      say(`${url} has ${values.records} records`);
    }
    const report: { readonly row: string; readonly what: string; readonly found: readonly Found[] }[] = [];
    for (const row of ROWS.filter(({ name }) => values.only.includes(name))) {
      const found = await measure(row, sides, generator, Number(values.rounds), Number(values.seconds));
      report.push({ row: row.name, what: row.what, found });
      say(toText(row, found));
    }
    if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`);
    return report.some(({ found }) => found.some(({ failure }) => failure !== undefined)) ? 1 : 0;
  } finally {
    await generator.stop();
  }
}

/** Measures a row on each server, in turn; a server that answers incorrectly is left out. */
async function measure(
  row: Row,
  sides: readonly Side[],
  generator: Worker,
  rounds: number,
  seconds: number,
): Promise<Found[]> {
  const outcomes = sides.map((): Outcome[] => []);
  // Rows with a check come before all rows that write.
  const failures = await Promise.all(
    sides.map(({ peer, data }) => row.check?.(peer, data).then(() => undefined, readMessage)),
  );
  for (let round = 0; round <= rounds; round += 1) {
    for (const [n, { peer, data }] of sides.entries()) {
      if (failures[n] !== undefined) continue;
      try {
        const { clients, expect } = row;
        const load = { target: peer.target, clients, requests: row.requests(peer, data), expect, seconds };
        const outcome = await generator.call<object, Outcome>(load);
        if (round > 0) outcomes[n]?.push(outcome);
      } catch (error) {
        failures[n] = readMessage(error);
      }
    }
  }
  return sides.map(({ url }, n) => {
    const [own = [], failure] = [outcomes[n], failures[n]];
    return {
      url,
      rate: median(own.map(({ rate }) => rate * row.resources)),
      p50: median(own.map(({ p50 }) => p50)),
      p99: median(own.map(({ p99 }) => p99)),
      ...(failure === undefined ? {} : { failure }),
    };
  });
}

function readMessage(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}

function toText({ name, what }: Row, found: readonly Found[]): string {
  const [first] = found;
  const lines = found.map(({ url, rate, p50, p99, failure }, n) => {
    if (failure !== undefined) return `  ${url}: not compared: ${failure}`;
    const ratio = n === 0 || first === undefined ? '' : `; the first one ${(first.rate / rate).toFixed(2)} ×`;
    return `  ${url}: ${rate.toFixed(0)} /s, p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms${ratio}`;
  });
  return [`${name}: ${what}`, ...lines].join('\n');
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof TypeError ? `${error.message}\n${USAGE}` : String(error)}\n`);
    process.exitCode = 2;
  },
);
