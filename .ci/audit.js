// Reports the known vulnerabilities of the service's dependencies, in one line. Exits with 1 if there are any, and with 0 if
// there are none or if the check failed, in which case the line says so.
import { execFile } from 'node:child_process';

const SEVERITIES = ['critical', 'high', 'moderate', 'low', 'info'];

execFile(
  'npm',
  ['audit', '--omit=dev', '--json'],
  { timeout: 60_000, maxBuffer: 50_000_000 },
  (error, stdout) => {
    const { sentence, vulnerable } = outcome(error, stdout);
    console.log(`audit: ${sentence}`);
    process.exitCode = vulnerable ? 1 : 0;
  },
);

/** @param {Error & { killed?: boolean } | null} error @param {string} stdout */
function outcome(error, stdout) {
  if (error?.killed) return unchecked('the registry did not answer within a minute');
  const report = parsed(stdout);
  const found = report?.metadata?.vulnerabilities;
  if (found === undefined) {
    return unchecked(`the registry answered no audit (${report?.message ?? error?.message ?? 'no output'})`);
  }
  const counts = SEVERITIES.flatMap((name) => (found[name] > 0 ? [`${found[name]} ${name}`] : []));
  if (counts.length === 0) {
    return { sentence: 'no known vulnerabilities in what the service depends on', vulnerable: false };
  }
  const packages = Object.keys(report.vulnerabilities).join(', ');
  return { sentence: `FAILED, known vulnerabilities: ${counts.join(', ')} (${packages})`, vulnerable: true };
}

/** @param {string} reason */
function unchecked(reason) {
  return { sentence: `NOT CHECKED for known vulnerabilities: ${reason}`, vulnerable: false };
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
