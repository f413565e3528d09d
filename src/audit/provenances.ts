/**
 * Collects the content of clients' own Provenances about versions, such as reasons and agents, by folding a stream's events.
 */
import { z } from 'zod';
import type { StoredEvent } from '#src/events/catalog.ts';
import { parseJson } from '#src/shared/json/json.ts';

/** An agent as described in a Provenance; each member is text or null. */
export interface SaidAgent {
  readonly type: string | null;
  /** The reference; if there is none, the name or identifier. */
  readonly who: string | null;
  readonly who_name: string | null;
  readonly on_behalf_of: string | null;
  readonly on_behalf_of_name: string | null;
}

/** A client's Provenance about a version. */
export interface SaidProvenance {
  /** `Provenance/…`. */
  readonly reference: string;
  /** The text of each `Provenance.reason`. */
  readonly reason: readonly string[];
  readonly activity: string | null;
  readonly agents: readonly SaidAgent[];
  /** The Provenance's own `recorded`, not the time at which it was stored. */
  readonly recorded: string | null;
}

const reference = z
  .object({
    reference: z.string().optional(),
    display: z.string().optional(),
    identifier: z.object({ value: z.string().optional() }).optional(),
  })
  .transform(({ reference, display, identifier }) => ({
    to: reference ?? display ?? identifier?.value ?? null,
    name: display ?? null,
  }));

const concept = z
  .object({
    text: z.string().optional(),
    coding: z.array(z.object({ display: z.string().optional(), code: z.string().optional() })).default([]),
  })
  .transform(({ text, coding: [first] }) => text ?? first?.display ?? first?.code ?? null);

const schema = z.object({
  target: z.array(reference),
  recorded: z.string().nullable().default(null),
  reason: z.array(concept).default([]),
  activity: concept.nullable().default(null),
  agent: z
    .array(
      z.object({ type: concept.optional(), who: reference.optional(), onBehalfOf: reference.optional() }),
    )
    .default([]),
});

/** A current Provenance, and the version of each of its targets; a version is undefined while it isn't known. */
interface Standing {
  readonly says: SaidProvenance;
  readonly about: Map<string, number | undefined>;
}

/**
 * Matches a stream's Provenances to versions. A target with `_history/n` names its version. A target without `_history` refers
 * to the version that the resource had when the Provenance first named it, or that it got in the same append.
 */
export class ClientProvenances {
  /** Current Provenances by id, except deleted ones. */
  readonly #standing = new Map<string, Standing>();
  readonly #versions = new Map<string, number>();
  #unsettled: Standing[] = [];

  /** Processes the stream's next event, of any type. */
  note({ event, metadata }: StoredEvent): void {
    if ('resourceId' in event) {
      const { resourceType, resourceId } = event;
      this.#versions.set(`${resourceType}/${resourceId}`, event.version);
      if (resourceType === 'Provenance') {
        const before = this.#standing.get(resourceId);
        this.#standing.delete(resourceId);
        const now = event.type === 'ResourceDeleted' ? undefined : standing(resourceId, event.body, before);
        if (now !== undefined) {
          this.#standing.set(resourceId, now);
          this.#unsettled.push(now);
        }
      }
    }
    const [index, count] = metadata.append;
    if (index === count - 1) this.#settle();
  }

  /** Returns the Provenances of each `Type/id/_history/n`, in the order in which they last changed. */
  byVersion(): ReadonlyMap<string, readonly SaidProvenance[]> {
    this.#settle();
    const found = new Map<string, SaidProvenance[]>();
    for (const { says, about } of this.#standing.values()) {
      for (const [resource, version] of about) {
        const place = `${resource}/_history/${version}`;
        found.set(place, [...(found.get(place) ?? []), says]);
      }
    }
    return found;
  }

  #settle(): void {
    for (const { about } of this.#unsettled) {
      for (const [resource, version] of about) about.set(resource, version ?? this.#versions.get(resource));
    }
    this.#unsettled = [];
  }
}

/** Absolute references below our own base URL are stored as received. */
const TARGET = /(?:^|\/)([A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64})(?:\/_history\/(\d+))?$/;

function standing(id: string, body: string, before: Standing | undefined): Standing | undefined {
  const { data } = schema.safeParse(parseJson(body).value);
  if (data === undefined) return undefined;
  const about = new Map<string, number | undefined>();
  for (const target of data.target) {
    const [, resource, version] = TARGET.exec(target.to ?? '') ?? [];
    if (resource === undefined) continue;
    about.set(resource, version === undefined ? before?.about.get(resource) : Number(version));
  }
  const says = {
    reference: `Provenance/${id}`,
    reason: data.reason.flatMap((text) => text ?? []),
    activity: data.activity,
    agents: data.agent.map(({ type, who, onBehalfOf }) => ({
      type: type ?? null,
      who: who?.to ?? null,
      who_name: who?.name ?? null,
      on_behalf_of: onBehalfOf?.to ?? null,
      on_behalf_of_name: onBehalfOf?.name ?? null,
    })),
    recorded: data.recorded,
  };
  return { says, about };
}

/** Returns a Provenance as a sentence with its reasons, activity and agents, using names where they are known. */
export function writeSentence({
  reference: from,
  reason,
  activity,
  agents,
  recorded,
}: SaidProvenance): string {
  const people = agents.map(({ type, who, who_name, on_behalf_of, on_behalf_of_name }) => {
    const named = who_name ?? who ?? 'somebody';
    const behalf = on_behalf_of_name ?? on_behalf_of;
    return `${type === null ? '' : `${type} `}${named}${behalf === null ? '' : ` on behalf of ${behalf}`}`;
  });
  const parts = [reason.join(', ') || 'no reason given', ...(activity === null ? [] : [activity]), ...people];
  return `${parts.join('; ')} (${from}${recorded === null ? '' : `, recorded ${recorded}`})`;
}
