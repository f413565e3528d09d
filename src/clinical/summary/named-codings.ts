/**
 * Names codes in FHIR JSON text that come without a display: somebody who receives a copy of a record has no terminology to
 * look them up in. Nothing else of the text changes.
 */
import type { SystemCode } from '../../fhir/terminology.ts';
import type { Displays } from './displays.ts';

/** A Coding of only a system and a code. Of a Quantity these members follow others, or the system is UCUM's. */
const BARE = /\{"system":"(https?:[^"\\]+|urn:[^"\\]+)","code":"([^"\\]+)"\}/g;

const UCUM = 'http://unitsofmeasure.org';

/** Returns the codes without a display in JSON text, each once. */
export function codesIn(text: string): SystemCode[] {
  const found = new Map<string, SystemCode>();
  for (const [, system = '', code = ''] of text.matchAll(BARE))
    if (system !== UCUM) found.set(`${system}|${code}`, { system, code });
  return [...found.values()];
}

/** Returns the JSON text with the displays that are known. */
export function withNamedCodings(text: string, displays: Displays): string {
  if (displays.size === 0) return text;
  return text.replace(BARE, (whole, system: string, code: string) => {
    const display = system === UCUM ? undefined : displays.get(`${system}|${code}`);
    return display === undefined
      ? whole
      : `{"system":"${system}","code":"${code}","display":${JSON.stringify(display)}}`;
  });
}
