/**
 * The archive of renderers: the running program's renderer is stored once, runs without permissions, and is removed two years
 * after its last use.
 */
import { expect } from 'chai';
import { ArchivedRenderers } from '#src/app/receipts/archived.ts';
import { archiveRenderer } from '#src/app/receipts/archiving.ts';
import { bundleRenderer } from '#src/app/receipts/bundle.ts';
import { nameProgram, RENDERING } from '#src/operations/receipts/program.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import type { Material } from '#src/receipts/material.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { ROOT } from '#test/support/process.ts';

const NOTHING: Material = {
  ...{ kind: 'mcp', record: '', position: null, parameters: {}, inputs: {}, hiddenKey: '' },
  ...{ named: [], versions: [], directory: [], files: {} },
};

describe('archived renderers', () => {
  let database: TestDatabase;
  let renderers: Renderers;

  before(async () => {
    database = await createMigratedDatabase();
    renderers = new Renderers(database.pool);
  });
  after(() => database.drop());

  it('are kept once a program has made receipts, and gone two years after the last', async () => {
    nameProgram();
    await archiveRenderer(renderers);
    const code = await renderers.find(nameProgram());
    expect(code).to.equal((await bundleRenderer()).toString());
    const used = async (ago: string): Promise<string | undefined> => {
      await database.pool.query(`update operations.renderer set used_at = now() - interval '${ago}'`);
      await renderers.sweep();
      return renderers.find(nameProgram());
    };
    expect(await used('729 days')).to.equal(code);
    await archiveRenderer(renderers);
    const { rows } = await database.pool.query(
      "select from operations.renderer where used_at > now() - interval '1 hour'",
    );
    expect(rows).to.have.length(1);
    expect(await used('800 days')).to.equal(undefined);
  });

  it('are not run if they were altered', async () => {
    await renderers.keep('altered', Buffer.from('var annalRenderer = {}'));
    await database.pool.query("update operations.renderer set sha256 = '\\x00' where program = 'altered'");
    expect(await renderers.find('altered')).to.equal(undefined);
  });

  it('may not read files, start processes or reach the network', async () => {
    const attempts = [
      "'allowed'",
      "require('node:fs')",
      "require('node:child_process')",
      "fetch('http://127.0.0.1')",
      "import('node:net')",
      '(0, eval)(\'import("node:fs")\')',
      "globalThis.process.binding('fs')",
      "globalThis.process.getBuiltinModule('net')",
    ];
    const tries = attempts.map((each) => `async () => ${each}`).join(', ');
    const script = `var annalRenderer = { async renderAnswer() {
      const done = [];
      for (const attempt of [${tries}]) await attempt().then(() => done.push(String(attempt)), () => undefined);
      return Buffer.from(done.join());
    } };`;
    const archived = new ArchivedRenderers({ find: () => Promise.resolve(script) });
    try {
      expect(String(await archived.render('hostile', NOTHING))).to.equal("async () => 'allowed'");
    } finally {
      archived.close();
    }
  });

  it('consist of code that the name of the program covers', async () => {
    const { build } = await import('esbuild');
    const { metafile } = await build({
      ...{ absWorkingDir: ROOT, entryPoints: ['src/receipts/render.ts'], write: false, metafile: true },
      ...{ bundle: true, platform: 'node', format: 'esm', logLevel: 'silent' },
    });
    const own = Object.keys(metafile.inputs).filter((file) => !file.startsWith('node_modules/'));
    const isCovered = (file: string): boolean => RENDERING.some((folder) => file.startsWith(`${folder}/`));
    expect(own.length).to.be.greaterThan(100);
    expect(own.filter((file) => !isCovered(file))).to.deep.equal([]);
  });
});
