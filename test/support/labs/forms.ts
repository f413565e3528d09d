/** The corpus: various forms of messages, and the expected results (`expected.txt`, with the same names in the same order). */
import { readFileSync } from 'node:fs';
import { decodeBytes } from '#src/labs/hl7v2/charset.ts';
import type { Labs } from '#src/labs/labs.ts';
import { labsOfMessage } from '#src/labs/message.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { FRAMING } from './framing.ts';
import { ORDERS } from './orders.ts';
import { type Form, PATIENT } from './parts.ts';
import { VALUES } from './values.ts';

/** All forms. */
export const FORMS: readonly Form[] = [...FRAMING, ...VALUES, ...ORDERS];

/** Returns the expected result of each form, by name. */
export function expectedForms(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL('expected.txt', import.meta.url), 'utf8');
  return new Map(
    text
      .split(/^### /mu)
      .slice(1)
      .map((part) => {
        const [name = '', ...lines] = part.trimEnd().split('\n');
        return [name, lines.map((line) => line.trim())];
      }),
  );
}

/**
 * Reads a message for the patient, from bytes or text.
 * @throws Refusal if the message is refused
 */
export function labsOf(text: string | Buffer): Labs {
  const decoded = typeof text === 'string' ? { text, warnings: [] } : decodeBytes(text);
  const labs = atOnce(labsOfMessage(decoded.text, { patient: PATIENT, subject: 'Patient/p', source: '' }));
  return { ...labs, warnings: [...decoded.warnings, ...labs.warnings, ...labs.compared] };
}
