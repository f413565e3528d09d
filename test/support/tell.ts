/** Records the findings of big tests, such as numbers; `npm run prove` writes them to docs/proof.md. */
import { appendFileSync } from 'node:fs';

/** Notes a finding for the page, in a few words on one line. Outside `npm run prove`, the finding is discarded. */
export function tell(finding: string): void {
  const file = process.env.ANNAL_TEST_FOUND;
  if (file) appendFileSync(file, `${finding.replaceAll(/\s+/g, ' ')}\n`);
}

/** Returns a tally as text, sorted by name: `create 201: 3, update 200: 1`. */
export function counted(tally: ReadonlyMap<string, number>): string {
  return [...tally]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');
}
