/** What a search finds Provenances by: the agents in an event's metadata, targets and agents in a client's own. */
import type { EventMetadata } from '#src/events/metadata.ts';
import { searchable } from '#src/shared/searchable.ts';

/** References to who wrote: author and acting-as (R4: Provenance.agent.who), each once; null when the event names nobody. */
export function agentsOf(metadata: EventMetadata): string[] | null {
  const { author, acting_as } = metadata;
  if (author?.reference === undefined && acting_as === undefined) return null;
  return each([author?.reference, acting_as]);
}

/** What a client's own Provenance says: `recorded` as a FHIR instant, and the references it is found by. */
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
