/** `annal terminology`: a customer's own code systems, loaded from their publishers' files. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadSystem } from '#src/terminology/load/load.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

/** As in a release, with quoted fields that contain commas, quotation marks and line breaks. */
const LOINC_CSV = [
  '"LOINC_NUM","COMPONENT","PROPERTY","TIME_ASPCT","SYSTEM","SCALE_TYP","METHOD_TYP","CLASS","CLASSTYPE","STATUS","LONG_COMMON_NAME","EXAMPLE_UCUM_UNITS"',
  '"2345-7","Glucose","MCnc","Pt","Ser/Plas","Qn","","CHEM","1","ACTIVE","Glucose [Mass/volume] in Serum or Plasma","mg/dL"',
  '"8867-4","Heart rate","NRat","Pt","XXX","Qn","","HRTRATE.ATOM","2","ACTIVE","Heart rate","{beats}/min;{counts/min}"',
  '"44261-6","PHQ-9, ""total""","Score","Pt","^Patient","Qn","","SURVEY.PHQ","4","DEPRECATED","A name',
  'of two lines","{score}"',
];

const ICD10_CSV = [
  '\uFEFFCode;Title',
  'E11;Type 2 diabetes',
  'E11.6;With complications',
  'E11.65;With "high" glucose',
  'I10;Hypertension',
];

const row = (...fields: readonly string[]) => fields.join('\t');
const CORE = '900000000000207008';
const RF2 = {
  'sct2_Concept_Snapshot.txt': [
    row('id', 'effectiveTime', 'active', 'moduleId', 'definitionStatusId'),
    row('1001', '20200101', '1', CORE, '900000000000074008'),
    row('1002', '20200101', '1', CORE, '900000000000074008'),
    row('1003', '20200101', '1', CORE, '900000000000074008'),
    row('1004', '20200101', '1', CORE, '900000000000074008'),
    row('1004', '20210101', '0', CORE, '900000000000074008'),
  ],
  'sct2_Description_Snapshot-en.txt': [
    row(
      'id',
      'effectiveTime',
      'active',
      'moduleId',
      'conceptId',
      'languageCode',
      'typeId',
      'term',
      'caseSignificanceId',
    ),
    ...[
      ['2001', '1001', '900000000000003001', 'Invented thing (thing)'],
      ['2002', '1002', '900000000000003001', 'Invented "red" thing (thing)'],
      ['2003', '1002', '900000000000013009', 'Red thing'],
      ['2004', '1003', '900000000000003001', 'Invented round red thing (thing)'],
      ['2005', '1004', '900000000000003001', 'Given up (thing)'],
    ].map(([id = '', concept = '', type = '', term = '']) =>
      row(id, '20200101', '1', CORE, concept, 'en', type, term, '900000000000448009'),
    ),
  ],
  'sct2_Relationship_Snapshot.txt': [
    row(
      'id',
      'effectiveTime',
      'active',
      'moduleId',
      'sourceId',
      'destinationId',
      'relationshipGroup',
      'typeId',
      'characteristicTypeId',
      'modifierId',
    ),
    ...[
      ['3001', '1', '1002', '1001', '116680003'],
      ['3002', '1', '1003', '1002', '116680003'],
      ['3003', '0', '1003', '1004', '116680003'],
      ['3004', '1', '1003', '1004', '999000'],
    ].map(([id = '', active = '', source = '', destination = '', type = '']) =>
      row(
        id,
        '20200101',
        active,
        CORE,
        source,
        destination,
        '0',
        type,
        '900000000000011006',
        '900000000000451002',
      ),
    ),
  ],
  'der2_cRefset_LanguageSnapshot-en.txt': [
    row('id', 'effectiveTime', 'active', 'moduleId', 'refsetId', 'referencedComponentId', 'acceptabilityId'),
    row('u1', '20200101', '1', CORE, '900000000000509007', '2003', '900000000000548007'),
  ],
};

