/** Parses messages: HL7 v2 chapter 2, "Message construction". Tolerates common deviations. */
import { findCharset, makeDecoder } from './charset.ts';
import { type Delimiters, noMessage, readDelimiters } from './delimiters.ts';
import { type Decode, unescapeText } from './escapes.ts';

/** A message's delimiters and decoder. */
interface Reading {
  readonly delimiters: Delimiters;
  readonly decode: Decode;
}

/** One repetition of a field. */
export class Field {
  constructor(
    readonly raw: string,
    readonly reading: Reading,
  ) {}

  /** Returns a component's subcomponent, trimmed; empty if absent. Both numbers count from 1. `""` counts as empty. */
  part(component: number, subcomponent = 1): string {
    const { delimiters } = this.reading;
    const of = this.raw.split(delimiters.component, component)[component - 1] ?? '';
    const parts =
      delimiters.subcomponent === undefined ? [of] : of.split(delimiters.subcomponent, subcomponent);
    return this.#plain(parts[subcomponent - 1] ?? '');
  }

  /** Returns the whole field as one text, with blanks between components. */
  get text(): string {
    const { component, subcomponent } = this.reading.delimiters;
    const parts = this.raw.split(component).flatMap((one) => one.split(subcomponent ?? component));
    return parts
      .filter((part) => part !== '')
      .map((part) => this.#plain(part))
      .filter((part) => part !== '')
      .join(' ');
  }

  /**
   * Returns whether the field contains only delimiters. `""` counts as a value: chapter 2, "Field", distinguishes null from
   * not valued.
   */
  get isUnvalued(): boolean {
    const { component, subcomponent = component } = this.reading.delimiters;
    for (const sign of this.raw)
      if (sign !== component && sign !== subcomponent && sign.trim() !== '') return false;
    return true;
  }

  /** Returns the field including its component delimiters, for fields that are a single text. */
  get whole(): string {
    return this.#plain(this.raw);
  }

  #plain(text: string): string {
    const plain = unescapeText(text, this.reading.delimiters, this.reading.decode).trim();
    return plain === '""' ? '' : plain;
  }
}

/** A line of a message. */
export class Segment {
  /**
   * @param at the segment's number among the segments with the same name, from 1
   * @param fields raw; the first is number 1
   */
  constructor(
    readonly name: string,
    readonly at: number,
    readonly fields: readonly string[],
    readonly reading: Reading,
  ) {}

  /** Returns the segment's place as named in messages to the sender, such as `OBX[3]`. */
  get place(): string {
    return `${this.name}[${this.at}]`;
  }

  /**
   * Returns the repetitions of a field that have content.
   * @throws Refusal invalid (422) if there are too many
   */
  all(field: number): Field[] {
    const raw = this.fields[field - 1] ?? '';
    const { repetition } = this.reading.delimiters;
    const parts = repetition === undefined ? [raw] : raw.split(repetition, MOST_REPETITIONS + 1);
    if (parts.length > MOST_REPETITIONS)
      throw noMessage(`${this.place}-${field} has more than ${MOST_REPETITIONS} repetitions`, 'too-long');
    return parts.filter((part) => part !== '').map((part) => new Field(part, this.reading));
  }

  /** Returns the first repetition of a field; an empty field if there is none. */
  first(field: number): Field {
    return this.all(field)[0] ?? new Field('', this.reading);
  }

  /** Returns a component of a field's first repetition. */
  part(field: number, component = 1, subcomponent = 1): string {
    return this.first(field).part(component, subcomponent);
  }
}

/** A message: its segments in order, the header first. */
export interface Message {
  readonly header: Segment;
  readonly segments: readonly Segment[];
}

/** Names of the segments that enclose the messages in a file or batch. */
const AROUND = new Set(['FHS', 'BHS', 'BTS', 'FTS']);
/** Matches a segment's name and the character after it. */
const NAME = /^([A-Z][A-Z0-9]{2})(.)/su;
/** The maximum number of lines in a text, and of repetitions in a field. */
const MOST_SEGMENTS = 20_000;
const MOST_REPETITIONS = 5_000;
/** The maximum number of fields in a segment: the longest segment in the standard has fewer than a hundred. */
const MOST_FIELDS = 500;

/**
 * Parses the messages in a text. Lines end with CR, LF or both; a byte order mark and MLLP frames are removed; a line that
 * isn't a segment continues the previous line.
 * @throws Refusal invalid (422) for a text that isn't a message
 */
export function parseMessages(text: string): Message[] {
  const messages: Lines[] = [];
  let lines = 0;
  for (const line of text.replace(/^\uFEFF/, '').split(/[\r\n\x0b\x1c]+/, MOST_SEGMENTS + 2)) {
    const [, name, next] = NAME.exec(line.trimStart()) ?? [];
    const current = messages.at(-1);
    if (name === 'MSH' && next !== undefined) messages.push({ lines: [line.trimStart()] });
    else if (current === undefined) {
      if (line.trim() !== '' && !AROUND.has(name ?? ''))
        throw noMessage('not an HL7 v2 message: it does not begin with MSH');
    } else if (name !== undefined && next === current.lines[0]?.charAt(3)) {
      if (!AROUND.has(name)) current.lines.push(line.trimStart());
    } else if (line.trim() !== '') join(current, `\n${line}`);
    lines += 1;
    if (lines > MOST_SEGMENTS) throw noMessage(`it has more than ${MOST_SEGMENTS} lines`, 'too-long');
  }
  if (messages.length === 0) throw noMessage('not an HL7 v2 message: it has no MSH', 'required');
  return messages.map(makeMessage);
}

interface Lines {
  readonly lines: string[];
}

/** Appends a continuation line. */
function join({ lines }: Lines, more: string): void {
  lines.push((lines.pop() ?? '') + more);
}

function makeMessage({ lines: [first = '', ...rest] }: Lines): Message {
  const delimiters = readDelimiters(first);
  const bare: Reading = { delimiters, decode: makeDecoder() };
  // Field 1 of the header is the delimiter itself.
  const fields = [delimiters.field, ...first.split(delimiters.field, MOST_FIELDS).slice(1)];
  const name = new Segment('MSH', 1, fields, bare).part(18);
  const reading: Reading = { delimiters, decode: makeDecoder(findCharset(name)) };
  const header = new Segment('MSH', 1, fields, reading);
  const seen = new Map<string, number>();
  const segments = [header];
  for (const line of continued(rest, delimiters)) {
    const [of = '', ...own] = line.split(delimiters.field, MOST_FIELDS + 2);
    if (own.length > MOST_FIELDS)
      throw noMessage(`a segment has more than ${MOST_FIELDS} fields`, 'too-long');
    const at = (seen.get(of) ?? 0) + 1;
    seen.set(of, at);
    segments.push(new Segment(of, at, own, reading));
  }
  return { header, segments };
}

/** Joins ADD segments with the last field of the previous segment (chapter 2, "Continuation messages and segments"). */
function continued(lines: readonly string[], { field }: Delimiters): string[] {
  const whole: string[] = [];
  for (const line of lines) {
    if (line.startsWith(`ADD${field}`) && whole.length > 0) whole.push(whole.pop() + line.slice(4));
    else whole.push(line);
  }
  return whole;
}
