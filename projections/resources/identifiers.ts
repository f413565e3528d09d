/** The identifiers of a resource, as rows that a search finds it by. */
import { searchable } from '#src/shared/searchable.ts';

/** One business identifier as the table has it: system (null when it has none) and value, both `searchable`. */
export interface Identifier {
  readonly system: string | null;
  readonly value: string;
}

/**
 * What R4's parameter `identifier` finds: `identifier` (one or a list) and DocumentReference.masterIdentifier, those with
 * a value, each once. Parses only bodies that name an element so.
 */
export function identifiersOf(body: string): Identifier[] {
  if (!body.includes('dentifier"')) return [];
  const { identifier, masterIdentifier } = JSON.parse(body) as {
    identifier?: unknown;
    masterIdentifier?: unknown;
  };
  const found = new Map<string, Identifier>();
  for (const item of [identifier, masterIdentifier].flat() as ({
    system?: unknown;
    value?: unknown;
  } | null)[]) {
    const { system, value } = item ?? {};
    if (typeof value !== 'string') continue;
    const row = { system: typeof system === 'string' ? searchable(system) : null, value: searchable(value) };
    found.set(JSON.stringify(row), row);
  }
  return [...found.values()];
}
