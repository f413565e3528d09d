/**
 * Checks that a client accepts FHIR JSON, under its own name or a generic one (https://hl7.org/fhir/R4/http.html#mime-type),
 * and reads the client's preferences (`Prefer`: https://hl7.org/fhir/R4/http.html#ops, RFC 7240).
 */
import { Refusal } from '#src/shared/refusal.ts';

const SERVED = new Set([
  '*/*',
  'application/*',
  'application/fhir+json',
  'application/json+fhir',
  'application/json',
  'text/json',
  'text/*',
]);
/** Values of `_format`. A plus sign that isn't percent-encoded arrives as a blank. */
const FORMATS = new Set([
  'json',
  'application/json',
  'text/json',
  'application/fhir+json',
  'application/fhir json',
  'application/json+fhir',
  'application/json fhir',
]);
const ITEM = /^\s*([^;\s]+)\s*((?:;[^;]*)*)$/;

/** The FHIR interface's format, for error messages. */
const FHIR = 'application/fhir+json of FHIR R4';

/**
 * Checks that the client accepts the service's format. `_format` overrides `Accept`.
 * @param served the format to name in the error message.
 * @throws Refusal not_acceptable (406)
 */
export function negotiate(accept: string | undefined, format: string | null, served = FHIR): void {
  if (format !== null && format !== '') {
    if (!FORMATS.has(parametersOff(format))) throw notAcceptable('_format', served);
    return;
  }
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/fhir+json') return;
  if (!accept.split(',').some(isServed)) throw notAcceptable('Accept', served);
}

function parametersOff(format: string): string {
  const end = format.indexOf(';');
  return (end < 0 ? format : format.slice(0, end)).trim().toLowerCase();
}

function isServed(item: string): boolean {
  const [, type = '', parameters = ''] = ITEM.exec(item) ?? [];
  if (!SERVED.has(type.toLowerCase())) return false;
  if (/;\s*q\s*=\s*0(?:\.0*)?\s*(?:;|$)/i.test(parameters)) return false;
  return isServedRelease(parameters);
}

/**
 * Returns whether a media type's parameters name R4, or name no release: https://hl7.org/fhir/R4/http.html#version-parameter
 */
export function isServedRelease(parameters: string): boolean {
  const release = /;\s*fhirVersion\s*=\s*"?([\d.]+)/i.exec(parameters)?.[1];
  return release === undefined || release === '4.0' || release === '4.0.1';
}

function notAcceptable(where: string, served: string): Refusal {
  return new Refusal('not_acceptable', {
    code: 'not-supported',
    diagnostics: `${where} must accept ${served}, the only format here`,
  });
}

/** The preferences that the service honours. */
export interface Prefer {
  readonly return?: 'minimal' | 'representation' | 'OperationOutcome';
  /** `strict`: unknown search parameters are refused. */
  readonly handling?: 'strict' | 'lenient';
}

const NONE: Prefer = {};
// Names are case-insensitive, values are case-sensitive (RFC 7240, section 2).
const RETURN = /(?:^|[;,\s])[Rr][Ee][Tt][Uu][Rr][Nn]\s*=\s*"?(minimal|representation|OperationOutcome)\b/;
const HANDLING = /(?:^|[;,\s])[Hh][Aa][Nn][Dd][Ll][Ii][Nn][Gg]\s*=\s*"?(strict|lenient)\b/;

/** Parses the `Prefer` header; unknown preferences are ignored, as RFC 7240 requires. */
export function parsePrefer(header: string | undefined): Prefer {
  if (header === undefined) return NONE;
  const wanted = RETURN.exec(header)?.[1] as Prefer['return'];
  const handling = HANDLING.exec(header)?.[1] as Prefer['handling'];
  return {
    ...(wanted === undefined ? {} : { return: wanted }),
    ...(handling === undefined ? {} : { handling }),
  };
}
