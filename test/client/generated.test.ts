/** The client's types are as the OpenAPI document and HL7's definitions say. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { generateClientTypes, TYPES } from '../../tools/client/generate.ts';

describe('the types of the TypeScript client', () => {
  for (const [name, text] of Object.entries(generateClientTypes()))
    it(`in ${name} are up to date (npm run generate)`, () => {
      expect(readFileSync(join(TYPES, name), 'utf8') === text).to.equal(true);
    });
});
