/** Parses the reason why a person reads production records. Each record's access log shows the reason (docs/gateway.md). */
import { Refusal } from '#src/shared/refusal.ts';

/** Percent-encoded UTF-8. */
export const REASON_HEADER = 'X-Service-Reason';
/** Minimum and maximum length of a reason, in characters. */
const LENGTH = { least: 3, most: 200 };

/**
 * Returns a reason on one line.
 * @throws Refusal malformed (400) if it is missing, malformed, too short or too long
 */
export function parseReason(text: string): string {
  const reason = decodeReason(text);
  if (reason !== undefined && reason.length >= LENGTH.least && reason.length <= LENGTH.most) return reason;
  throw new Refusal('malformed', {
    code: 'value',
    diagnostics: `${REASON_HEADER} must say why records of production are needed, in ${LENGTH.least} to ${LENGTH.most} characters (UTF-8, percent-encoded); the patient can read it`,
    expression: `http.${REASON_HEADER.toLowerCase()}`,
  });
}

function decodeReason(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
      .replace(/[\s\p{C}]+/gu, ' ')
      .trim();
  } catch {
    return undefined;
  }
}
