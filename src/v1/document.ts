/** Converts documents between REST v1 and DocumentReferences (docs/spec/decisions.md, section 4). Pure. */

import type { JsonObject } from '#src/shared/json/json.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { heldContents, listAttachments, openSlot } from '../fhir/document-content.ts';
import { LOINC, listIn, objectIn, present, shownConcept, textIn } from './elements.ts';

/**
 * LOINC document codes for each kind. Only the first code is written; all of them are read. A document with any other type, or
 * without a type, is `other`.
 */
const KIND_CODES = {
  lab_report: [
    ['11502-2', 'Laboratory report'],
    ['26436-6', 'Laboratory studies (set)'],
  ],
  discharge_summary: [
    ['18842-5', 'Discharge summary'],
    ['34105-7', 'Hospital Discharge summary'],
  ],
  prescription: [['57833-6', 'Prescription for medication']],
  imaging_report: [
    ['18748-4', 'Diagnostic imaging study'],
    ['68604-8', 'Radiology Diagnostic study note'],
  ],
  referral: [['57133-1', 'Referral note']],
  other: [['34109-9', 'Note']],
} as const;

/** A kind of document (docs/spec/interface.md, section 2.2). */
export type DocumentKind = keyof typeof KIND_CODES;

/** All kinds. */
export const DOCUMENT_KINDS = Object.keys(KIND_CODES) as [DocumentKind, ...DocumentKind[]];

/** Returns the LOINC codes that are read as the given kind. `other` has no codes, because it stands for every other code. */
export function codesOfKind(kind: Exclude<DocumentKind, 'other'>): readonly string[] {
  return KIND_CODES[kind].map(([code]) => code);
}

/** The codes of all kinds except `other`. */
export const KNOWN_CODES: readonly string[] = DOCUMENT_KINDS.flatMap((kind) =>
  kind === 'other' ? [] : codesOfKind(kind),
);

/** A document in a request. */
export interface GivenDocument {
  readonly title: string;
  readonly kind: DocumentKind;
  readonly content_type: string;
  readonly date?: string | undefined;
  readonly description?: string | undefined;
}

/** A document in an answer. */
export interface ShownDocument {
  readonly title: string | null;
  readonly kind: DocumentKind;
  readonly content_type: string | null;
  readonly date: string | null;
  readonly description: string | null;
  readonly status: 'pending' | 'final';
  readonly size: number | null;
  readonly sha256: string | null;
}

/**
 * Returns a new DocumentReference without content.
 * @param subject `Patient/<id>`
 */
export function toDocument(given: GivenDocument, subject: string): JsonObject {
  const { title, kind, content_type, date, description } = given;
  const [[code, display]] = KIND_CODES[kind];
  return {
    resourceType: 'DocumentReference',
    status: 'current',
    docStatus: 'preliminary',
    type: { coding: [{ system: LOINC, code, display }], text: display },
    subject: { reference: subject },
    // Set because searches use this element; the attachment contains only the day.
    ...present({ date: date === undefined ? undefined : `${date}T00:00:00Z`, description }),
    content: [{ attachment: present({ contentType: content_type, title, creation: date }) }],
  };
}

/**
 * Returns a DocumentReference in the form that v1 shows. The attachment shown is the one whose bytes are stored here, or
 * otherwise the first.
 */
export function shownDocument(document: JsonObject): ShownDocument {
  const id = String(document.id);
  const [held] = heldContents(document, id);
  const attachment = held?.attachment ?? listAttachments(document)[0] ?? {};
  const size = held?.size ?? attachment.size;
  const date = textIn(attachment.creation) ?? textIn(document.date);
  const complete = held !== undefined || openSlot(document) === undefined;
  return {
    title: textIn(attachment.title) ?? shownConcept(document.type, LOINC).display,
    kind: readDocumentKind(document),
    content_type: textIn(attachment.contentType),
    date: date === null ? null : dayIn(date),
    description: textIn(document.description),
    status: complete ? 'final' : 'pending',
    size: typeof size === 'number' ? size : null,
    sha256: held?.sha256 ?? null,
  };
}

function readDocumentKind({ type }: JsonObject): DocumentKind {
  const codes = listIn(objectIn(type).coding)
    .filter(({ system }) => system === LOINC)
    .map(({ code }) => code);
  const known = DOCUMENT_KINDS.find(
    (kind) => kind !== 'other' && codesOfKind(kind).some((code) => codes.includes(code)),
  );
  return known ?? 'other';
}
