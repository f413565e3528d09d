import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { dataOf, restOf } from '#test/support/rest.ts';

/** docs/spec/interface.md, sections 2.3 and 4.3; docs/spec/decisions.md, section 4 */
describe('terminology and grants of REST v1', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const { get, made } = restOf(() => service);
  const codes = async (system: string, q: string, limit = 20) =>
    dataOf(await get(`/terminology/${system}?${new URLSearchParams({ q, limit: String(limit) })}`)).map(
      ({ code }) => String(code),
    );

  it('looks a code up', async () => {
    expect((await get('/terminology/loinc/718-7')).json).to.deep.equal({
      ...{ system: 'http://loinc.org', code: '718-7' },
      ...{ display: 'Hemoglobin [Mass/volume] in Blood', category: 'laboratory', unit: 'g/dL' },
    });
    expect((await get('/terminology/atc/A10BA02')).json).to.include({ code: 'A10BA02', unit: null });
    for (const path of ['loinc/718-8', 'atc/718-7', 'icd10/E11', 'constructor/x'])
      expect((await get(`/terminology/${path}`)).status, path).to.equal(404);
  });

  const found: readonly [string, string, string, string][] = [
    ['a code', 'loinc', '718-7', '718-7'],
    ['a code in small letters', 'atc', 'a10ba02', 'A10BA02'],
    ['a name as it is written', 'loinc', 'Hemoglobin [Mass/volume] in Blood', '718-7'],
    ['the beginning of a name', 'loinc', 'hemoglobin [mass', '718-7'],
    ['words in any order', 'loinc', 'blood hemoglobin volume', '718-7'],
    ['beginnings of words', 'loinc', 'hem mass bloo', '718-7'],
    ['an accent too many', 'loinc', 'hémoglobin mass blood', '718-7'],
    ['a letter too few', 'loinc', 'hemoglbin mass blood', '718-7'],
    ['a letter for another', 'atc', 'metfornin', 'A10BA02'],
    ['letters in another order', 'atc', 'metfromin', 'A10BA02'],
  ];
  for (const [what, system, q, code] of found)
    it(`finds by ${what}`, async () => {
      expect(await codes(system, q, 5)).to.include(code);
    });

  it('has the best first, and no more than are asked for', async () => {
    expect((await codes('atc', 'A10BA02'))[0]).to.equal('A10BA02');
    expect((await codes('atc', 'A10'))[0]).to.equal('A10');
    const glucose = await codes('loinc', 'glucose', 3);
    expect(glucose).to.have.length(3);
    expect(await codes('loinc', 'glucose', 50)).to.have.length.above(3);
    expect((await codes('loinc', 'glucose', 50)).slice(0, 3)).to.deep.equal(glucose);
    const totals = [1, 3, 50].map(
      async (limit) => (await get(`/terminology/loinc?q=glucose&limit=${limit}`)).json.total,
    );
    const [total, ...others] = await Promise.all(totals);
    expect(others).to.deep.equal([total, total]);
    expect(total).to.be.above(50);
    expect((await get('/terminology/atc?q=A10BA02&limit=1')).json.total).to.equal(1);
  });

  it('finds nothing for what nothing is like', async () => {
    for (const q of ['zzqqxx', '===', "'", '!!', ') | (', '%', '\\']) {
      const answer = await get(`/terminology/loinc?${new URLSearchParams({ q })}`);
      expect(answer.status, q).to.equal(200);
      expect(answer.json, q).to.deep.equal({ data: [], total: 0, next_cursor: null });
    }
  });

  it('refuses a question without words, one too long, and limits out of bounds', async () => {
    const refused = [
      ['', 'query.q', 'is missing'],
      ['q=%20', 'query.q', 'must not be blank'],
      [`q=${'x'.repeat(81)}`, 'query.q', 'must have at most 80 characters'],
      ['q=x&limit=51', 'query.limit', 'must be at most 50'],
      ['q=x&limit=0', 'query.limit', 'must be at least 1'],
    ] as const;
    for (const [query, field, told] of refused) {
      const answer = await get(`/terminology/loinc?${query}`);
      expect(answer.status, query).to.equal(422);
      expect((answer.json.error as { field: string }).field, query).to.equal(field);
      expect(answer.text, query).to.include(`"message":"${field} ${told}"`);
    }
    const unknown = await get('/terminology/loinc?q=x&cursor=y');
    expect(unknown.status).to.equal(422);
    expect(unknown.text).to.include('unknown query parameter `cursor`; the query parameters are q, limit');
    expect((await get('/terminology/snomed?q=x')).status).to.equal(404);
  });

  it('gives no grants while there are no consents, and nothing of a patient that nobody sees', async () => {
    const { id } = await made('/patients', { family: 'Grant' });
    const answer = await get(`/patients/${String(id)}/grants`);
    expect(answer.json).to.deep.equal({ data: [], total: 0, next_cursor: null });
    expect((await get(`/patients/${newUuid()}/grants`)).status).to.equal(404);
  });
});
