/**
 * Prints mocha's own output, followed by the files that took longest, and writes the counts as JSON to the file
 * ANNAL_TEST_COUNTS.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import mocha from 'mocha';

/** The number of files to list. */
const SLOWEST = 40;

export default class CountingReporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const spent = new Map();
    const note = ({ file = '(all)', duration = 0 }) => spent.set(file, (spent.get(file) ?? 0) + duration);
    runner.on('test end', note).on('hook end', note);
    runner.once('end', () => {
      const slowest = [...spent].sort(([, one], [, other]) => other - one).slice(0, SLOWEST);
      const total = [...spent.values()].reduce((sum, each) => sum + each, 0);
      console.log(`  ${spent.size} files, ${seconds(total)} s in tests and hooks; the slowest:`);
      for (const [file, ms] of slowest)
        console.log(`${seconds(ms).padStart(8)} s  ${relative(process.cwd(), file)}`);
      const { passes, failures, pending } = this.stats;
      const file = process.env.ANNAL_TEST_COUNTS;
      if (file) writeFileSync(file, JSON.stringify({ passes, failures, pending }));
    });
  }
}

function seconds(ms) {
  return (ms / 1000).toFixed(1);
}
