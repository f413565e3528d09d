/** The naive evaluator finds what the case tables expect. It is tested here before it is used to test the service. */
import { expect } from 'chai';
import { resolveSymbols } from '#test/support/search/load.ts';
import { evaluate, type Universe } from '#test/support/search/naive/evaluate.ts';
import { TABLES } from './cases/all.ts';

/**
 * Queries that the evaluator doesn't support: distances, phonetic matches, `ap`, modifiers on ids, content added by the
 * service, fractions of microseconds, implied code systems, temperatures.
 */
const LEFT_OUT =
  /\.\d{7}|^near=|^phonetic|^_id:|=ap|^_lastUpdated|1e2|1\.2e2|=&|,&|http:\/\/hl7.org\/fhir\/(?!sid).*\||Cel$|degF|K$/;

describe('the naive evaluator', () => {
  const ids = new Map(
    TABLES.flatMap(({ type, resources }) =>
      Object.keys(resources).map((letter) => [`${type}/${letter}`, `${type}-${letter}`]),
    ),
  );
  const universe: Universe = {
    base: 'http://annal.example/fhir/R4/',
    resources: TABLES.flatMap(({ type, resources }) =>
      Object.entries(resources).map(([letter, body]) => ({
        ...JSON.parse(resolveSymbols(JSON.stringify(body), ids)),
        resourceType: type,
        id: `${type}-${letter}`,
      })),
    ),
  };
  for (const { topic, type, resources, cases } of TABLES) {
    it(`${type}: ${topic}`, () => {
      for (const [query, expected] of cases) {
        if (LEFT_OUT.test(query) || query.includes('_sort')) continue;
        const found = evaluate(universe, type, resolveSymbols(query, ids))
          .map((id) => id.slice(-1))
          .filter((letter) => Object.hasOwn(resources, letter));
        expect(found.join(''), query).to.equal([...expected].sort().join(''));
      }
    });
  }
});
