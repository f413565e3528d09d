/**
 * The characters that separate the parts of a message. Each message defines its own: HL7 v2 chapter 2, "Message delimiters".
 */
import type { Issue } from '#src/shared/issue.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** One character for each delimiter; undefined if the message doesn't define it. */
export interface Delimiters {
  readonly field: string;
  readonly component: string;
  readonly repetition: string | undefined;
  readonly escape: string | undefined;
  readonly subcomponent: string | undefined;
}

/** Matches the printable characters that can be delimiters; characters that values consist of can't. */
const DELIMITER = /^[!-/:-@[-`{-~]$/;

/**
 * Reads the delimiters from a message header: `MSH|^~\&`. A fifth character, the truncation character of version 2.7, is not a
 * delimiter.
 * @throws Refusal invalid (422) if the header defines no delimiters, or the same one twice
 */
export function readDelimiters(header: string): Delimiters {
  const field = header.charAt(3);
  const end = header.indexOf(field, 4);
  const others = header.slice(4, end < 0 ? undefined : end).trimEnd();
  const [component, repetition, escaping, subcomponent] = others;
  const all = [field, component, repetition, escaping, subcomponent].filter((one) => one !== undefined);
  if (component === undefined || others.length > 5 || !all.every((one) => DELIMITER.test(one)))
    throw noMessage('the delimiters after MSH are invalid; expected for example |^~\\&');
  if (new Set(all).size < all.length) throw noMessage('two delimiters in MSH are the same character');
  return { field, component, repetition, escape: escaping, subcomponent };
}

/** Returns the refusal of a text that isn't a message. */
export function noMessage(diagnostics: string, code: Issue['code'] = 'structure'): Refusal {
  return new Refusal('invalid', { code, diagnostics, expression: 'message' });
}
