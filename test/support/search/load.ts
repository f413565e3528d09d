/** Writes the resources of search tables to a service. Each resource is written after the resources that it refers to. */

import { typeEntry } from '#src/fhir/types.ts';
import { newUuid } from '#src/shared/ids.ts';
import type { InProcess } from '../in-process.ts';
import { storeResources } from './store.ts';
import type { SearchTable } from './table.ts';

/** Ids of the tables' resources, by `Type/letter`. */
export type Ids = ReadonlyMap<string, string>;

const SYMBOL = /@([A-Z][A-Za-z]+)\/(\w)|([A-Z][A-Za-z]+)\/@(\w)/g;

/**
 * Replaces letters with ids.
 * @throws Error for an unknown letter
 */
export function resolveSymbols(text: string, ids: Ids): string {
  return text.replaceAll(SYMBOL, (symbol, type1, letter1, type2, letter2) => {
    const name = `${type1 ?? type2}/${letter1 ?? letter2}`;
    const id = ids.get(name);
    if (id === undefined) throw new Error(`${symbol} is not there`);
    return type2 === undefined ? id : `${type2}/${id}`;
  });
}

/**
 * Creates every resource: over HTTP, or as events if the type is read-only.
 * @throws Error for a refused resource, or for circular references
 */
export async function loadTables(service: InProcess, tables: readonly SearchTable[]): Promise<Ids> {
  const ids = new Map<string, string>();
  let waiting = tables.flatMap(({ type, resources }) =>
    Object.entries(resources).map(([letter, body]) => ({
      type,
      name: `${type}/${letter}`,
      text: JSON.stringify({ resourceType: type, ...body }),
    })),
  );
  const names = waiting.map(({ name }) => name);
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  if (twice.length > 0) throw new Error(`there twice: ${twice}`);
  while (waiting.length > 0) {
    const known = new Map(ids);
    const ready = waiting.filter(({ text }) => symbolsOf(text).every((name) => known.has(name)));
    if (ready.length === 0) throw new Error(`never: ${waiting.map(({ name }) => name)}`);
    const readOnly = ready.filter(({ type }) => typeEntry(type).home === 'terminology');
    const made = readOnly.map(({ type, name, text }) => {
      const id = newUuid();
      ids.set(name, id);
      return { type, id, body: JSON.parse(resolveSymbols(text, known)) };
    });
    if (made.length > 0) await storeResources(service, service.key, made);
    // Four are written at a time, because a round's resources refer only to resources of earlier rounds.
    const others = ready.filter((each) => !readOnly.includes(each));
    for (let at = 0; at < others.length; at += 4) {
      await Promise.all(
        others.slice(at, at + 4).map(async ({ type, name, text }) => {
          const answer = await service
            .post(`/${type}`, JSON.parse(resolveSymbols(text, known)))
            .catch((error) => {
              throw new Error(`${name}: ${error}`);
            });
          ids.set(name, String(answer.json.id));
        }),
      );
    }
    waiting = waiting.filter(({ name }) => !ids.has(name));
  }
  return ids;
}

function symbolsOf(text: string): string[] {
  return [...text.matchAll(SYMBOL)].map(
    ([, type1, letter1, type2, letter2]) => `${type1 ?? type2}/${letter1 ?? letter2}`,
  );
}
