/** The shared terminology as searches ask it: `:in`, `:not-in`, `:above` and `:below`. */
import { requiredValueSets, type Terminology as SearchedTerminology } from '#src/fhir/terminology.ts';
import type { Terminology } from './terminology.ts';

/** The value sets of required bindings need no database; all else is asked of it. */
export function forSearch(terminology: Terminology): SearchedTerminology {
  return {
    members: async (url) => (await requiredValueSets.members(url)) ?? terminology.members(url),
    async related(direction, { system, code }) {
      if ((await terminology.describe(system, code)) === undefined) return undefined;
      const codes = await terminology[direction](system, code);
      return codes.map((each) => ({ system, code: each }));
    },
  };
}
