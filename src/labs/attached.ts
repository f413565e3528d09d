/**
 * Converts files within results (OBX-5 of type ED and RP) to DocumentReferences:
 * https://hl7.org/fhir/R4/documentreference.html
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '#src/shared/json/json.ts';
import { isMediaType } from '../fhir/validation/primitives.ts';
import { LOINC, listIn, present } from '../v1/elements.ts';
import { readCodes } from './codes.ts';
import type { Field, Segment } from './hl7v2/message.ts';
import { makeIdentifier } from './labs.ts';
import { joinNotes, listed } from './observation.ts';
import type { Result } from './orders.ts';
import type { Reading } from './reading.ts';
import { observationStatus } from './status.ts';

/** Properties of a document that come from its order. */
export interface OfReport {
  readonly key: string;
  /** A FHIR instant. */
  readonly date: string | undefined;
  /** Reference to the DiagnosticReport. */
  readonly report: string | undefined;
}

/** Types in HL7 table 0191 → top-level media types. */
const MAJOR: Readonly<Record<string, string>> = {
  AP: 'application',
  IM: 'image',
  AU: 'audio',
  FT: 'text',
  TX: 'text',
};
const MAJOR_TYPES = ['application', 'image', 'audio', 'text', 'video', 'multipart'];
const DOC_STATUS: Readonly<Record<string, string>> = {
  amended: 'amended',
  corrected: 'amended',
  final: 'final',
  cancelled: 'entered-in-error',
  'entered-in-error': 'entered-in-error',
};

/** Returns whether a result is a file: embedded (ED), or at an address (RP). */
export function isAttached(obx: Segment): boolean {
  const type = obx.part(2).toUpperCase();
  if (type === 'ED') return true;
  return type === 'RP' && isAddress(obx.part(5));
}

function isAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text);
}

/** Returns a document that contains all files of a result. A document without files updates an earlier document. */
export function makeDocument({ obx, notes }: Result, of: OfReport, reading: Reading): JsonObject {
  const named = readCodes(obx.first(3), reading.sender);
  const own = listIn(named?.concept.coding);
  const title = named?.label ?? obx.place;
  const status = observationStatus(obx.part(11)) ?? 'final';
  const withdrawn = DOC_STATUS[status] === 'entered-in-error';
  const attachments = obx
    .all(5)
    .map((field) => (obx.part(2).toUpperCase() === 'RP' ? pointed(field) : embedded(field, obx, reading)));
  return {
    resourceType: 'DocumentReference',
    identifier: [makeIdentifier(of.key)],
    status: withdrawn ? 'entered-in-error' : 'current',
    docStatus: DOC_STATUS[status] ?? 'preliminary',
    type: {
      coding: [{ system: LOINC, code: '11502-2', display: 'Laboratory report' }, ...own],
      text: title,
    },
    subject: { reference: reading.subject },
    ...present({ date: of.date, description: joinNotes(notes) }),
    ...listed(
      'content',
      attachments.map((attachment) => ({ attachment: { ...attachment, title } })),
    ),
    ...(of.report === undefined ? {} : { context: { related: [{ reference: of.report }] } }),
  };
}

function pointed(field: Field): JsonObject {
  return { contentType: mediaType(field.part(3), field.part(4), ''), url: field.part(1) };
}

/** Parses `source^type^subtype^encoding^data`. */
function embedded(field: Field, obx: Segment, reading: Reading): JsonObject {
  const contentType = mediaType(field.part(2), field.part(3), obx.part(3, 2));
  const encoding = field.part(4).toUpperCase();
  const data = field.part(5);
  const compact = data.replaceAll(/\s+/g, '');
  if (encoding === 'HEX' && /^[0-9A-Fa-f]+$/.test(compact) && compact.length % 2 === 0)
    return attachment(contentType, Buffer.from(compact, 'hex'));
  if (encoding !== 'A' && encoding !== 'HEX' && isBase64(compact))
    return attachment(contentType, Buffer.from(compact, 'base64'));
  if (encoding !== 'A')
    reading.notes.warn(obx.place, "its payload is kept as text: it doesn't have the encoding it declares");
  const text = Buffer.from(encoding === 'A' && data !== '' ? data : field.whole);
  const isText = encoding === 'A' && contentType.startsWith('text/');
  return attachment(isText ? contentType : 'text/plain', text);
}

function isBase64(text: string): boolean {
  return text !== '' && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

function attachment(contentType: string, bytes: Buffer): JsonObject {
  const hash = createHash('sha1').update(bytes).digest('base64');
  return { contentType, data: bytes.toString('base64'), size: bytes.length, hash };
}

function mediaType(type: string, subtype: string, title: string): string {
  const pdf = /^pdf$/i.test(subtype) || /^pdf$/i.test(type) || (subtype === '' && /\bPDF\b/.test(title));
  if (pdf) return 'application/pdf';
  if (isMediaType(type.toLowerCase()) && type.includes('/')) return type.toLowerCase();
  const major = MAJOR[type.toUpperCase()] ?? type.toLowerCase();
  const named = `${major}/${subtype.toLowerCase()}`;
  if (MAJOR_TYPES.includes(major) && isMediaType(named)) return named;
  return major === 'text' ? 'text/plain' : 'application/octet-stream';
}
