/** Extensions that R4 itself defines, from the generated table: https://hl7.org/fhir/R4/extensibility-registry.html */
import { readFileSync } from 'node:fs';

/** What an extension holds. */
export interface ValueTypes {
  /** Types of its value, separated by commas; an empty text for an extension that has parts instead of a value. */
  types: string;
  /** Url of a part, which is an extension within this one → what that holds. */
  parts?: Record<string, ValueTypes>;
}

/** `generated/extensions.json`: url → what the extension holds. */
export type ExtensionTable = Record<string, ValueTypes>;

let table: ReadonlyMap<string, ValueTypes> | undefined;

/** What an extension that R4 defines holds; undefined for other extensions. */
export function knownExtension(url: string): ValueTypes | undefined {
  if (table === undefined) {
    const text = readFileSync(new URL('./generated/extensions.json', import.meta.url), 'utf8');
    table = new Map(Object.entries(JSON.parse(text) as ExtensionTable));
  }
  return table.get(url);
}
