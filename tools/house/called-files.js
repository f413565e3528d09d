/**
 * Preloaded into a service that runs from its sources. On SIGUSR2, writes to CALLED_FILES the project's files in which a named
 * function has run since the last signal, as a JSON array of paths from the root.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const OUT = process.env.CALLED_FILES;
const session = new Session();
session.connect();
session.post('Profiler.enable');
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

process.on('SIGUSR2', () =>
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    const ran = result.filter(
      ({ url, functions }) =>
        url.startsWith('file:') &&
        !url.includes('/node_modules/') &&
        functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0].count > 0),
    );
    const files = ran.map(({ url }) => fileURLToPath(url.split('?')[0]));
    const own = files.filter((file) => file.startsWith(ROOT)).map((file) => file.slice(ROOT.length));
    writeFileSync(`${OUT}.new`, JSON.stringify(own.sort()));
    renameSync(`${OUT}.new`, OUT);
  }),
);
