/** Creates synthetic records as transaction Bundles, as a client would import them. */

import { generateSandbox } from '#src/sandbox/generate.ts';
import { sandboxIds } from '#src/sandbox/ids.ts';
import type { Authored } from '#src/sandbox/synthetic.ts';

/** Bundles with the content of a sandbox: one for the directory, followed by one for each record. */
export interface Bundles {
  readonly directory: string;
  /**
   * Returns the Bundles for the records.
   * @param directory the ids that the service assigned to the directory's entries, in order
   */
  readonly records: (directory: readonly string[]) => string[];
}

/** Returns the Bundles for a given day and number of patients. */
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

/** Returns a Bundle. References within it become links, and references to the directory get the service's ids. */
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
