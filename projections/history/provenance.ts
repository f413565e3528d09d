/**
 * The keys that Provenances are searched by: agents of an event's metadata, targets and agents of a client's own
 * Provenance.
 */
import type { EventMetadata } from '#src/events/metadata.ts';
import { searchable } from '#src/shared/searchable.ts';

/** Returns references to author and acting-as (R4: Provenance.agent.who), each once; null if the event names none. */
export function agentsOf(metadata: EventMetadata): string[] | null {
  const { author, acting_as } = metadata;
  if (author?.reference === undefined && acting_as === undefined) return null;
  return each([author?.reference, acting_as]);
}

/** The search keys of a client's own Provenance: `recorded` as a FHIR instant, and its references. */
export interface ClientProvenance {
  readonly recorded: string;
  readonly targets: string[];
  readonly agents: string[];
}

interface Reference {
  readonly reference?: string;
}

/** Reads a Provenance body (valid R4). A target that names a version is found by the resource, too. */
export function clientProvenance(body: string): ClientProvenance {
  const { recorded, target, agent } = JSON.parse(body) as {
    recorded: string;
    target: readonly Reference[];
    agent: readonly { readonly who?: Reference }[];
  };
  return {
    recorded,
    targets: each(
      target.flatMap(({ reference }) => [reference, reference?.replace(/\/_history\/[^/]*$/, '')]),
    ),
    agents: each(agent.map(({ who }) => who?.reference)),
  };
}

function each(references: readonly (string | undefined)[]): string[] {
  return [...new Set(references.filter((reference) => reference !== undefined).map(searchable))];
}
