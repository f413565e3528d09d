/** Extensions defined by R4 itself, from the generated table: https://hl7.org/fhir/R4/extensibility-registry.html */
import { readFileSync } from 'node:fs';

/** The content that an extension may have. */
export interface ValueTypes {
  /** The types of the extension's value, separated by commas; empty if the extension has parts instead of a value. */
  types: string;
  /** Maps the URL of a part (a nested extension) to the part's content. */
  parts?: Record<string, ValueTypes>;
}

/** The form of `generated/extensions.json`: URL → the extension's content. */
export type ExtensionTable = Record<string, ValueTypes>;

let table: ReadonlyMap<string, ValueTypes> | undefined;

/** Returns the content of an extension defined by R4; undefined for other extensions. */
export function knownExtension(url: string): ValueTypes | undefined {
  if (table === undefined) {
    const text = readFileSync(new URL('./generated/extensions.json', import.meta.url), 'utf8');
    table = new Map(Object.entries(JSON.parse(text) as ExtensionTable));
  }
  return table.get(url);
}
