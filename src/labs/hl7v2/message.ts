/** Messages in their parts: HL7 v2 chapter 2, "Message construction". As forgiving as what is really sent needs. */
import { decoderOf, labelOf } from './charset.ts';
import { type Delimiters, delimitersOf, noMessage } from './delimiters.ts';
import { type Decode, unescapeText } from './escapes.ts';

/** How the texts of a message are read. */
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

  /** A component's subcomponent, both from 1, without blanks around it; empty when it is not there. `""` is empty, too. */
  part(component: number, subcomponent = 1): string {
    const { delimiters } = this.reading;
    const of = this.raw.split(delimiters.component, component)[component - 1] ?? '';
    const parts =
      delimiters.subcomponent === undefined ? [of] : of.split(delimiters.subcomponent, subcomponent);
    return this.#plain(parts[subcomponent - 1] ?? '');
  }

  /** All of it as one text; components are parted by blanks. */
  get text(): string {
    const { component, subcomponent } = this.reading.delimiters;
    const parts = this.raw.split(component).flatMap((one) => one.split(subcomponent ?? component));
    return parts
      .filter((part) => part !== '')
      .map((part) => this.#plain(part))
      .filter((part) => part !== '')
      .join(' ');
  }

  /** Whether nothing stands in it but delimiters. `""` is something: chapter 2, "Field", parts null from not valued. */
  get isUnvalued(): boolean {
    const { component, subcomponent = component } = this.reading.delimiters;
    for (const sign of this.raw)
      if (sign !== component && sign !== subcomponent && sign.trim() !== '') return false;
    return true;
  }

  /** All of it, delimiters of components included: of fields that are one text. */
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
  /** @param at its place among the segments of its name, from 1. @param fields as they stand, the first is number 1. */
  constructor(
    readonly name: string,
    readonly at: number,
    readonly fields: readonly string[],
    readonly reading: Reading,
  ) {}

  /** `OBX[3]`, for who sent the message. */
  get place(): string {
    return `${this.name}[${this.at}]`;
  }

  /** The repetitions of a field that hold anything. @throws Refusal invalid (422) when there are too many */
  all(field: number): Field[] {
    const raw = this.fields[field - 1] ?? '';
    const { repetition } = this.reading.delimiters;
    const parts = repetition === undefined ? [raw] : raw.split(repetition, MOST_REPETITIONS + 1);
    if (parts.length > MOST_REPETITIONS)
      throw noMessage(`${this.place}-${field} has more than ${MOST_REPETITIONS} repetitions`, 'too-long');
    return parts.filter((part) => part !== '').map((part) => new Field(part, this.reading));
  }

  /** The first repetition of a field; an empty one when it is not there. */
  first(field: number): Field {
    return this.all(field)[0] ?? new Field('', this.reading);
  }

  /** A component of a field's first repetition. */
  part(field: number, component = 1, subcomponent = 1): string {
    return this.first(field).part(component, subcomponent);
  }
}

/** A message: its segments in their order, the header first. */
export interface Message {
  readonly header: Segment;
  readonly segments: readonly Segment[];
}

/** Segments of files and batches, around messages. */
const AROUND = new Set(['FHS', 'BHS', 'BTS', 'FTS']);
/** The name, and the character after it. */
const NAME = /^([A-Z][A-Z0-9]{2})(.)/su;
/** Most lines of a text, and repetitions of a field. */
const MOST_SEGMENTS = 20_000;
const MOST_REPETITIONS = 5_000;
/** Most fields of a segment: the standard's longest has fewer than a hundred. */
const MOST_FIELDS = 500;

/**
 * The messages of a text: lines end with CR, LF or both; a byte order mark and the frames of MLLP are taken off; a line
 * that is no segment goes on with the one before.
 * @throws Refusal invalid (422) for a text that is no message.
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
  return messages.map(messageOf);
}

interface Lines {
  readonly lines: string[];
}

/** A line that goes on. */
function join({ lines }: Lines, more: string): void {
  lines.push((lines.pop() ?? '') + more);
}

function messageOf({ lines: [first = '', ...rest] }: Lines): Message {
  const delimiters = delimitersOf(first);
  const bare: Reading = { delimiters, decode: decoderOf() };
  // Field 1 of the header is the delimiter itself.
  const fields = [delimiters.field, ...first.split(delimiters.field, MOST_FIELDS).slice(1)];
  const name = new Segment('MSH', 1, fields, bare).part(18);
  const reading: Reading = { delimiters, decode: decoderOf(labelOf(name)) };
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

/** ADD goes on with the last field of the segment before it (chapter 2, "Continuation messages and segments"). */
function continued(lines: readonly string[], { field }: Delimiters): string[] {
  const whole: string[] = [];
  for (const line of lines) {
    if (line.startsWith(`ADD${field}`) && whole.length > 0) whole.push(whole.pop() + line.slice(4));
    else whole.push(line);
  }
  return whole;
}
