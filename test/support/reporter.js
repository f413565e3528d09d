/** Mocha's own output, and at the end the counts as JSON in the file that ANNAL_TEST_COUNTS names. */
import { writeFileSync } from 'node:fs';
import mocha from 'mocha';

export default class CountingReporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      const file = process.env.ANNAL_TEST_COUNTS;
      if (file) writeFileSync(file, JSON.stringify({ passes, failures, pending }));
    });
  }
}
