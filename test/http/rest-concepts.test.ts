import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { dataOf, restOf } from '#test/support/rest.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** docs/spec/interface.md, section 4.3; docs/spec/decisions.md, section 4: Concepts */
describe('concepts of REST v1', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const { get } = restOf(() => service);
  const ids = async (path: string) => dataOf(await get(path)).map(({ concept_id }) => String(concept_id));
  const search = (q: string, more = '') => ids(`/search?${new URLSearchParams({ q })}${more}`);

  it('shows a concept with its synonyms, codes and what it is related to', async () => {
    const { json } = await get('/terminology/conditions/type-2-diabetes');
    expect(json).to.include({ concept_id: 'type-2-diabetes', type: 'condition', display: 'Type 2 diabetes' });
    expect(json.synonyms).to.include('adult-onset diabetes');
    expect(json.codes).to.deep.equal([{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11' }]);
    const related = json.related as JsonObject[];
    expect(related).to.deep.include({
      ...{ relation: 'treated_with', concept_id: 'metformin', type: 'treatment', display: 'Metformin' },
      code: null,
    });
    expect(related).to.deep.include({
      ...{ relation: 'has_symptom', concept_id: 'thirst', type: 'symptom', display: 'Excessive thirst' },
      code: null,
    });
    expect(related).to.deep.include({
      ...{ relation: 'measured_by', concept_id: null, type: null },
      display: 'Hemoglobin A1c/Hemoglobin.total in Blood',
      code: { system: 'http://loinc.org', code: '4548-4' },
    });
  });

  it('says relations from the other side, too', async () => {
    const treatment = (await get('/terminology/treatments/metformin')).json.related as JsonObject[];
    expect(treatment.map(({ relation, concept_id }) => `${relation} ${concept_id}`)).to.include.members([
      'treats type-2-diabetes',
      'treats gestational-diabetes',
    ]);
    const group = (await get('/terminology/treatments/statin')).json.related as JsonObject[];
    expect(group).to.deep.include({
      ...{ relation: 'has_part', concept_id: 'atorvastatin', type: 'treatment', display: 'Atorvastatin' },
      code: null,
    });
  });

  it('answers alike under all paths', async () => {
    const one = (await get('/terminology/symptoms/headache')).json;
    for (const path of ['/search/headache', '/terminology/search/headache'])
      expect((await get(path)).json, path).to.deep.equal(one);
    const found = (await get('/search?q=headache')).json;
    expect((await get('/terminology/search?q=headache')).json).to.deep.equal(found);
  });

  const cases: readonly [string, string, string][] = [
    ['the beginning of a name', 'heada', 'headache'],
    ['everyday words', 'tummy ache', 'abdominal-pain'],
    ['clinical words', 'dyspnoea', 'shortness-of-breath'],
    ['American spelling', 'diarrhea', 'diarrhoea'],
    ['an abbreviation', 'copd', 'copd'],
    ['words in any order', 'pressure high blood', 'hypertension'],
    ['a letter too few', 'hedache', 'headache'],
    ['letters in another order', 'mirgaine', 'migraine'],
    ['an ICD-10 code', 'E11', 'type-2-diabetes'],
    ['an ATC code in small letters', 'a10ba02', 'metformin'],
    ['another name of a substance', 'acetaminophen', 'paracetamol'],
  ];
  for (const [how, q, id] of cases)
    it(`finds by ${how}`, async () => {
      expect((await search(q)).slice(0, 5)).to.include(id);
    });

  it('finds each concept once, of the type that is asked for, and no more than are asked for', async () => {
    const all = await search('pain', '&limit=50');
    expect(new Set(all).size).to.equal(all.length);
    expect(all).to.have.length.above(8);
    expect(await search('pain', '&limit=3')).to.deep.equal(all.slice(0, 3));
    for (const path of ['/search', '/terminology/search'])
      for (const limit of [3, 50])
        expect((await get(`${path}?q=pain&limit=${limit}`)).json.total, path).to.equal(all.length);
    const some = (await get('/terminology/treatments?q=pain&limit=1')).json;
    expect([some.total, dataOf(await get('/terminology/treatments?q=pain&limit=50')).length]).to.deep.equal([
      some.total,
      some.total,
    ]);
    const treatments = dataOf(await get('/terminology/treatments?q=pain'));
    expect(treatments.map(({ type }) => type)).to.deep.equal(treatments.map(() => 'treatment'));
    expect(treatments).to.have.length.above(0);
    expect(await search('qqqqzzzz')).to.deep.equal([]);
  });

  it('lists all of a type in the order of their names, page by page', async () => {
    const seen: string[] = [];
    const names: string[] = [];
    let cursor = '';
    let total = 0;
    do {
      const { json } = await get(`/terminology/symptoms?limit=30${cursor === '' ? '' : `&cursor=${cursor}`}`);
      for (const each of json.data as JsonObject[]) {
        seen.push(String(each.concept_id));
        names.push(String(each.display).toLowerCase());
      }
      total = Number(json.total);
      cursor = json.next_cursor === null ? '' : String(json.next_cursor);
    } while (cursor !== '');
    expect(total).to.equal(seen.length);
    expect(new Set(seen).size).to.equal(total);
    expect(total).to.be.at.least(60);
    expect(names).to.deep.equal([...names].sort());
  });

  it('refuses what makes no sense, and says what is unknown', async () => {
    const refused: readonly [string, number, string][] = [
      ['/search', 422, 'query.q is missing'],
      ['/terminology/symptoms?q=%20', 422, 'must not be blank'],
      ['/terminology/symptoms?limit=51', 422, 'must be at most 50'],
      ['/terminology/symptoms?cursor=x', 422, 'is not a cursor of this list'],
      ['/terminology/symptoms?q=pain&cursor=x', 422, 'query.cursor is for lists without q'],
      [
        '/terminology/symptoms/metformin',
        404,
        'unknown symptom metformin; /v1/terminology/symptoms?q= finds concepts',
      ],
      ['/search/nothing', 404, 'unknown concept nothing; /v1/search?q= finds concepts'],
    ];
    for (const [path, status, says] of refused) {
      const answer = await get(path);
      expect(answer.status, path).to.equal(status);
      expect(answer.text, path).to.include(says);
    }
    const page = (await get('/terminology/symptoms?limit=2')).json.next_cursor;
    expect((await get(`/terminology/conditions?cursor=${page}`)).status).to.equal(422);
  });

  describe('from files', () => {
    let folder: string;
    before(async () => {
      folder = await temporaryFolder();
    });
    const load = async (name: string, lines: readonly string[], ...options: readonly string[]) => {
      const file = join(folder, name);
      await writeFile(file, `${lines.join('\n')}\n`);
      const words = ['terminology', 'load', file, '--system', 'concepts', ...options];
      return runCommand(words, { DATABASE_URL: service.databaseUrl });
    };

    it('takes another language, and falls back to English', async () => {
      const lines = [
        'concept_id;display;synonyms',
        'headache;Kopfschmerzen;Kopfweh|Schädelweh',
        'fever;Fieber;',
      ];
      const done = await load('symptoms.de.csv', lines, '--lang', 'de');
      expect(done.code, done.stderr).to.equal(0);
      expect(done.stdout).to.equal('2 concepts in the language de loaded.\n');
      expect(await search('kopfw', '&lang=de')).to.deep.equal(['headache']);
      expect(await search('schadelweh', '&lang=de-AT')).to.deep.equal(['headache']);
      expect((await search('tummy', '&lang=de')).slice(0, 1)).to.deep.equal(['abdominal-pain']);
      expect(await search('kopfweh')).not.to.include('headache');
      const german = (await get('/search/headache?lang=de')).json;
      expect(german).to.include({ display: 'Kopfschmerzen' });
      expect(german.codes).to.deep.equal((await get('/search/headache')).json.codes);
      expect((await get('/search/migraine?lang=de')).json.related).to.deep.include({
        ...{ relation: 'has_symptom', concept_id: 'headache', type: 'symptom', display: 'Kopfschmerzen' },
        code: null,
      });
      expect((await get('/search/headache?lang=xx')).json).to.include({ display: 'Headache' });
    });

    it('takes further concepts with codes and relations, and replaces them with the next load', async () => {
      const heading = 'concept_id,type,display,synonyms,codes,relations';
      const first = [
        heading,
        'frozen-shoulder,condition,Frozen shoulder,adhesive capsulitis,icd10 M75.0,treated_with physiotherapy',
      ];
      expect((await load('more.csv', first)).code).to.equal(0);
      expect(await search('M75.0')).to.deep.equal(['frozen-shoulder']);
      const related = (await get('/search/physiotherapy')).json.related as JsonObject[];
      expect(related.map(({ concept_id }) => concept_id)).to.include('frozen-shoulder');
      expect((await load('more.csv', [heading, 'tennis-elbow,condition,Tennis elbow,,,'])).code).to.equal(0);
      expect(await search('frozen shoulder')).not.to.include('frozen-shoulder');
      expect(await search('tennis')).to.deep.equal(['tennis-elbow']);
      expect(await search('headache')).to.include('headache');
    });

    const faults: readonly [string, readonly string[], string][] = [
      ['no heading', ['id,name', 'x,y'], 'line 1: the heading lacks concept_id, display'],
      ['an id of another form', ['concept_id,display', 'Back Pain,x'], 'Back Pain is not a valid id'],
      [
        'a new concept without a type',
        ['concept_id,display', 'new-one,New'],
        'new-one is a new concept, so it needs a type',
      ],
      [
        'another type',
        ['concept_id,type,display', 'fever,condition,x'],
        'fever is a symptom, not a condition',
      ],
      [
        'an unknown type',
        ['concept_id,type,display', 'a,sign,x'],
        'sign is not a type; the types are symptom, condition, treatment',
      ],
      [
        'a concept twice',
        ['concept_id,display', 'fever,x', 'fever,y'],
        'line 3, column concept_id: fever occurs twice',
      ],
      [
        'a target that is unknown',
        ['concept_id,display,relations', 'fever,x,symptom_of nothing'],
        'unknown concept nothing',
      ],
      [
        'a target of another type',
        ['concept_id,display,relations', 'fever,x,treated_with migraine'],
        "can't be treated_with migraine",
      ],
      ['a code without a system', ['concept_id,display,codes', 'fever,x,R50'], 'R50 is not a code'],
      ['nothing', ['concept_id,display'], 'the file contains no concepts'],
    ];
    for (const [what, lines, says] of faults)
      it(`refuses ${what}, and changes nothing`, async () => {
        const before = (await get('/terminology/symptoms?limit=50')).text;
        const done = await load('bad.csv', lines);
        expect(done.code).not.to.equal(0);
        expect(done.stderr).to.include(says);
        expect(done.stderr).to.include('Nothing was changed');
        expect((await get('/terminology/symptoms?limit=50')).text).to.equal(before);
      });

    it('refuses a load that would leave concepts of another language without a type', async () => {
      expect((await load('a.csv', ['concept_id,type,display', 'gum-pain,symptom,Gum pain'])).code).to.equal(
        0,
      );
      expect(
        (await load('b.csv', ['concept_id,display', 'gum-pain,Zahnfleischschmerz'], '--lang', 'de')).code,
      ).to.equal(0);
      const done = await load('a.csv', ['concept_id,type,display', 'lip-pain,symptom,Lip pain']);
      expect(done.code).not.to.equal(0);
      expect(done.stderr).to.include(
        'gum-pain, loaded in the language de, has no type without the replaced file',
      );
    });

    it('says what is loaded', async () => {
      const done = await runCommand(['terminology', 'list', '--json'], { DATABASE_URL: service.databaseUrl });
      const rows = JSON.parse(done.stdout) as unknown[];
      const names = rows.filter(isObject).map(({ url }) => url);
      expect(names).to.include.members(['concepts (en)', 'concepts (de)']);
    });
  });
});
