/** Finds the folder of realistic patient bundles that some tests read. The bundles aren't part of the repository. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns `ANNAL_SYNTHEA_DIR`, or the folder next to the repository; undefined if neither exists. */
export function syntheaFolder(): string | undefined {
  const beside = fileURLToPath(new URL('../../../shared/data/synthea-r4', import.meta.url));
  return [process.env.ANNAL_SYNTHEA_DIR, beside].find((folder) => folder !== undefined && existsSync(folder));
}
