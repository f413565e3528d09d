/** Synthetic records as transaction Bundles: what a client would import. */

import { generateSandbox } from '#src/sandbox/generate.ts';
import { sandboxIds } from '#src/sandbox/ids.ts';
import type { Authored } from '#src/sandbox/synthetic.ts';

/** Bundles of the same content as a sandbox's: the directory first, then a record each. */
export interface Bundles {
  readonly directory: string;
  /** @param directory ids of the directory's entries as the service gave them, in their order. */
  readonly records: (directory: readonly string[]) => string[];
}

/** Makes them. */
export function syntheticBundles(resetId: string, today: string, patients: number): Bundles {
  const data = generateSandbox({ seed: 'annal', today, ids: sandboxIds(resetId), patients });
  return {
    directory: bundle(data.directory, new Map()),
    records: (given) => {
      const known = new Map(data.directory.map(({ id }, index) => [id, given[index] ?? '']));
      return data.records.map(({ resources }) => bundle(resources, known));
    },
  };
}

/** References within the Bundle become links, those to the directory its ids. */
function bundle(resources: readonly Authored[], known: ReadonlyMap<string, string>): string {
  const own = new Set(resources.map(({ id }) => id));
  const entry = resources.map(({ id, type, resource }) => ({
    fullUrl: `urn:uuid:${id}`,
    resource,
    request: { method: 'POST', url: type },
  }));
  const text = JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry });
  return text.replace(/"reference":"(\w+)\/([0-9a-f-]{36})"/g, (_, type: string, id: string) =>
    own.has(id) ? `"reference":"urn:uuid:${id}"` : `"reference":"${type}/${known.get(id)}"`,
  );
}
