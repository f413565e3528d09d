/**
 * Adds names to codes without a display in FHIR JSON text, because the recipient of a copy of a record has no terminology in
 * which to look up the codes. Nothing else in the text changes.
 */
import type { SystemCode } from '../../fhir/terminology.ts';
import type { Displays } from './displays.ts';

/**
 * Matches a Coding that has only a system and a code. In a Quantity, these two members don't come first, or the system is
 * UCUM's.
 */
const BARE = /\{"system":"(https?:[^"\\]+|urn:[^"\\]+)","code":"([^"\\]+)"\}/g;

const UCUM = 'http://unitsofmeasure.org';

/** Returns the codes in a JSON text that have no display, without duplicates. */
export function codesIn(text: string): SystemCode[] {
  const found = new Map<string, SystemCode>();
  for (const [, system = '', code = ''] of text.matchAll(BARE))
    if (system !== UCUM) found.set(`${system}|${code}`, { system, code });
  return [...found.values()];
}

/** Returns the JSON text with all known displays added. */
export function withNamedCodings(text: string, displays: Displays): string {
  if (displays.size === 0) return text;
  return text.replace(BARE, (whole, system: string, code: string) => {
    const display = system === UCUM ? undefined : displays.get(`${system}|${code}`);
    return display === undefined
      ? whole
      : `{"system":"${system}","code":"${code}","display":${JSON.stringify(display)}}`;
  });
}
