/** `annal sql --read-only`: reads the service's database in SQL, without PostgreSQL's own client. */
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';
import { withDatabase } from '../stopped.ts';
import { counted, table } from '../table.ts';
import { ReadOnlySession, type Result, type Shown } from './session.ts';
import { statementsIn } from './statements.ts';

/** The command-line options. */
export interface SqlOptions extends Pick<ServiceOptions, 'dataDir'> {
  /** Required: there is no other mode. */
  readonly readOnly?: boolean;
  /** Statements to run. Default: reads statements from standard input, one by one if it is a terminal. */
  readonly command?: string;
  /** Prints each result as a JSON array of objects, with all rows and complete values. */
  readonly json?: boolean;
}

/** The maximum number of rows in a table for people. */
const ROWS = 1_000;
/** The maximum length of a value in such a table. */
const CELL = 100;

const HELP = `End each statement with a semicolon. The session is read-only.
  \\dt [schema]       lists tables
  \\d schema.table    lists a table's columns
  \\q                quits, like Ctrl-D
Ctrl-C cancels a running statement.`;

/**
 * Runs statements and prints their results; stops at the first error, except on a terminal.
 * @throws Failure without `--read-only`, if no database is found, or, with the server's message, if a statement fails.
 */
export async function sqlCommand({ readOnly, command, json = false, ...where }: SqlOptions): Promise<void> {
  if (readOnly !== true) {
    throw new Failure(
      'annal sql requires --read-only: the tables are derived from the log and must not be changed by hand',
      MISUNDERSTOOD,
    );
  }
  await withDatabase(where, async ({ url }) => {
    const session = new ReadOnlySession(url);
    try {
      await session.open();
      if (command === undefined && process.stdin.isTTY) await converse(session, json);
      else await runAll(session, command ?? (await text(process.stdin)), json);
    } catch (error) {
      throw toReadableError(error);
    } finally {
      await session.close();
    }
  });
}

async function runAll(session: ReadOnlySession, sql: string, json: boolean): Promise<void> {
  const { complete, rest } = statementsIn(sql);
  for (const statement of rest === '' ? complete : [...complete, rest]) await show(session, statement, json);
}

async function show(session: ReadOnlySession, statement: string, json: boolean): Promise<void> {
  const result = await session.run(described(statement), json ? Number.MAX_SAFE_INTEGER : ROWS);
  process.stdout.write(`${json ? asJson(result) : asTable(result)}\n`);
}

/** Translates psql's `\dt` and `\d` to SQL; other statements are returned unchanged. */
function described(statement: string): string {
  const [, word, name = ''] = /^\\(\w+)\s*([\w.]*)$/.exec(statement.trim()) ?? [];
  const literal = pg.escapeLiteral(name);
  if (word === 'dt') {
    const which = name === '' ? `not in ('pg_catalog', 'information_schema')` : `= ${literal}`;
    return `select schemaname as schema, tablename as table from pg_tables where schemaname ${which} order by 1, 2`;
  }
  if (word === 'd' && name !== '') {
    return `select attname as column, format_type(atttypid, atttypmod) as type, attnotnull as "not null"
      from pg_attribute where attrelid = ${literal}::regclass and attnum > 0 and not attisdropped order by attnum`;
  }
  return statement;
}

function asJson({ columns, rows }: Result): string {
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]]))),
    null,
    2,
  );
}

function asTable({ columns, rows, more, command }: Result): string {
  if (columns.length === 0) return command;
  const cell = (value: Shown | undefined): string | number => {
    if (typeof value === 'number') return value;
    const written =
      value === null || value === undefined
        ? ''
        : typeof value === 'object'
          ? JSON.stringify(value)
          : String(value);
    return written.length > CELL ? `${written.slice(0, CELL - 1)}…` : written;
  };
  const cut = more ? `the first ${ROWS} rows; --json prints all` : counted(rows.length, 'row');
  return `${table(
    columns,
    rows.map((row) => row.map(cell)),
  )}\n(${cut})`;
}

/** Reads statements from the terminal until its input ends. */
async function converse(session: ReadOnlySession, json: boolean): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: 'annal=> ' });
  let typed = '';
  let running = false;
  terminal.on('SIGINT', () => {
    if (running) void session.cancel().catch(() => undefined);
    else {
      typed = '';
      process.stdout.write('\n');
      terminal.prompt();
    }
  });
  process.stdout.write('Read-only SQL on the database of Annal. \\? for help, \\q to quit.\n');
  terminal.prompt();
  for await (const line of terminal) {
    const backslash = typed.trim() === '' && line.trim().startsWith('\\');
    if (backslash && line.trim() === '\\q') break;
    if (backslash && line.trim() === '\\?') process.stdout.write(`${HELP}\n`);
    const { complete, rest } =
      backslash && line.trim() !== '\\?'
        ? { complete: [line.trim()], rest: '' }
        : statementsIn(backslash ? '' : `${typed}${line}\n`);
    typed = rest;
    running = true;
    for (const statement of complete) {
      await show(session, statement, json).catch((error: unknown) =>
        process.stderr.write(`${toReadableError(error).message}\n`),
      );
    }
    running = false;
    terminal.setPrompt(typed === '' ? 'annal=> ' : 'annal-> ');
    terminal.prompt();
  }
  terminal.close();
}

/** Rewords a server error for the user; other errors are returned unchanged. */
function toReadableError(error: unknown): Error {
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error ? error : new Error(String(error));
  const place = error.position === undefined ? '' : ` (at character ${error.position})`;
  return new Failure([`${error.message}${place}`, error.hint].filter(Boolean).join('. '));
}
