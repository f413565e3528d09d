/**
 * Converts this folder's `openapi.json` to a Postman collection, as Postman's import does with the settings given in
 * docs/generators.md.
 */
import { readFileSync } from 'node:fs';
import converter from 'openapi-to-postmanv2';

const data = readFileSync('openapi.json', 'utf8');
const settings = { parametersResolution: 'Example', enableOptionalParameters: false };
converter.convertV2({ type: 'string', data }, settings, (error, { result, reason, output } = {}) => {
  if (error || !result) throw error ?? new Error(reason);
  process.stdout.write(JSON.stringify(output[0].data));
});
