// Known weaknesses of what the service depends on, in one line. Never fails: what it finds is for people to weigh.
import { execFile } from 'node:child_process';

const SEVERITIES = ['critical', 'high', 'moderate', 'low'];

execFile(
  'npm',
  ['audit', '--omit=dev', '--json'],
  { timeout: 60_000, maxBuffer: 50_000_000 },
  (error, stdout) => {
    console.log(`audit: ${sentence(error, stdout)}`);
  },
);

/** @param {Error & { killed?: boolean } | null} error @param {string} stdout */
function sentence(error, stdout) {
  if (error?.killed) return 'the registry did not answer within a minute';
  const report = parsed(stdout);
  const found = report?.metadata?.vulnerabilities;
  if (found === undefined) return `the registry offers none (${report?.message ?? 'no answer'})`;
  const counts = SEVERITIES.flatMap((name) => (found[name] > 0 ? [`${found[name]} ${name}`] : []));
  if (counts.length === 0) return 'no known weakness in what the service depends on';
  return `${counts.join(', ')}: ${Object.keys(report.vulnerabilities).join(', ')}`;
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
