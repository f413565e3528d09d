/**
 * The dashboard's search builder: the options that it offers, and the costs that it states, match what the service accepts and
 * plans.
 */
import { expect } from 'chai';
import { provenancePredicate } from '#queries/provenance/parameters.ts';
import { understandRequest } from '#queries/search/ask.ts';
import { planPage } from '#queries/search/plan.ts';
import { capabilityStatement } from '#src/fhir/capability.ts';
import { requiredValueSets } from '#src/fhir/terminology.ts';
import { type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import type { Sees } from '#src/shared/access/caller.ts';
import { readFound } from '../../dashboard/search/answer.ts';
import { explainCost } from '../../dashboard/search/cost.ts';
import { readTypes, type SearchType, type Statement } from '../../dashboard/search/parameters.ts';
import { printQuery, readQuery, withValue } from '../../dashboard/search/query.ts';

const BASE = 'http://localhost/fhir/R4/';
const ID = '00000000-0000-7000-8000-000000000001';
const SEES: Sees = {
  owner: { project: 'proj_1', environment: 'sandbox' },
  ownerId: '00000000-0000-4000-8000-000000000001',
};
/** A database in which look-ups for chains find nothing. */
const NOTHING = { query: async () => ({ rows: [] }) } as unknown as Parameters<typeof understandRequest>[0];
const STATEMENT = capabilityStatement({
  baseUrl: BASE,
  serviceUrl: 'http://localhost',
  version: '0.3.0',
  date: '2026-11-21T09:30:00Z',
  operations: [],
}) as unknown as Statement;
const TYPES = readTypes(STATEMENT);
const KINDS = ['token', 'reference', 'date', 'string', 'uri', 'quantity', 'composite', 'special'];
const VALUES = ['a', ID, '2020', 'a', 'http://localhost/a', '5', 'a$2020', '1|2|3|km'];
const MODIFIERS = [
  ...['not', 'text', 'in', 'not-in', 'above', 'below', 'missing', 'of-type', 'identifier', 'exact'],
  ...['contains', 'iterate', ...TYPE_NAMES],
];

function typeNamed(name: string): SearchType {
  const found = TYPES.find((type) => type.name === name);
  if (found === undefined) throw new Error(`no type ${name}`);
  return found;
}

/** Returns a search's plan, or the message of its refusal. */
async function explainPlan(type: ResourceType, key: string, value: string): Promise<string> {
  const parameter = { name: key.split(':')[0] ?? '', values: [value], text: value };
  const [, modifier] = key.split(':');
  try {
    if (type === 'Provenance' && key !== '_sort') {
      const scope = { type, tenant: SEES.ownerId, sees: SEES, base: BASE, now: 0, project: SEES.owner };
      const raw = modifier === undefined ? parameter : { ...parameter, modifier };
      const found = provenancePredicate(raw, scope);
      return found?.selective === true ? 'sources' : 'order';
    }
    const query = new URLSearchParams([[key, value]]);
    const request = { type, query, base: BASE };
    return planPage((await understandRequest(NOTHING, requiredValueSets, SEES, request)).asked).kind;
  } catch (error) {
    const { issues } = error as { readonly issues?: readonly { readonly diagnostics: string }[] };
    return issues?.[0]?.diagnostics ?? String(error);
  }
}

/** Returns a value that a parameter accepts with a modifier, if there is such a value without a terminology. */
function valueFor(kind: string, modifier: string): string {
  if (modifier === 'missing') return 'true';
  if (modifier === 'of-type') return 'a|b|c';
  if (kind === 'reference' && (modifier === 'above' || modifier === 'below')) return `Organization/${ID}`;
  return VALUES[KINDS.indexOf(kind)] ?? 'a';
}

describe('the search builder of the dashboard', () => {
  it('offers the modifiers that the service takes, and no others', async () => {
    for (const type of TYPES)
      for (const { name, type: kind, modifiers } of type.parameters)
        for (const modifier of MODIFIERS) {
          const isType = TYPE_NAMES.some((each) => each === modifier);
          // A canonical parameter also accepts a type as its modifier, but then finds nothing.
          if (isType && !modifiers.includes(modifier)) continue;
          const of = type.name as ResourceType;
          const said = await explainPlan(
            of,
            `${name}:${modifier}`,
            isType ? `${modifier}/${ID}` : valueFor(kind, modifier),
          );
          const isTaken = !/is not supported|cannot refer|must be a reference/.test(said);
          expect(isTaken, `${of}?${name}:${modifier}: ${said}`).to.equal(modifiers.includes(modifier));
        }
    const { parameters } = typeNamed('Encounter');
    expect(parameters.find(({ name }) => name === 'location')?.modifiers).to.include.members([
      'Location',
      'below',
    ]);
  });

  it('offers the orders that the service has', async () => {
    for (const type of TYPES)
      if (type.name !== 'Provenance')
        for (const { name, isSortable } of type.parameters) {
          const said = await explainPlan(type.name as ResourceType, '_sort', name);
          expect(!/cannot be sorted by/.test(said), `${type.name} ${name}`).to.equal(isSortable);
        }
  });

  it('says what leads to the matches as the service plans it', async () => {
    for (const type of TYPES)
      for (const { name, type: kind, modifiers } of type.parameters)
        for (const modifier of [
          '',
          ...modifiers.filter(
            (each) => !/in$|[A-Z]/.test(each) && !(kind === 'token' && /above|below/.test(each)),
          ),
        ]) {
          const part = { name, modifier, value: valueFor(kind, modifier) };
          const key = modifier === '' ? name : `${name}:${modifier}`;
          const { lead } = explainCost({ type: type.name, parts: [part] }, type);
          const plan = await explainPlan(type.name as ResourceType, key, part.value);
          const expected =
            type.name === 'Provenance' && plan === 'sources' && name === '_id' ? 'named' : plan;
          expect(lead, `${type.name}?${key}=${part.value}`).to.equal(expected);
        }
  });

  it('names each part with its cost', () => {
    const costs = (path: string) => {
      const query = readQuery(path);
      const { lead, parts } = explainCost(query, typeNamed(query.type));
      return [lead, ...parts.map(({ text, kind }) => `${text} ${kind}`)];
    };
    expect(costs('/fhir/R4/Observation')).to.deep.equal(['everything', '_total=accurate total']);
    expect(
      costs(`/fhir/R4/Observation?patient=${ID}&code=a&date=ge2020&_sort=code&_total=none&_asOf=2026`),
    ).to.deep.equal([
      'named',
      `patient=${ID} record`,
      'code=a within',
      'date=ge2020 within',
      '_sort=code sortsFew',
      '_asOf=2026 asOf',
    ]);
    expect(
      costs(
        '/fhir/R4/Observation?patient.name:contains=a&value-string:contains=b&date=ne2020&code=&_total=none',
      ),
    ).to.deep.equal([
      'sources',
      'patient.name:contains=a chain',
      'value-string:contains=b allValues',
      'date=ne2020 allValues',
    ]);
    expect(
      costs('/fhir/R4/Patient?name=a&colour=b&gender:not=male&_sort=gender&_include=*&_total=none'),
    ).to.deep.equal([
      'sources',
      'name=a beginning',
      'colour=b unknown',
      'gender:not=male check',
      '_sort=gender sortsAll',
      '_include=* include',
    ]);
    expect(costs('/fhir/R4/Observation?_sort=-date,code&_total=none')).to.deep.equal([
      'everything',
      '_sort=-date,code orderedByFirst',
    ]);
    expect(costs('/fhir/R4/Observation?_sort=-_id,code&_total=none')).to.include('_sort=-_id,code ordered');
    expect(costs(`/fhir/R4/Observation?patient=${ID}&_sort=date,code&_total=none`)).to.include(
      '_sort=date,code sortsFew',
    );
  });

  it('keeps a search in a path', () => {
    for (const path of [
      '/fhir/R4/Patient',
      '/fhir/R4/Observation?code=http://loinc.org%7C8480-6,a&code:not=%C3%A9%20%26&_has:A:b:c=d&=',
      '/fhir/R4/Observation?code=&_include:iterate=Observation:patient',
    ])
      expect(printQuery(readQuery(path))).to.equal(path);
    const query = readQuery('/fhir/R4/Patient?_count=5&name=a');
    expect(printQuery(withValue(query, '_count', '7'))).to.equal('/fhir/R4/Patient?_count=7&name=a');
    expect(printQuery(withValue(query, '_count', ''))).to.equal('/fhir/R4/Patient?name=a');
    expect(printQuery(readQuery('https://example.org/'))).to.equal('/fhir/R4/Observation');
  });

  it('reads resources of a Bundle in words, with all digits', () => {
    const found = readFound(`{"resourceType":"Bundle","total":3,
      "link":[{"relation":"next","url":"http://localhost/fhir/R4/a"}],"entry":[
      {"resource":{"resourceType":"OperationOutcome","issue":[{"diagnostics":"ignored"}]},"search":{"mode":"outcome"}},
      {"resource":{"resourceType":"Observation","id":"1","meta":{"lastUpdated":"2026-01-01T00:00:00Z"},
        "status":"final","code":{"coding":[{"code":"8480-6","display":"Systolic"}]},"effectiveDateTime":"2026",
        "valueQuantity":{"comparator":"<","value":7.10,"unit":"mmol/L"}},"search":{"mode":"match"}},
      {"resource":{"resourceType":"Patient","id":"2","name":[{"family":"Lind","given":["Nora","A"]}],
        "birthDate":"1980-01-01","active":true},"search":{"mode":"include"}}]}`);
    const { rows, ...rest } = found;
    expect(rest).to.deep.equal({
      total: '3',
      next: 'http://localhost/fhir/R4/a',
      previous: undefined,
      notes: ['ignored'],
    });
    expect(rows.map((row) => Object.values(row).join('|'))).to.deep.equal([
      'Observation|1|2026-01-01T00:00:00Z|false|Systolic|final|2026|<7.10 mmol/L',
      'Patient|2||true|Nora A Lind|true|1980-01-01|',
    ]);
  });
});
