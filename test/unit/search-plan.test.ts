/** Which plan is chosen for which search, tested without a database. */
import { expect } from 'chai';
import { understandRequest } from '#queries/search/ask.ts';
import { explainPlan } from '#queries/search/explain.ts';
import { type Asked, countPlan, LIMITS, type Plan, planPage, type Step } from '#queries/search/plan.ts';
import { requiredValueSets } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Sees } from '#src/shared/access/caller.ts';

const SEES: Sees = {
  owner: { project: 'proj_1', environment: 'sandbox' },
  ownerId: '00000000-0000-4000-8000-000000000001',
};
const PATIENT = '00000000-0000-7000-8000-000000000001';
const OTHERS = Array.from(
  { length: 40 },
  (_, n) => `00000000-0000-7000-8000-0000000001${String(n).padStart(2, '0')}`,
);

/** A database in which look-ups for chains find nothing. */
const NOTHING = { query: async () => ({ rows: [] }) } as unknown as Parameters<typeof understandRequest>[0];

async function asked(query: string, type: ResourceType = 'Observation', record?: string): Promise<Asked> {
  const request = {
    type,
    query: new URLSearchParams(query),
    base: 'http://localhost/',
    ...(record === undefined ? {} : { record }),
  };
  return (await understandRequest(NOTHING, requiredValueSets, SEES, request)).asked;
}

/** Returns a step in a few words: `sort keys 4000`, `walk-values about 20000`. */
function inShort(step: Step): string {
  const words: (string | number | undefined)[] = [step.kind];
  if (step.kind === 'sort') words.push(step.source?.kind, step.most);
  if (step.kind === 'sort-entries') words.push(step.source?.kind);
  if (step.kind === 'walk-resources') words.push(step.most);
  if (step.kind === 'walk-values')
    words.push(step.path.of?.[0]?.[0] ?? step.path.place.table, step.path.most);
  return words.filter((word) => word !== undefined).join(' ');
}

function shortPlan(plan: Plan): string[] {
  if (plan.kind === 'count') return [plan.kind, plan.source?.kind ?? 'all'];
  if (plan.kind !== 'order') return [plan.kind, ...plan.steps.map(inShort)];
  const last = plan.without === undefined ? [] : ['without'];
  return [plan.kind, ...(plan.step === undefined ? [] : [inShort(plan.step)]), ...last];
}

