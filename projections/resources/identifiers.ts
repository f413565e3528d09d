/** The identifiers of a resource, as rows that a search finds it by. */
import { createHash } from 'node:crypto';

/** One business identifier: system (null when it has none) and value. */
export interface Identifier {
  readonly system: string | null;
  readonly value: string;
}

/** An index row holds 2,704 bytes at most: tenant, type, value and system must fit. */
const LONGEST = 1_000;

/** The top-level `identifier[]` of a resource that have a value, each once. Parses only bodies that name the element. */
export function identifiersOf(body: string): Identifier[] {
  if (!body.includes('"identifier"')) return [];
  const { identifier } = JSON.parse(body) as { identifier?: unknown };
  if (!Array.isArray(identifier)) return [];
  const found = new Map<string, Identifier>();
  for (const item of identifier as ({ system?: unknown; value?: unknown } | null)[]) {
    const { system, value } = item ?? {};
    if (typeof value !== 'string') continue;
    const row = { system: typeof system === 'string' ? searchable(system) : null, value: searchable(value) };
    found.set(JSON.stringify(row), row);
  }
  return [...found.values()];
}

/**
 * The form in which a system or value stands in the table: itself, or for one too long for an index row
 * `sha-256:` and the hex digest of its UTF-8 bytes. Whoever searches asks for that form too.
 */
export function searchable(text: string): string {
  if (text.length * 3 <= LONGEST || Buffer.byteLength(text) <= LONGEST) return text;
  return `sha-256:${createHash('sha256').update(text).digest('hex')}`;
}
