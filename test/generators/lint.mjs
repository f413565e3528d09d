/** Prints, as JSON, the problems that a linter finds in this folder's `openapi.json`, except those in the ignore file. */
import { lint, loadConfig } from '@redocly/openapi-core';

const config = await loadConfig({ configPath: 'redocly.yaml' });
const problems = await lint({ ref: 'openapi.json', config });
const found = problems
  .filter(({ ignored }) => ignored !== true)
  .map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
process.stdout.write(JSON.stringify(found));
