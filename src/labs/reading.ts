/** The context for reading a message's parts. */
import type { Message } from './hl7v2/message.ts';
import { readMoment, readZone } from './hl7v2/time.ts';
import type { Notes } from './labs.ts';
import { fhirTime } from './times.ts';
import type { Zone } from './zones.ts';

/** The context of one message. */
export interface Reading {
  /** `Patient/<id>`. */
  readonly subject: string;
  /**
   * The sender: the sending facility, otherwise the sending application, otherwise the source that the importer names; empty
   * if unknown.
   */
  readonly sender: string;
  /** Offset for times without one, or the time zone of these times. */
  readonly zone: string | Zone | undefined;
  /** When the message was created, if the message states that time to the second. */
  readonly sent: string | undefined;
  readonly notes: Notes;
}

/**
 * Reads the header.
 * @param source name of the source system, used if the message names no sender
 * @param named the time zone that the importer names, used if the message states no offset
 */
export function readHeader(
  { header }: Message,
  subject: string,
  source: string,
  notes: Notes,
  named?: Zone,
): Reading {
  const made = header.part(7);
  const zone = readZone(made) ?? named;
  return {
    subject,
    sender: header.part(4) || header.part(3) || source,
    zone,
    sent: fhirTime(readMoment(made, zone)?.iso, 'instant'),
    notes,
  };
}
