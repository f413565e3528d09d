/**
 * The part of a world that a grant covers, implemented independently of the service (docs/spec/decisions.md, section 9,
 * "Letters" and "Categories"; section 1). It consists of the versions that an application may see, with the ids that the
 * application knows, and without references to the other record.
 */
import { type Covered, covers } from './scopes.ts';
import type { Version, World } from './world.ts';

/** The model's content. */
export interface Seen {
  readonly record: readonly Version[];
  readonly directory: readonly Version[];
  /** Ids of resources with hidden versions, so that the numbers of the visible versions have gaps. */
  readonly gaps: ReadonlySet<string>;
}

/**
 * Returns what is visible of the record `mine`.
 * @param patient the application's id for the record's Patient
 */
export function seenOf(world: World, covered: Covered, patient: string): Seen {
  const versions = world.records[world.mine] ?? [];
  const isWithin = ({ type, categories }: Version): boolean =>
    type === 'Patient' || covers(covered, type, categories);
  const current = new Map(versions.map((each) => [each.id, each]));
  const isSeen = (id: string): boolean => {
    const last = current.get(id);
    return last !== undefined && isWithin(last) && (last.targets ?? []).every(isSeen);
  };
  const shown = versions.filter((each) => isSeen(each.id) && isWithin(each));
  const count = (of: readonly Version[], id: string) => of.filter((each) => each.id === id).length;
  return {
    record: shown.map((each) => ({
      ...each,
      id: each.id === world.mine ? patient : each.id,
      body: each.body === null ? null : answered(each.body, world, patient),
    })),
    directory: world.directory,
    gaps: new Set(shown.flatMap(({ id }) => (count(shown, id) === count(versions, id) ? [] : [id]))),
  };
}

/** Returns a body as the application receives it. */
function answered(
  body: Readonly<Record<string, unknown>>,
  world: World,
  patient: string,
): Record<string, unknown> {
  const foreign = new Set((world.records[world.other] ?? []).map(({ type, id }) => `${type}/${id}`));
  const texts = JSON.stringify(without(body, foreign)).replaceAll(world.mine, patient);
  return JSON.parse(texts) as Record<string, unknown>;
}

/** Removes references. An object that contains nothing else then states the type that it referred to. */
function without(value: unknown, references: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, references));
  if (typeof value !== 'object' || value === null) return value;
  const { reference, ...others } = value as Record<string, unknown>;
  if (typeof reference === 'string' && references.has(reference))
    return Object.keys(others).length === 0 ? { type: reference.split('/')[0] } : others;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, without(each, references)]));
}
