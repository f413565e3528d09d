/** Tables in text files: CSV (RFC 4180) with commas, semicolons or tabs, and SNOMED CT's tab-separated files. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';

/** A file that is not what it should be: the message names file, line and column. */
export class BadFile extends Error {
  override readonly name = 'BadFile';
}

/** A row, by the names in the heading; letters' case does not count there. */
export interface TableRow {
  /** From 1, of the file. */
  readonly line: number;
  /** A column's text without blanks around it; empty for a column that the file does not have. */
  get(column: string): string;
  /** The same of a column that must be filled. @throws BadFile */
  need(column: string): string;
  /** A fault of a column of this row. */
  fault(column: string, says: string): BadFile;
}

/** A file with its heading read. */
export interface Table {
  readonly path: string;
  /** Names in the heading, lower case. */
  readonly heading: readonly string[];
  /** @param read is told how many bytes were read, as they are. */
  rows(read?: (bytes: number) => void): AsyncGenerator<TableRow>;
}

/** How much of a file its heading may take. */
const HEADING_BYTES = 64 * 1024;

/**
 * Opens a file and reads its heading.
 * @throws BadFile if it can't be read, is empty or isn't UTF-8
 */
export async function openTable(path: string): Promise<Table> {
  const first = await firstLine(path);
  const delimiter = ['\t', ';', ','].sort((a, b) => first.split(b).length - first.split(a).length)[0] ?? ',';
  // RF2 quotes nothing: a quotation mark there is text.
  const quote = delimiter === '\t' ? false : '"';
  const heading = first.split(delimiter).map((name) => name.trim().replace(/^"|"$/g, '').toLowerCase());
  return { path, heading, rows: (read) => rowsOf(path, { delimiter, quote, heading }, read) };
}

async function firstLine(path: string): Promise<string> {
  const file = await open(path).catch((error: Error) => {
    throw new BadFile(`${path} cannot be read: ${error.message}`);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADING_BYTES), 0, HEADING_BYTES, 0);
    const text = buffer
      .subarray(0, bytesRead)
      .toString('utf8')
      .replace(/^\uFEFF/, '');
    const [line = ''] = text.split(/\r?\n/);
    if (line.trim() === '') throw new BadFile(`${basename(path)}, line 1: the heading is missing`);
    if (text.startsWith('PK\u0003\u0004'))
      throw new BadFile(`${basename(path)} is a ZIP file; unpack it first`);
    return line;
  } catch (error) {
    if (error instanceof BadFile) throw error;
    throw new BadFile(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await file.close();
  }
}

interface Form {
  readonly delimiter: string;
  readonly quote: string | false;
  readonly heading: readonly string[];
}

async function* rowsOf(path: string, form: Form, read?: (bytes: number) => void): AsyncGenerator<TableRow> {
  const { heading } = form;
  const at = new Map(heading.map((name, index) => [name, index]));
  const texts = textsOf(path, read);
  let first = true;
  for await (const { record, line } of form.quote === false
    ? plain(texts, form.delimiter)
    : quoted(path, texts, form)) {
    if (first) {
      first = false;
      continue;
    }
    if (record.length !== heading.length) {
      const says = `it has ${record.length} columns, the heading ${heading.length}`;
      throw new BadFile(`${basename(path)}, line ${line}: ${says}`);
    }
    yield rowOf(path, line, at, record);
  }
}

/**
 * Yields the file's text in pieces.
 * @throws BadFile if it isn't UTF-8
 */
async function* textsOf(path: string, read?: (bytes: number) => void): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (chunk?: Buffer): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw new BadFile(`${basename(path)} is not UTF-8`);
    }
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    read?.(chunk.length);
    yield decode(chunk);
  }
  yield decode();
}

interface Fields {
  readonly record: readonly string[];
  /** Where it ends. */
  readonly line: number;
}

/** Records that are lines: what RF2 has, millions of them. */
async function* plain(texts: AsyncIterable<string>, delimiter: string): AsyncGenerator<Fields> {
  let line = 0;
  let rest = '';
  for await (const text of texts) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const each of lines) {
      line += 1;
      if (each !== '' && each !== '\r') yield { record: each.split(delimiter), line };
    }
  }
  if (rest !== '') yield { record: rest.split(delimiter), line: line + 1 };
}

/** Records of CSV, whose fields may hold the delimiter and line ends. @throws BadFile */
async function* quoted(path: string, texts: AsyncIterable<string>, form: Form): AsyncGenerator<Fields> {
  const parser = parse({
    delimiter: form.delimiter,
    quote: form.quote,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
    // A quotation mark within a field that is not quoted is text.
    relax_quotes: true,
  });
  const source = Readable.from(texts);
  source.on('error', (error) => parser.destroy(error));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: string[];
      info: { lines: number };
    }>)
      yield { record, line: info.lines };
  } catch (error) {
    if (error instanceof CsvError) throw new BadFile(`${basename(path)}: ${error.message}`);
    throw error;
  } finally {
    source.destroy();
  }
}

function rowOf(
  path: string,
  line: number,
  at: ReadonlyMap<string, number>,
  record: readonly string[],
): TableRow {
  const get = (column: string): string => record[at.get(column.toLowerCase()) ?? -1]?.trim() ?? '';
  const fault = (column: string, says: string) =>
    new BadFile(`${basename(path)}, line ${line}, column ${column}: ${says}`);
  return {
    line,
    get,
    fault,
    need(column) {
      const value = get(column);
      if (value === '') throw fault(column, 'it must not be empty');
      return value;
    },
  };
}

/** Makes sure that a table has columns. @throws BadFile naming those that it lacks */
export function needColumns({ path, heading }: Table, ...columns: readonly string[]): void {
  const missing = columns.filter((column) => !heading.includes(column.toLowerCase()));
  if (missing.length === 0) return;
  throw new BadFile(
    `${basename(path)}, line 1: the heading lacks ${missing.join(', ')} (it has ${heading.slice(0, 8).join(', ')}${heading.length > 8 ? ', …' : ''})`,
  );
}
