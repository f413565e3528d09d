/** What the parts of a context are made with. */
import { withDisplays } from '#src/fhir/ips/displays.ts';
import { codings, text } from '#src/fhir/ips/parts.ts';
import { concept } from '#src/fhir/ips/words.ts';
import type { Json } from '#src/shared/json.ts';
import { dayOf, daysBetween } from './dates.ts';
import type { Focus } from './focus.ts';
import type { Entry, OpenedRecord } from './record.ts';
import type { Coded } from './scores.ts';

/** A record, and how it is to be told. */
export interface Reading {
  readonly opened: OpenedRecord;
  /** Entries of the directory that it refers to, by `Type/id`. */
  readonly directory: ReadonlyMap<string, Entry>;
  /** What codes without words are called, by `system|code`. */
  readonly displays: ReadonlyMap<string, string>;
  readonly focus: Focus;
  /** The day that it is told on, in milliseconds since 1970. */
  readonly today: number;
}

/** Facts of a type, newest first, codes named. */
export function entriesOf({ opened, displays }: Reading, ...types: readonly string[]): Entry[] {
  return types.flatMap((type) => opened.facts.get(type) ?? []).map((entry) => namedEntry(entry, displays));
}

/** A resource whose codes have names. */
export function namedEntry(entry: Entry, displays: Reading['displays']): Entry {
  return displays.size === 0 ? entry : { ...entry, value: withDisplays(entry, displays).value };
}

/** A fact of the record, or an entry of the directory, that a reference names. */
export function lookUp(
  { opened, directory, displays }: Reading,
  reference: Json | undefined,
): Entry | undefined {
  const [, type = '', id = ''] =
    /(?:^|\/)([A-Z]\w+)\/([0-9a-f-]{36})(?:$|\/_history)/.exec(text(reference) ?? '') ?? [];
  const found = opened.facts.get(type)?.find((entry) => entry.id === id) ?? directory.get(`${type}/${id}`);
  return found === undefined ? undefined : namedEntry(found, displays);
}

/** Days since what a resource tells of; very many when it does not say when. */
export function ageDays({ today }: Reading, { dated }: Entry): number {
  return daysBetween(dated.at, today);
}

/** The day of what a resource tells of. */
export function dayIn({ dated }: Entry): string | undefined {
  return dated.date === null ? undefined : dayOf(dated.date);
}

/** What a concept is called; without words and codes nothing. */
export function nameOf(value: Json | undefined, otherwise: string): string {
  return concept(value) ?? otherwise;
}

/** The codes of concepts. */
export function codedIn(value: Json | undefined): Coded[] {
  return codings(value).flatMap(({ system, code }) =>
    typeof code === 'string' ? [{ system: text(system) ?? '', code }] : [],
  );
}

/** `code`, `system` and `display` of an item. */
export function codeMembers(value: Json | undefined, name: string): { [key: string]: string | null } {
  const [first] = codedIn(value);
  return {
    code: first?.code ?? null,
    system: first === undefined || first.system === '' ? null : first.system,
    display: name,
  };
}
