/**
 * Code generators create clients from the OpenAPI document that compile and can call the service. A linter finds no problems
 * in the document.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { type Generators, openGenerators } from '#test/support/generators.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { describeAtFullSize } from '#test/support/scale.ts';

/** Each caller creates a patient and prints its id; `BASE` and `KEY` are in its environment. */
const CALLERS = {
  'openapi-typescript': `
    import createClient from 'openapi-fetch';
    import type { paths } from './openapi-typescript/api.js';
    declare const process: { env: Record<string, string | undefined> };
    const { BASE = '', KEY = '' } = process.env;
    const client = createClient<paths>({ baseUrl: BASE, headers: { Authorization: 'Bearer ' + KEY } });
    const { data } = await client.POST('/v1/patients', { body: { family: 'Lind', birth_date: '1961-05-14' } });
    const id: string = data!.id;
    console.log(id);`,
  'hey-api': `
    import { client } from './hey-api/client.gen.js';
    import { createPatient } from './hey-api/sdk.gen.js';
    declare const process: { env: Record<string, string | undefined> };
    const { BASE = '', KEY = '' } = process.env;
    client.setConfig({ baseUrl: BASE, auth: () => KEY });
    const { data } = await createPatient({ body: { family: 'Lind', birth_date: '1961-05-14' } });
    const id: string = data!.id;
    console.log(id);`,
  orval: `
    import { createPatient } from './orval/annal.js';
    declare const process: { env: Record<string, string | undefined> };
    const { KEY = '' } = process.env;
    const headers = { Authorization: 'Bearer ' + KEY };
    const answer = await createPatient({ family: 'Lind', birth_date: '1961-05-14' }, { headers });
    if (answer.status !== 201) throw new Error(String(answer.status));
    const id: string = answer.data.id;
    console.log(id);`,
};
const COMPILER = {
  compilerOptions: {
    strict: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable'],
    noEmit: true,
    skipLibCheck: true,
    types: [],
  },
  include: ['*.ts', '*/**/*.ts'],
};

interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly request?: unknown;
}
const postmanRequest = z.object({
  method: z.string(),
  url: z.object({ path: z.array(z.string()) }),
  header: z.array(z.object({ key: z.string(), value: z.string(), disabled: z.boolean().optional() })),
  body: z.object({ raw: z.string() }),
});

describeAtFullSize('generated clients', () => {
  let service: InProcess;
  let generators: Generators;
  before(async function () {
    const opened = await openGenerators();
    if ('missing' in opened) {
      console.log(`    generators were not tested: ${opened.missing}`);
      return this.skip();
    }
    generators = opened;
    service = await startInProcess();
    const document = await fetch(`${service.url}/openapi.json`);
    await put('openapi.json', await document.text());
  });
  after(async () => {
    await service?.stop();
    await generators?.remove();
  });

  const put = (name: string, content: string) => writeFile(join(generators.folder, name), content);
  const familyNamed = async (id: string) => {
    const { json } = await service.fhir(`/Patient/${id.trim()}`);
    return z.object({ name: z.array(z.object({ family: z.string() })) }).parse(json).name[0]?.family;
  };

  it('come from a document without faults, but for FHIR’s own ambiguous paths', async () => {
    expect(JSON.parse(await generators.run('node', ['lint.mjs']))).to.deep.equal([]);
  });

  it('compile, and create a patient: openapi-typescript, hey-api, orval', async () => {
    await generators.run('openapi-typescript', ['openapi.json', '-o', 'openapi-typescript/api.d.ts']);
    await generators.run('openapi-ts', [
      '-i',
      'openapi.json',
      '-o',
      'hey-api',
      '-c',
      '@hey-api/client-fetch',
    ]);
    const output = { target: 'orval/annal.ts', client: 'fetch', mode: 'split', baseUrl: service.url };
    const config = { annal: { input: 'openapi.json', output } };
    await put('orval.config.mjs', `export default ${JSON.stringify(config)};`);
    await generators.run('orval', ['--config', 'orval.config.mjs']);
    for (const [name, source] of Object.entries(CALLERS)) await put(`${name}.ts`, source);
    await put('package.json', '{"type": "module"}');
    await put('tsconfig.json', JSON.stringify(COMPILER));
    await generators.run('tsc', ['-p', '.']);
    for (const name of Object.keys(CALLERS)) {
      const printed = await generators.run('tsx', [`${name}.ts`], { BASE: service.url, KEY: service.key });
      expect(await familyNamed(printed), name).to.equal('Lind');
    }
  });

  it('are what Postman makes of it: the collection creates a patient', async () => {
    const collection = JSON.parse(await generators.run('node', ['postman.mjs'])) as Item;
    const request = postmanRequest.parse(requestNamed(collection, 'Create a patient'));
    const answer = await fetch(`${service.url}/${request.url.path.join('/')}`, {
      method: request.method,
      headers: {
        ...Object.fromEntries(
          request.header.flatMap(({ key, value, disabled }) => (disabled === true ? [] : [[key, value]])),
        ),
        Authorization: `Bearer ${service.key}`,
      },
      body: request.body.raw,
    });
    expect(answer.status, await answer.clone().text()).to.equal(201);
    const { id } = z.object({ id: z.string() }).parse(await answer.json());
    expect(await familyNamed(id)).to.equal('Lind');
  });
});

function requestNamed(item: Item, name: string): unknown {
  if (item.name === name && item.request !== undefined) return item.request;
  return item.item?.map((each) => requestNamed(each, name)).find((found) => found !== undefined);
}