describe('plans of searches', () => {
  for (const [query, ...expected] of [
    ['', 'order', 'walk-resources'],
    ['_sort=-_lastUpdated', 'order', 'walk-resources'],
    ['_lastUpdated=gt2020&_sort=-_lastUpdated', 'order', 'walk-resources'],
    ['code:missing=true', 'order', 'walk-resources'],
    ['_sort=-date', 'order', 'walk-values period', 'without'],
    ['_sort=-date,code', 'order', 'walk-values period', 'without'],
    ['_sort=code', 'order', 'sort-entries', 'without'],
    ['_sort=_id,_lastUpdated', 'order', 'sort'],
    [`_id=${PATIENT}`, 'named', 'walk-resources'],
    ['identifier=a|b&_total=none', 'sources', 'sort keys 4000', 'walk-resources 20000', 'sort keys'],
    [`patient=${PATIENT}`, 'named', 'walk-resources'],
    [`patient=${PATIENT}&_sort=-date`, 'named', 'sort rows 4000', 'walk-values period 2000', 'sort'],
    [
      `patient=${PATIENT}&_sort=-date&_total=none`,
      'named',
      'sort rows 4000',
      'walk-values period 250',
      'walk-values period 2000',
      'sort',
    ],
    [
      `patient=${PATIENT}&category=a&_sort=-date&_total=none`,
      'named',
      'sort keys 4000',
      'walk-values period 250',
      'walk-values period 2000',
      'sort keys',
    ],
    [`patient=${PATIENT}&category=a&_sort=-date`, 'named', 'sort keys'],
    [`patient=${PATIENT}&_sort=-_lastUpdated&_total=none`, 'named', 'walk-resources'],
    [`patient=${PATIENT}&code=a`, 'named', 'sort keys'],
    [
      `patient=${PATIENT}&date=ge2020&date=lt2021&_sort=-date`,
      'named',
      'sort keys 4000',
      'sort values 4000',
      'sort keys',
    ],
    [`patient=${PATIENT}&value-quantity=gt5`, 'named', 'sort keys 4000', 'sort values 500', 'sort keys'],
    [`patient=${PATIENT}&value-quantity=lt5`, 'named', 'sort keys'],
    [`patient=${PATIENT}&code:text=a`, 'named', 'sort keys'],
    ['patient=<3 ids>&date=ge2020&date=lt2021', 'named', 'sort keys'],
    [
      `patient=${PATIENT}&code=a&_sort=-date&_total=none`,
      'named',
      'walk-values about_record 1000',
      'sort keys',
    ],
    [
      'patient=<3 ids>&_sort=-date&_count=10&_total=none',
      'named',
      'sort rows 1000',
      'walk-values period 250',
      'walk-values period 2000',
      'sort',
    ],
    [
      'patient=<3 ids>&code=a&_sort=-date&_total=none',
      'named',
      'sort keys 1000',
      'walk-values about 250',
      'walk-values about 2000',
      'sort keys',
    ],
    [
      'patient=<3 ids>&_sort=-_lastUpdated&_total=none',
      'named',
      'sort rows 1000',
      'walk-resources 250',
      'walk-resources 2000',
      'walk-resources',
    ],
    ['patient=<3 ids>&_total=none', 'named', 'walk-resources'],
    ['patient=<3 ids>&_sort=-date', 'named', 'sort'],
    ['patient=<3 ids>&_sort=status&_total=none', 'named', 'sort'],
    [`patient=<3 ids>&_id=${PATIENT}&_sort=-date&_total=none`, 'named', 'sort'],
    ['code=a', 'sources', 'sort keys 4000', 'walk-resources 20000', 'sort keys'],
    ['code=a&_sort=-date', 'sources', 'walk-values about 20000', 'sort keys'],
    [
      'code=a&date=ge2020&date=lt2021&_sort=-date',
      'sources',
      'walk-values about 20000',
      'sort values 4000',
      'sort keys',
    ],
    ['code=a&_sort=status', 'sources', 'sort keys 4000', 'sort-entries keys'],
    ['date=ge2020&_sort=status', 'sources', 'sort values 4000', 'sort values'],
    ['date=ge2020&date=lt2021', 'sources', 'sort values 4000', 'walk-resources 20000', 'sort values'],
    ['date=ge2020&date=lt2021&_sort=date', 'sources', 'walk-values period 20000', 'sort values'],
    ['value-quantity=gt5', 'sources', 'sort values 500', 'walk-resources 20000', 'sort values'],
    ['value-quantity=lt5', 'sources', 'walk-resources 20000', 'sort values'],
    ['_lastUpdated=gt2020', 'sources', 'sort rows 4000', 'walk-resources 20000', 'sort rows'],
    [
      'patient=<40 ids>&_count=10&_total=none',
      'sources',
      'sort rows 44',
      'walk-resources 250',
      'walk-resources 2000',
      'sort rows 4000',
      'walk-resources 20000',
      'sort rows',
    ],
    ['patient=<40 ids>', 'sources', 'sort rows 4000', 'walk-resources 20000', 'sort rows'],
  ] as const) {
    it(`${query || 'nothing asked'}: ${expected.join(', ')}`, async () => {
      expect(
        shortPlan(
          planPage(
            await asked(query.replace(/<(\d+) ids>/, (_, count) => OTHERS.slice(0, Number(count)).join(','))),
          ),
        ),
      ).to.deep.equal(expected);
    });
  }

  it('finds composites in a record by the keys of their codes as well', async () => {
    const sets = async (query: string) => {
      const plan = planPage(await asked(`patient=${PATIENT}&${query}`));
      const last = plan.kind === 'named' ? plan.steps.at(-1) : undefined;
      return last?.kind === 'sort' && last.source?.kind === 'keys' ? last.source.sets.length : 0;
    };
    expect(await sets('value-quantity=gt5')).to.equal(1);
    expect(await sets('code-value-quantity=a$gt5')).to.equal(2);
    expect(await sets('component-code-value-quantity=a$gt5,urn:b|c$gt5')).to.equal(2);
    expect(await sets('code-value-quantity=urn:b|$gt5')).to.equal(1);
  });

  it('takes the next walk only if the one before found an eighth of a page', async () => {
    const plan = planPage(await asked(`patient=${OTHERS.join(',')}&_count=15&_total=none`));
    if (plan.kind !== 'sources') throw new Error(plan.kind);
    expect(plan.steps.map((step) => ('promising' in step ? step.promising : undefined))).to.deep.equal([
      undefined,
      2,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('begins behind the last value where a page ended among resources without one', async () => {
    const page = await asked('_sort=-date');
    const plan = planPage({ ...page, last: { id: PATIENT, keys: [null] } });
    expect(shortPlan(plan)).to.deep.equal(['order', 'without']);
  });

  it('counts narrow searches from resources, others from what leads to them', async () => {
    const counted = async (query: string, record?: string) =>
      shortPlan(countPlan((await asked(query, 'Observation', record)).selection));
    expect(await counted('')).to.deep.equal(['count', 'all']);
    expect(await counted('code=a')).to.deep.equal(['count', 'keys']);
    expect(await counted('date=ge2020')).to.deep.equal(['count', 'values']);
    expect(await counted(`_id=${PATIENT}`)).to.deep.equal(['count', 'all']);
    expect(await counted('date=ge2020', PATIENT)).to.deep.equal(['count', 'keys']);
    expect(await counted('', PATIENT)).to.deep.equal(['count', 'all']);
  });

  it('keeps to its limits', async () => {
    const plan = planPage(await asked('code=a'), { few: 7, far: 9 });
    expect(shortPlan(plan)).to.deep.equal(['sources', 'sort keys 7', 'walk-resources 9', 'sort keys']);
    expect(LIMITS).to.deep.equal({ few: 4_000, far: 20_000 });
  });
});

describe('explained plans', () => {
  const explained = async (query: string, type?: ResourceType) => {
    const page = await asked(query, type);
    return explainPlan(page, planPage(page));
  };

  it('name the index, the conditions that lead and those that are checked', async () => {
    const { plan, steps } = await explained('code=8480-6&status:not=final&_sort=-date&_count=10');
    expect(plan).to.equal('sources');
    const [walk, all] = steps;
    expect(walk?.does).to.equal(
      'Walk along the values of date in their order, past 20000 at most, and take those that match, and count them. Then read up to 11 resources by their ids.',
    );
    expect(walk?.from).to.deep.equal(['search.period_about']);
    expect(walk?.by).to.deep.equal(['code=8480-6']);
    expect(walk?.checks).to.deep.equal([{ condition: 'status:not=final', in: 'search.entry' }]);
    expect(walk?.otherwise).to.equal('fewer than 11 match');
    expect(all?.from).to.deep.equal(['search.entry_keys']);
    expect(all?.otherwise).to.equal(undefined);
  });

  it('name every parameter exactly once in each step', async () => {
    for (const query of [
      `patient=${PATIENT}&code=a&date=ge2020&date=lt2021&_sort=-date&_total=none`,
      'value-quantity=gt5&value-quantity=lt7&code=a,b&encounter:missing=true&_sort=code',
      'performer:Practitioner.name=a&_lastUpdated=gt2020&status=final',
      `_id=${PATIENT}&code:not=a`,
      'combo-code-value-quantity=a$gt5&_sort=-_lastUpdated',
      'date=ge2020&_sort=-date,status',
    ]) {
      const { used } = (
        await understandRequest(NOTHING, requiredValueSets, SEES, {
          type: 'Observation',
          query: new URLSearchParams(query),
          base: 'http://localhost/',
        })
      ).search;
      const wanted = used.filter(([key]) => !['_sort', '_total'].includes(key)).map((pair) => pair.join('='));
      for (const { by, checks, does } of (await explained(query)).steps)
        expect([...by, ...checks.map(({ condition }) => condition)], `${query}: ${does}`).to.have.members(
          wanted,
        );
    }
  });

  it('say what comes last in an order', async () => {
    const { steps } = await explained('_sort=-date');
    expect(steps.map(({ does, otherwise }) => [does.split(',')[0], otherwise])).to.deep.equal([
      ['Walk along the values of date in their order', 'the page is not full'],
      ['Read resources without a value of date', undefined],
    ]);
  });
});