describe('annal terminology', () => {
  let service: InProcess;
  let folder: string;
  before(async () => {
    service = await startInProcess();
    folder = await mkdtemp(join(await temporaryFolder(), 'terminology-'));
  });
  after(() => service.stop());

  const write = async (name: string, lines: readonly string[], end = '\r\n'): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, lines.join(end) + end);
    return path;
  };
  const terminology = (...args: readonly string[]) =>
    runCommand(['terminology', ...args], { DATABASE_URL: service.pool.options.connectionString ?? '' });
  const loaded = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await terminology('load', ...args);
    expect(code, stderr).to.equal(0);
  };
  const get = async (path: string) => {
    const answer = await service.fhir(path);
    return { status: answer.status, body: JSON.parse(answer.text) };
  };
  const lookup = async (system: string, code: string): Promise<Record<string, unknown>> => {
    const { body } = await get(`/CodeSystem/$lookup?system=${encodeURIComponent(system)}&code=${code}`);
    const facts: Record<string, unknown> = {};
    for (const { name, part, ...value } of body.parameter ?? []) {
      const [said] =
        part === undefined
          ? Object.values(value)
          : [part[1].valueCode ?? part[1].valueString ?? part[1].valueBoolean];
      facts[part === undefined ? name : part[0].valueCode] = said;
    }
    return facts;
  };
  const expanded = async (url: string): Promise<string[]> => {
    const { status, body } = await get(`/ValueSet/$expand?url=${encodeURIComponent(url)}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return (body.expansion.contains ?? []).map(({ code }: { code: string }) => code);
  };

  it('loads LOINC in the place of the bundled part', async () => {
    expect(await lookup('http://loinc.org', '4548-4')).to.have.property('display');
    await loaded(await write('Loinc.csv', LOINC_CSV), '--system', 'loinc', '--release', '2.78');
    expect(await lookup('http://loinc.org', '4548-4')).to.not.have.property('display');
    expect(await lookup('http://loinc.org', '2345-7')).to.include({
      version: '2.78',
      display: 'Glucose [Mass/volume] in Serum or Plasma',
      category: 'laboratory',
      unit: 'mg/dL',
      SCALE_TYP: 'Qn',
      inactive: false,
    });
    expect(await lookup('http://loinc.org', '8867-4')).to.include({
      category: 'vital-signs',
      unit: '{beats}/min',
    });
    expect(await lookup('http://loinc.org', '44261-6')).to.include({
      display: 'A name\r\nof two lines',
      category: 'survey',
      COMPONENT: 'PHQ-9, "total"',
      inactive: true,
    });
    const { body } = await get('/CodeSystem?url=http://loinc.org');
    expect(body.total).to.equal(1);
    expect(body.entry[0].resource).to.include({ content: 'not-present', count: 3, version: '2.78' });
    // The load created the index for its codes; a deprecated code isn't found.
    const { rows } = await service.pool.query('select distinct system from terminology.code_index');
    expect(rows).to.have.length(1);
    const found = await get(`${service.url}/v1/terminology/loinc?q=hart%20ratte`);
    expect(found.body.data.map(({ code }: { code: string }) => code)).to.deep.equal(['8867-4']);
    expect((await get(`${service.url}/v1/terminology/loinc?q=A%20name`)).body.data).to.deep.equal([]);
    // The file's names replace ours. The everyday names for codes stay, labelled as Annal's.
    const sugar = await get(`${service.url}/v1/terminology/loinc?q=blood%20sugar`);
    expect(sugar.body.data.map(({ code }: { code: string }) => code)).to.deep.equal(['2345-7']);
    expect(await lookup('http://loinc.org', '2345-7')).to.include({ 'annal-short-name': 'glucose' });
  });

  it('loads ICD-10, whose codes nest', async () => {
    await loaded(await write('icd10.csv', ICD10_CSV), '--system', 'icd10');
    const icd10 = 'http://hl7.org/fhir/sid/icd-10';
    expect(await lookup(icd10, 'E11.65')).to.include({ display: 'With "high" glucose', parent: 'E11.6' });
    const { body } = await get(`/CodeSystem/$subsumes?system=${icd10}&codeA=E11&codeB=E11.65`);
    expect(body.parameter[0].valueCode).to.equal('subsumes');
    expect(await expanded('http://hl7.org/fhir/ValueSet/icd-10')).to.deep.equal([
      'E11',
      'E11.6',
      'E11.65',
      'I10',
    ]);
  });

  it('loads ATC, a code once', async () => {
    const lines = ['atc_code,atc_name,ddd', 'A,ALIMENTARY,NA', 'A10BA02,metformin,2', 'A10BA02,metformin,3'];
    await loaded(await write('atc.csv', lines, '\n'), '--system', 'atc');
    expect(await expanded('http://www.whocc.no/atc/vs')).to.deep.equal(['A', 'A10BA02']);
  });

  it('loads SNOMED CT from a release’s files in any order', async () => {
    const files = await Promise.all(Object.entries(RF2).map(([name, lines]) => write(name, lines)));
    await loaded(...files.reverse(), '--system', 'snomed');
    const snomed = 'http://snomed.info/sct';
    expect(await lookup(snomed, '1001')).to.include({ display: 'Invented thing', child: '1002' });
    expect(await lookup(snomed, '1002')).to.include({ display: 'Red thing' });
    expect(await lookup(snomed, '1003')).to.include({ parent: '1002', inactive: false });
    expect(await lookup(snomed, '1004')).to.include({ inactive: true });
    expect(await expanded(`${snomed}?fhir_vs=isa/1002`)).to.deep.equal(['1002', '1003']);
  });

  it('changes nothing when a file is not what it should be, and says where', async () => {
    const good = LOINC_CSV.slice(0, 2);
    const before = await lookup('http://loinc.org', '8867-4');
    for (const [lines, says] of [
      [[...good, '"2345-8","","","","","","","","","","x",""'], 'bad.csv, line 3, column LOINC_NUM: 2345-8'],
      [[...good, '"8867-4","","","","","","","","","","",""'], 'bad.csv, line 3, column LONG_COMMON_NAME'],
      [[...good, '"8867-4","Heart rate"'], 'bad.csv, line 3: it has 2 columns, the heading 12'],
      [[...good, good[1] ?? ''], '2345-7 occurs twice'],
      [[...good, '"8867-4,'], 'bad.csv: Quote Not Closed'],
      [['"A","B"', '"1","2"'], 'bad.csv, line 1: the heading lacks LOINC_NUM, LONG_COMMON_NAME'],
      [[''], 'bad.csv, line 1: the heading is missing'],
      [good.slice(0, 1), 'the file contains no codes'],
    ] as const) {
      const { code, stderr } = await terminology('load', await write('bad.csv', lines), '--system', 'loinc');
      expect(code).to.equal(1);
      expect(stderr).to.contain(says).and.to.contain('Nothing was changed');
    }
    expect(await lookup('http://loinc.org', '8867-4')).to.deep.equal(before);
    const missing = await terminology('load', join(folder, 'nowhere.csv'), '--system', 'loinc');
    expect(missing).to.include({ code: 1 });
    expect(missing.stderr).to.contain('nowhere.csv cannot be read');
    const incomplete = await terminology(
      'load',
      join(folder, 'sct2_Concept_Snapshot.txt'),
      '--system',
      'snomed',
    );
    expect(incomplete.stderr).to.contain('descriptions');
  });

  it('changes nothing when it is stopped, or bytes are no UTF-8', async () => {
    const path = await write('Loinc.csv', LOINC_CSV.slice(0, 2));
    const request = { name: 'loinc', files: [path], now: 1, signal: AbortSignal.abort() } as const;
    const stopped = await loadSystem(service.pool, request).catch((error: unknown) => error);
    expect(stopped).to.have.property('name', 'AbortError');
    await writeFile(
      path,
      Buffer.concat([Buffer.from(LOINC_CSV.slice(0, 2).join('\n')), Buffer.from([0xff, 0x0a])]),
    );
    const { code, stderr } = await terminology('load', path, '--system', 'loinc');
    expect(code).to.equal(1);
    expect(stderr).to.contain('Loinc.csv is not UTF-8');
    expect(await lookup('http://loinc.org', '8867-4')).to.have.property('display');
  });

  it('says what it does not understand', async () => {
    for (const args of [
      ['load', 'x.csv'],
      ['load', 'x.csv', '--system', 'rxnorm'],
      ['load', '--system', 'loinc'],
      ['forget'],
      ['list', 'x.csv'],
    ]) {
      expect((await terminology(...args)).code, args.join(' ')).to.equal(2);
    }
  });

  it('lists what there is', async () => {
    const { code, stdout } = await terminology('list', '--json');
    expect(code).to.equal(0);
    const systems: { url: string; loaded: boolean; concepts: number; version: string | null }[] =
      JSON.parse(stdout);
    expect(systems.find(({ url }) => url === 'http://loinc.org')).to.deep.include({
      loaded: true,
      concepts: 3,
      version: '2.78',
    });
    expect(systems.find(({ url }) => url === 'http://unitsofmeasure.org')).to.include({ loaded: false });
    expect((await terminology('list')).stdout)
      .to.contain('http://snomed.info/sct')
      .and.to.contain('file');
  });
});
