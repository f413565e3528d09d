/** Reads tables from text files: CSV (RFC 4180) with commas, semicolons or tabs, and the tab-separated files of SNOMED CT. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';

/** Thrown for a file with invalid content. The message names the file, line and column. */
export class BadFile extends Error {
  override readonly name = 'BadFile';
}

/** A row. Columns are named as in the heading, in upper or lower case. */
export interface TableRow {
  /** Line number in the file, from 1. */
  readonly line: number;
  /** Returns a column's text without surrounding blanks; empty if the file doesn't have that column. */
  get(column: string): string;
  /**
   * Returns a required column's text.
   * @throws BadFile if it is empty
   */
  need(column: string): string;
  /** Returns the error for a column in this row. */
  fault(column: string, says: string): BadFile;
}

/** A file whose heading has been read. */
export interface Table {
  readonly path: string;
  /** Names in the heading, in lower case. */
  readonly heading: readonly string[];
  /**
   * Yields the rows.
   * @param read called with the number of bytes in each piece that is read
   */
  rows(read?: (bytes: number) => void): AsyncGenerator<TableRow>;
}

/** Maximum size of a file's heading, in bytes. */
const HEADING_BYTES = 64 * 1024;

/**
 * Opens a file and reads its heading.
 * @throws BadFile if the file can't be read, is empty, or isn't UTF-8
 */
export async function openTable(path: string): Promise<Table> {
  const first = await firstLine(path);
  const delimiter = ['\t', ';', ','].sort((a, b) => first.split(b).length - first.split(a).length)[0] ?? ',';
  // RF2 has no quoting, so a quotation mark is ordinary text.
  const quote = delimiter === '\t' ? false : '"';
  const heading = first.split(delimiter).map((name) => name.trim().replace(/^"|"$/g, '').toLowerCase());
  return { path, heading, rows: (read) => readRows(path, { delimiter, quote, heading }, read) };
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

async function* readRows(path: string, form: Form, read?: (bytes: number) => void): AsyncGenerator<TableRow> {
  const { heading } = form;
  const at = new Map(heading.map((name, index) => [name, index]));
  const texts = readTexts(path, read);
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
    yield makeRow(path, line, at, record);
  }
}

/**
 * Yields the file's text in pieces.
 * @throws BadFile if the file isn't UTF-8
 */
async function* readTexts(path: string, read?: (bytes: number) => void): AsyncGenerator<string> {
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
  /** The line on which the record ends. */
  readonly line: number;
}

/** Yields records of one line each, as in RF2 files, which have millions of them. */
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

/**
 * Yields CSV records, whose fields may contain delimiters and line ends.
 * @throws BadFile
 */
async function* quoted(path: string, texts: AsyncIterable<string>, form: Form): AsyncGenerator<Fields> {
  const parser = parse({
    delimiter: form.delimiter,
    quote: form.quote,
    info: true,
    skip_empty_lines: true,
    relax_column_count: true,
    // A quotation mark in an unquoted field is ordinary text.
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

function makeRow(
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

/**
 * Checks that a table has the given columns.
 * @throws BadFile naming the missing columns
 */
export function needColumns({ path, heading }: Table, ...columns: readonly string[]): void {
  const missing = columns.filter((column) => !heading.includes(column.toLowerCase()));
  if (missing.length === 0) return;
  throw new BadFile(
    `${basename(path)}, line 1: the heading lacks ${missing.join(', ')} (it has ${heading.slice(0, 8).join(', ')}${heading.length > 8 ? ', …' : ''})`,
  );
}
