/** For random resources and random queries, the service finds the same as a naive implementation of R4's search page. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type ResourceType, typeEntry } from '#src/fhir/types.ts';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { evaluate, type Universe } from '#test/support/search/naive/evaluate.ts';
import type { Json } from '#test/support/search/naive/published.ts';
import { queryText } from '#test/support/search/query-text.ts';
import { conditionOf, RANDOM_TYPES, windowOf } from '#test/support/search/random/queries.ts';
import { resourceOf } from '#test/support/search/random/resources.ts';
import { type StoredResource, storeResources } from '#test/support/search/store.ts';
import { tell } from '#test/support/tell.ts';

interface Made {
  readonly type: ResourceType;
  readonly body: Json;
}

/** Generates a few types, some resources of each type, and queries on them. */
const world = fc
  .subarray(
    RANDOM_TYPES.filter((type) => type !== 'Patient' && type !== 'Observation'),
    { minLength: 4, maxLength: 5 },
  )
  .chain((others) => {
    const types: ResourceType[] = ['Patient', 'Observation', ...others];
    const made = types.map((type) =>
      fc.array(
        resourceOf(type, types).map((body): Made => ({ type, body })),
        { minLength: 3, maxLength: 6 },
      ),
    );
    const question = fc.constantFrom(...types).chain((type) => {
      const condition = conditionOf(type, types, 2);
      const both = fc.tuple(condition, condition).map((parts) => parts.join('&'));
      return fc
        .oneof(
          { weight: 4, arbitrary: condition },
          { weight: 1, arbitrary: both },
          { weight: 1, arbitrary: windowOf(type) },
        )
        .map((text) => ({ type, text }));
    });
    return fc.tuple(
      fc.tuple(...made).map((lists) => lists.flat()),
      fc.array(question, { minLength: 60, maxLength: 60 }),
    );
  });

describe('random searches', () => {
  let service: InProcess;
  let searches = 0;
  /** Total number of resources that all searches have found. */
  let hits = 0;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  /** Returns a function that replaces slots with ids: `Type/#n` becomes the nth resource of the type, or an unknown id. */
  function resolver(made: readonly Made[], ids: readonly string[]): (text: string) => string {
    const nobody = newUuid();
    const idOf = (type: string, n: number) =>
      ids[made.map((each, at) => (each.type === type ? at : -1)).filter((at) => at >= 0)[n] ?? -1] ?? nobody;
    return (text) =>
      text
        .replaceAll(/@(\w+)\/#(\d)/g, (_, type, n) => idOf(type, Number(n)))
        .replaceAll(/(\w+)\/#(\d)/g, (_, type, n) => `${type}/${idOf(type, Number(n))}`)
        .replaceAll('BASE/', `${service.base}/`);
  }

  /** Returns the record that each resource is in, and a literal reference to that record's Patient. */
  function placed(
    made: readonly Made[],
    ids: readonly string[],
    resolve: (text: string) => string,
  ): StoredResource[] {
    const patientIds = ids.filter((_, at) => made[at]?.type === 'Patient');
    return made.map(({ type, body }, at) => {
      const id = ids[at] ?? '';
      const resolved = JSON.parse(resolve(JSON.stringify(body))) as Json;
      const { home, owner } = typeEntry(type);
      if (type === 'Patient') return { type, id, record: id, body: resolved };
      if (owner === undefined || (home === 'either' && resolved.patient === undefined))
        return { type, id, body: resolved };
      const record = patientIds[at % patientIds.length] ?? '';
      return { type, id, record, body: { ...resolved, [owner]: { reference: `Patient/${record}` } } };
    });
  }

  /** Returns how a response differs from the evaluator's result; undefined if they agree. */
  async function differs(
    universe: Universe,
    key: string,
    type: ResourceType,
    asked: string,
  ): Promise<string | undefined> {
    const expected = evaluate(universe, type, asked);
    const answer = await service.fhir(`/${type}?${queryText(asked)}&_count=200`, {
      key,
      headers: { Prefer: 'handling=strict' },
    });
    if (answer.status !== 200) return `${type}?${asked}: ${answer}`;
    const { total, entry = [] } = JSON.parse(answer.text) as {
      readonly total: number;
      readonly entry?: readonly { readonly resource: { readonly id: string } }[];
    };
    const found = entry.map(({ resource }) => resource.id).sort();
    searches += 1;
    hits += found.length;
    if (found.join() === expected.join() && total === found.length) return undefined;
    const wrong = universe.resources.filter(({ id }) => found.includes(id) !== expected.includes(id));
    return `${type}?${asked}: total ${total}, found ${found}, expected ${expected} ${JSON.stringify(wrong)}`;
  }

  it('find what a naive evaluation finds', async function () {
    this.timeout(scaled(1_200_000, 120_000));
    const property = fc.asyncProperty(world, async ([made, questions]) => {
      const key = await service.newProject();
      const ids = made.map(() => newUuid());
      const resolve = resolver(made, ids);
      const stored = placed(made, ids, resolve);
      await storeResources(service, key, stored);
      const universe: Universe = {
        base: `${service.base}/`,
        resources: stored.map(({ type, id, body }) => ({ ...body, resourceType: type, id })),
      };
      const differences: string[] = [];
      for (const { type, text } of questions) {
        const difference = await differs(universe, key, type, resolve(text));
        if (difference !== undefined) differences.push(difference);
      }
      expect(differences.join('\n')).to.equal('');
    });
    const seed = steadySeed();
    await fc.assert(property, { seed, numRuns: scaled(80, 3), endOnFailure: true });
    expect(hits, `with seed ${seed} next to nothing was found`).to.be.greaterThan(100);
    tell(`seed ${seed}: ${searches} searches found ${hits} resources`);
  });
});
