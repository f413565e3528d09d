/** Converts HL7 v2 ORU messages to FHIR resources. Pure. */

import { cut } from '#src/shared/cut.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { noMessage } from './hl7v2/delimiters.ts';
import { type Message, parseMessages } from './hl7v2/message.ts';
import { type Draft, type Labs, Notes } from './labs.ts';
import { groupSegments } from './orders.ts';
import { refusePatient, requireOnePatient, requirePatient } from './patient.ts';
import { readHeader } from './reading.ts';
import { orderDrafts } from './report.ts';
import type { Zone } from './zones.ts';

/** The patient and the source that an import concerns. */
export interface ImportContext {
  /** The Patient of the record. */
  readonly patient: JsonObject;
  /** `Patient/<id>`. */
  readonly subject: string;
  /** Name of the source system; empty if unknown. */
  readonly source: string;
  /** True (the default) if a PID may be compared with the Patient. */
  readonly mayRead?: boolean;
  /** The time zone for times where neither the field nor MSH-7 states an offset. */
  readonly zone?: Zone | undefined;
}

/** Versions that are read as the standard specifies. */
const VERSION = /^2\.[3-8](?:\.\d)?$/;

/**
 * Reads messages about one patient, one result per step.
 * @throws Refusal invalid (422) for a text that isn't an ORU message, for messages about several patients, and for a PID that
 *   contradicts the Patient; forbidden (403) for a PID that can't be compared because the scope `read` is missing
 */
export function* labsOfMessage(
  text: string,
  { patient, subject, source, mayRead = true, zone }: ImportContext,
): Steps<Labs> {
  const notes = new Notes();
  const messages = parseMessages(text);
  for (const message of messages) requireOru(message);
  const groups = messages.map((message) => ({ message, ...groupSegments(message, notes) }));
  const patients = groups.flatMap((one) => one.patients);
  if (!mayRead) for (const pid of patients) refusePatient(pid);
  requireOnePatient(patients);
  for (const pid of patients) requirePatient(pid, patient, notes);
  if (patients.length === 0) notes.warn('', 'the PID segment is missing, which identifies the patient');
  // A result may occur in several messages: all of its reports are applied, in order.
  const told = new Map<string, Draft[]>();
  for (const { message, orders } of groups) {
    noteHeader(message, notes);
    const reading = readHeader(message, subject, source, notes, zone);
    const parents = new Map<string, string>();
    for (const order of orders)
      for (const draft of yield* orderDrafts(order, message.header.part(10), parents, reading)) {
        const name = `${draft.type} ${draft.key}`;
        const said = told.get(name);
        if (said === undefined) told.set(name, [draft]);
        else said.push(draft);
      }
    if (orders.length === 0) notes.warn('', 'the message has no results');
  }
  const [first] = messages;
  const sender = first === undefined ? '' : first.header.part(4) || first.header.part(3);
  const drafts = [...told.values()].flatMap(lastDrafts);
  return { drafts, ...notes.told, ...(sender === '' ? {} : { source: sender }) };
}

/** Returns the last draft of each result, with its earlier drafts in `before`. */
function lastDrafts(said: readonly Draft[]): Draft[] {
  const last = said.at(-1);
  if (last === undefined) return [];
  return [said.length === 1 ? last : { ...last, before: said.slice(0, -1) }];
}

function requireOru({ header, segments }: Message): void {
  const type = header.part(9);
  if (type !== 'ORU') {
    const told = cut([type, header.part(9, 2)].filter((part) => part !== '').join('^'), 20);
    throw noMessage(
      `the message type is ${told === '' ? 'missing' : told}; it must be ORU^R01`,
      'not-supported',
    );
  }
  if (segments.length === 1)
    throw noMessage('the message has only an MSH line: its line ends (CR, LF or both) were lost');
  if (segments.some((segment) => segment.name === 'DSC' && segment.part(1) !== ''))
    throw noMessage('the message continues in another one (DSC); send it as one message', 'not-supported');
}

function noteHeader({ header }: Message, notes: Notes): void {
  const version = header.part(12);
  if (version !== '' && !VERSION.test(version))
    notes.warn('', `version ${cut(version, 10)} is not one of 2.3 to 2.8; it is read like those`);
  const processing = header.part(11).toUpperCase();
  if (processing === 'T' || processing === 'D')
    notes.warn('', `MSH-11 is ${processing}: this is not a production message`);
}
