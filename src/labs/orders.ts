/** Groups the segments of an ORU message: HL7 v2 chapter 7, "ORU – unsolicited observation message". */
import type { Message, Segment } from './hl7v2/message.ts';
import type { Notes } from './labs.ts';
import { isText } from './value.ts';

/** A result: one OBX, or several OBX segments that are lines of the same text. */
export interface Result {
  readonly obx: Segment;
  /** OBX segments that continue the text of `obx`. */
  readonly more: Segment[];
  readonly notes: Segment[];
}

/** An order and its results. */
export interface Order {
  /** Undefined for results without an order. */
  readonly obr: Segment | undefined;
  readonly orc: Segment | undefined;
  readonly notes: Segment[];
  readonly results: Result[];
  readonly specimens: Segment[];
}

/** The groups of a message. */
export interface Groups {
  readonly patients: readonly Segment[];
  readonly orders: readonly Order[];
}

/** Names of segments that say nothing about the results, their patient or their specimen. */
const ELSEWHERE = new Set(
  'SFT UAC PD1 NK1 PV1 PV2 ARV PRT TQ1 TQ2 CTD FT1 CTI DSC MSA ERR QAK QRD QRF OVR'.split(' '),
);

/** Puts segments into groups, and notes those that don't belong to any. */
export function groupSegments({ segments }: Message, notes: Notes): Groups {
  const patients: Segment[] = [];
  const orders: Order[] = [];
  let orc: Segment | undefined;
  /** The list to which comments (NTE) are added. */
  let noted: Segment[] = [];
  const current = (): Order => {
    const last = orders.at(-1);
    if (last !== undefined) return last;
    const order: Order = { obr: undefined, orc, notes: [], results: [], specimens: [] };
    orders.push(order);
    return order;
  };
  for (const segment of segments) {
    switch (segment.name) {
      case 'MSH':
        break;
      case 'PID':
        patients.push(segment);
        noted = [];
        break;
      case 'ORC':
        orc = segment;
        noted = [];
        break;
      case 'OBR':
        orders.push({ obr: segment, orc, notes: [...noted], results: [], specimens: [] });
        orc = undefined;
        noted = current().notes;
        break;
      case 'OBX':
        noted = addResult(current(), segment);
        break;
      case 'SPM':
        current().specimens.push(segment);
        noted = current().notes;
        break;
      case 'NTE':
        noted.push(segment);
        if (orders.length === 0)
          notes.warn(segment.place, 'a note on the patient is added to the first order');
        break;
      default:
        if (!ELSEWHERE.has(segment.name)) notes.warn(segment.place, 'the segment is ignored');
    }
  }
  return { patients, orders };
}

/**
 * Adds an OBX; lines of one text become one result.
 * @returns the list to which comments on the result are added
 */
function addResult({ results }: Order, obx: Segment): Segment[] {
  const before = results.at(-1);
  if (before !== undefined && goesOn(before, obx)) {
    before.more.push(obx);
    return before.notes;
  }
  const result: Result = { obx, more: [], notes: [] };
  results.push(result);
  return result.notes;
}

/** Returns whether an OBX continues the text of a result: some systems send each line as a separate OBX. */
function goesOn({ obx, more, notes }: Result, next: Segment): boolean {
  const type = obx.part(2).toUpperCase();
  if (type === 'ST' || !isText(type) || type === '' || notes.length > 0) return false;
  const readField = (segment: Segment, field: number): string => segment.fields[field - 1] ?? '';
  if (readField(next, 2) !== readField(obx, 2)) return false;
  // Later lines may leave out what the first line states, and OBX-4 may number the lines from 1.
  if (
    [3, 11].some((field) => readField(next, field) !== '' && readField(next, field) !== readField(obx, field))
  )
    return false;
  const numbered = [obx, ...more, next].every((segment, at) => readField(segment, 4) === String(at + 1));
  return numbered || [...more, next].every((segment) => readField(segment, 4) === readField(obx, 4));
}
