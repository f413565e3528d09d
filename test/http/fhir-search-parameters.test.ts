import { expect } from 'chai';
import { compiledParameters } from '#src/fhir/search/paths.ts';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { queryText } from '#test/support/search/query-text.ts';

/** A valid value for each kind of parameter. */
const VALUES: Readonly<Record<string, string>> = {
  token: 'x',
  reference: 'x',
  date: '2024',
  string: 'x',
  uri: 'urn:x',
  quantity: '1',
};

const REFUSED: readonly (readonly [type: string, query: string, named: string])[] = [
  ['Observation', 'date=yesterday', 'date'],
  ['Observation', 'date=2024-02-30', 'date'],
  ['Observation', 'date:exact=2024', 'date:exact'],
  ['Observation', 'code=a|b|c', 'code'],
  ['Observation', 'code=|', 'code'],
  ['Observation', 'code:wrong=1', 'code:wrong'],
  ['Observation', 'category:missing=perhaps', 'category:missing'],
  ['Observation', 'value-quantity=much', 'value-quantity'],
  ['Observation', 'value-quantity=1|2|3|4', 'value-quantity'],
  // R4: `:missing` works with all parameters except combinations.
  ['Observation', 'code-value-concept:missing=true', 'code-value-concept:missing'],
  ['Observation', 'performer:Patientt=1', 'performer:Patientt'],
  ['Observation', 'performer=Nobody/1', 'performer'],
  ['Observation', 'encounter=a b', 'encounter'],
  ['Patient', 'name:below=x', 'name:below'],
  ['Patient', 'gender:of-type=a|b|c', 'gender:of-type'],
  ['Patient', 'identifier:of-type=42', 'identifier:of-type'],
  ['Patient', 'name=\u0301', 'name'],
];

/** https://hl7.org/fhir/R4/search.html; test/search/ tests what each parameter finds. */
describe('FHIR search parameters', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const create = async (resource: object & { resourceType: string }): Promise<string> => {
    const { json } = await service.post(`/${resource.resourceType}`, resource);
    return String(json.id);
  };
  const found = async (path: string): Promise<string[]> => {
    const answer = await service.fhir(path);
    expect(answer.status, `${path}: ${answer.text}`).to.equal(200);
    const { total, entry = [] } = JSON.parse(answer.text) as {
      readonly total: number;
      readonly entry?: readonly { readonly resource: { readonly id: string } }[];
    };
    expect(total, path).to.equal(entry.length);
    return entry.map(({ resource }) => resource.id);
  };

  it('names what it refuses', async () => {
    for (const [type, query, named] of REFUSED) {
      const answer = await service.fhir(`/${type}?${queryText(query)}`);
      expect(answer.status, `${query}: ${answer.text}`).to.equal(400);
      expect(answer.text, query).to.contain(`http.${named}`);
    }
  });

  it('takes every parameter that a type has, with and without a value', async () => {
    for (const type of TYPE_NAMES) {
      if (type === 'Provenance') continue;
      for (const { code, type: kind } of compiledParameters(type)) {
        const value = VALUES[kind];
        // Composite and special parameters have their own values.
        if (value === undefined) continue;
        const answer = await service.fhir(`/${type}?${code}=${value}&${code}:missing=true&_total=none`, {
          headers: { Prefer: 'handling=strict' },
        });
        expect(answer.status, `${type}?${code} (${typeEntry(type).home}): ${answer.text}`).to.equal(200);
      }
    }
  });

  it('follows changes, deletions and restorations', async () => {
    const body = { resourceType: 'Patient', name: [{ family: 'Changing' }], gender: 'other' };
    const id = await create(body);
    expect(await found('/Patient?family=changing&gender=other')).to.deep.equal([id]);
    const put = (resource: object) =>
      service.fhir(`/Patient/${id}`, { method: 'PUT', body: JSON.stringify({ id, ...resource }) });
    await put({ ...body, name: [{ family: 'Changed' }] });
    expect(await found('/Patient?family=changing')).to.deep.equal([]);
    expect(await found('/Patient?family=changed&gender=other')).to.deep.equal([id]);
    await service.fhir(`/Patient/${id}`, { method: 'DELETE' });
    expect(await found('/Patient?gender=other')).to.deep.equal([]);
    expect(await found('/Patient?birthdate:missing=true')).to.deep.equal([]);
    await put(body);
    expect(await found('/Patient?family=changing')).to.deep.equal([id]);
  });

  it('decides conditional requests by every parameter', async () => {
    const body = { resourceType: 'Patient', gender: 'unknown', name: [{ family: 'Once' }] };
    const post = () =>
      service.fhir('/Patient', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'If-None-Exist': 'family=once&gender=unknown' },
      });
    const first = await post();
    expect(first.status, first.text).to.equal(201);
    expect((await post()).status).to.equal(200);
  });

  it('finds numbers that JavaScript cannot hold, and goes on after those that no database can', async () => {
    const patient = await create({ resourceType: 'Patient' });
    const heaviest: string[] = [];
    for (const value of [
      '1e400',
      '-1e400',
      '1e-400',
      '1234567890123456e200000',
      '-12345678901234567e-200000',
    ]) {
      // Written as text, because JavaScript would print a different number.
      const body = `{"resourceType":"Observation","status":"final","code":{"text":"mass"},"subject":{"reference":"Patient/${patient}"},"valueQuantity":{"value":${value},"unit":"kg","system":"http://unitsofmeasure.org","code":"kg"}}`;
      const answer = await service.fhir('/Observation', { method: 'POST', body });
      expect(answer.status, answer.text).to.equal(201);
      heaviest.push(String(answer.json.id));
    }
    const [large = '', negative = '', , endless = ''] = heaviest;
    const ask = (query: string) => found(`/Observation?patient=${patient}&value-quantity=${query}`);
    expect(await ask('1e400')).to.deep.equal([large]);
    expect(await ask(`1e403${encodeURIComponent('|http://unitsofmeasure.org|g')}`)).to.deep.equal([large]);
    expect(await ask('gt1e300')).to.deep.equal([large, endless]);
    expect(await ask('lt-1')).to.deep.equal([negative]);
    expect(await ask('gt-1e-3&value-quantity=lt1e-3')).to.have.length(2);
    // A location with impossible coordinates doesn't prevent other locations from being found.
    for (const longitude of ['1e400', '1e-400'])
      await service.fhir('/Location', {
        method: 'POST',
        body: `{"resourceType":"Location","position":{"latitude":1,"longitude":${longitude}}}`,
      });
    expect(await found(`/Location?near=${encodeURIComponent('1|0|10|km')}`)).to.have.length(2);
  });
});
