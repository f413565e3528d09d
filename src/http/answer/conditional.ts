/** Versions in HTTP: ETag and Last-Modified, and reads on condition. https://hl7.org/fhir/R4/http.html#cread */
import fresh from 'fresh';
import type { Micros } from '#src/shared/time/time.ts';
import type { Answer } from './answer.ts';
import type { Header } from './authorship.ts';

/** Returns `W/"3"`. */
export const etag = (version: number): string => `W/"${version}"`;

/** Returns an HTTP date (RFC 9110, section 5.6.7): whole seconds. */
const httpDate = (micros: Micros): string => new Date(Math.floor(micros / 1000)).toUTCString();

/** Returns the headers of a version. */
export function versionHeaders(version: number, lastUpdated: Micros | undefined): Record<string, string> {
  if (lastUpdated === undefined) return { ETag: etag(version) };
  return { ETag: etag(version), 'Last-Modified': httpDate(lastUpdated) };
}

/**
 * Returns a 304 if the client's copy is current: by `If-None-Match` if present, else by `If-Modified-Since` to the
 * second (RFC 9110, section 13.2.2); otherwise undefined.
 */
export function notModified(header: Header, version: number, lastUpdated: Micros): Answer | undefined {
  const asked = {
    'if-none-match': header('if-none-match'),
    'if-modified-since': header('if-modified-since'),
  };
  // Most reads are unconditional: they make no headers here.
  if (asked['if-none-match'] === undefined && asked['if-modified-since'] === undefined) return undefined;
  const current = versionHeaders(version, lastUpdated);
  if (!fresh(asked, { etag: current.ETag, 'last-modified': current['Last-Modified'] })) return undefined;
  // Same headers as the 200 (RFC 9110, section 15.4.5).
  return { status: 304, headers: { Vary: 'Accept-Encoding', ...current }, lastUpdated };
}
