/** The import rule in docs/architecture.md: parts import each other in only one direction. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '#test/support/process.ts';
import {
  COMPOSERS,
  cyclesIn,
  findPart,
  type Import,
  isAllowed,
  listImports,
  MAY_IMPORT,
  within,
} from '../../tools/house/imports.ts';
import {
  findDuplicates,
  findOfFunctions,
  findPartTypes,
  findVagueDocblocks,
  listCode,
} from '../../tools/house/structure.ts';

const line = ({ from, to, typeOnly }: Import): string =>
  `${from} imports ${typeOnly ? 'types of ' : ''}${to}`;

/** Limits that may only be reduced. */
const OF_FUNCTIONS = 10;
const PART_TYPES = 36;

describe('architecture', () => {
  let all: Import[];
  before(() => {
    all = listImports();
  });

  it('lets every part import only what lies downstream of it', () => {
    expect(all.length).to.be.greaterThan(20);
    expect(all.filter((found) => !isAllowed(found)).map(line)).to.deep.equal([]);
  });

  it('has no import cycle between files, nor between the folders and files of one folder', () => {
    expect(cyclesIn(all)).to.deep.equal([]);
  });

  it('lets a write reach few of the files in commands/', () => {
    const write = 'commands/resource/write.ts';
    const reached = new Set([write]);
    for (const file of reached)
      for (const { from, to, typeOnly } of all)
        if (from === file && !typeOnly && within(to, 'commands')) reached.add(to);
    reached.delete(write);
    expect(reached.size, [...reached].join(', ')).to.be.within(1, 15);
  });

  it('would notice a cycle', () => {
    const between = (...pairs: readonly (readonly [string, string])[]) =>
      cyclesIn(pairs.map(([from, to]) => ({ from, to, typeOnly: true })));
    const [types, owner, body, read] = [
      'src/fhir/types.ts',
      'src/fhir/bundle.ts',
      'src/http/body.ts',
      'queries/read.ts',
    ];
    expect(between([types, owner], [owner, types])).to.deep.equal([`${owner}, ${types}`]);
    expect(between([types, body], ['src/http/path.ts', owner])).to.deep.equal(['src/fhir, src/http']);
    expect(between([read, types], [owner, body], ['src/http/path.ts', 'queries/vread.ts'])).to.deep.equal([
      'queries, src/fhir, src/http',
    ]);
    expect(between([read, types], ['src/app.ts', read])).to.deep.equal([]);
  });

  it('would notice an import against the stream', () => {
    const against = [
      ['queries/read.ts', 'commands/command.ts'],
      ['commands/kernel/streams.ts', 'src/http/errors.ts'],
      ['commands/kernel/streams.ts', 'src/operations/locks.ts'],
      ['src/cli/import/run.ts', 'src/http/errors.ts'],
      ['projections/resources/project.ts', 'queries/read.ts'],
      ['src/fhir/types.ts', 'src/events/store.ts'],
      ['queries/read.ts', 'src/events/store.ts'],
      ['src/config.ts', 'src/database/pool.ts'],
      ['src/http/server/server.ts', 'src/main.ts'],
      ['src/http/server/server.ts', 'src/events/store.ts'],
      ['src/reactions/webhooks/webhooks.ts', 'src/http/server/server.ts'],
    ] as const;
    for (const [from, to] of against) {
      expect(isAllowed({ from, to, typeOnly: false }), `${from} → ${to}`).to.equal(false);
    }
    expect(isAllowed({ from: 'queries/read.ts', to: 'src/events/store.ts', typeOnly: true })).to.equal(true);
    expect(isAllowed({ from: 'src/app.ts', to: 'src/http/server/server.ts', typeOnly: false })).to.equal(
      true,
    );
  });

  it('keeps what HTTP imports to fourteen parts', () => {
    const reached = all
      .filter(({ from, to }) => within(from, 'src/http') && !within(to, 'src/http') && !within(to, 'clients'))
      .map(({ to }) => to.split('/', to.startsWith('src/') ? 2 : 1).join('/'));
    expect([...new Set(reached)].sort()).to.deep.equal(
      MAY_IMPORT['src/http']?.filter((part) => !part.startsWith('type ')),
    );
    expect(new Set(reached).size).to.be.at.most(14);
  });

  it('says six lines or more twice in at most twenty places', () => {
    const files = listCode().map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
    const found = findDuplicates(files).map(({ one, other }) => `${one} ~ ${other}`);
    expect(found.length, found.join('\n')).to.be.within(1, 20);
  });

  it('begins few docblocks with "Most", "Longest", "What" or "Whether"', () => {
    const files = listCode().map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
    expect(findVagueDocblocks(files)).to.have.lengthOf.at.most(10);
    expect(
      findVagueDocblocks([['a.ts', '\n/** Most of a page. */\n/**\n * What is read.\n */']]),
    ).to.have.length(2);
  });

  it('names functions by verbs, and types by more than that they are dependencies', () => {
    const files = listCode().map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
    const [functions, types] = [findOfFunctions(files), findPartTypes(files)];
    expect(functions.length, functions.join('\n')).to.be.at.most(OF_FUNCTIONS);
    expect(types.length, types.join('\n')).to.be.at.most(PART_TYPES);
  });

  it('would notice such a name', () => {
    const text =
      'interface MailDeps {} class A { idOf() {} } const nameOf = () => 1; function keyOf() {} const of = 1;';
    expect(findOfFunctions([['a.ts', text]])).to.deep.equal(['a.ts: idOf', 'a.ts: nameOf', 'a.ts: keyOf']);
    expect(findPartTypes([['a.ts', text]])).to.deep.equal(['a.ts: MailDeps']);
  });

  it('would notice lines that stand twice, in one file and in two', () => {
    const lines = Array.from({ length: 7 }, (_, n) => `  line${n}();`);
    const once = ['// a comment', ...lines].join('\n');
    const twice = [...lines, 'between();', '', ...lines].join('\n');
    expect(
      findDuplicates([
        ['a.ts', once],
        ['b.ts', ['', '}', once].join('\n')],
      ]),
    ).to.deep.equal([{ one: 'a.ts:2', other: 'b.ts:4', lines: 7 }]);
    expect(findDuplicates([['a.ts', twice]])).to.deep.equal([{ one: 'a.ts:1', other: 'a.ts:10', lines: 7 }]);
    expect(
      findDuplicates([
        ['a.ts', once],
        ['b.ts', lines.slice(0, 5).join('\n')],
      ]),
    ).to.deep.equal([]);
  });

  it('knows every part', () => {
    const unknown = all
      .map(({ from }) => from)
      .filter((file) => findPart(file) === undefined && !COMPOSERS.some((composer) => within(file, composer)))
      .filter((file) => !/^src\/[^/]+\.ts$/.test(file));
    expect([...new Set(unknown)]).to.deep.equal([]);
  });
});
