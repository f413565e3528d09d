/**
 * For every route in the OpenAPI document with an id in its path, strangers get the same 401, 403, 404 or 405, whether the id
 * belongs to another person or never existed (docs/spec/interface.md, section 7). A property test looks for other ways to find
 * out.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { newUuid } from '#src/shared/ids.ts';
import { parseJson } from '#src/shared/json/json.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import {
  askAlsoAt,
  bodyOf,
  DELETE_OF_NOTHING,
  type Described,
  namesIn,
  neverOf,
  OTHERWISE,
  operationsIn,
  segmentFor,
  takesToken,
  VALID,
} from '#test/support/isolation/described-routes.ts';
import { shown } from '#test/support/isolation/shown.ts';
import { type Named, writeTheirs } from '#test/support/isolation/theirs.ts';
import { productionKey } from '#test/support/project.ts';

describe('every described route with an id in its path', () => {
  let service: InProcess;
  let described: readonly Described[];
  /** The owner's values for path parameters, by parameter name. */
  let theirs: ReadonlyMap<string, Named>;
  let strangers: readonly { readonly key: string; readonly token: string }[];

  before(async () => {
    service = await startInProcess();
    const { named } = await writeTheirs(service, service.key);
    const patient = named.find(({ type }) => type === 'Patient');
    const observation = named.find(({ type }) => type === 'Observation');
    const document = named.find(({ type }) => type === 'DocumentReference');
    const { rows } = await service.pool.query<{ organization: string; project: string; key: string }>(
      `select p.organization, p.id as project, k.key_id as key
       from projects.api_key k join projects.project p on p.id = k.project where k.sha256 = $1`,
      [createHash('sha256').update(service.key).digest('hex')],
    );
    const [row] = rows;
    if (row === undefined || patient === undefined || observation === undefined || document === undefined)
      throw new Error('nobody is there');
    const owner = await signIn(service, 'developer@example.org');
    const { id: application } = await owner.done('POST', `/projects/${row.project}/applications`, {
      name: 'Diary',
      kind: 'public',
      redirect_uris: ['https://diary.example/back'],
      scopes: ['patient/*.rs'],
    });
    const { id: takeback } = await owner.done('POST', `/projects/${row.project}/takebacks`, {
      select: { key_id: row.key },
      environment: 'sandbox',
    });
    expect((await service.fhir(`/Patient/${patient.id}/$summary`)).status).to.equal(200);
    const { rows: receipts } = await service.pool.query<{ id: string }>('select id from operations.receipt');
    const plain = (id: string): Named => ({ type: '', id, marker: `t${newUuid()}` });
    theirs = new Map([
      ['rid', patient],
      ['patient_id', patient],
      ['resource_id', patient],
      ['item_id', observation],
      ['doc_id', document],
      ['org_id', plain(row.organization)],
      ['project_id', plain(row.project)],
      ['key_id', plain(row.key)],
      ['application_id', plain(application)],
      ['takeback_id', plain(takeback)],
      ['receipt_id', plain(String(receipts[0]?.id))],
    ]);
    const issuer = new DevIssuer(service.pool, devIssuerUrl(service.url));
    const token = await issuer.idToken(findPerson('stranger@example.org'));
    strangers = [
      { key: await service.newProject(), token },
      { key: await productionKey(service.databaseUrl, service.pool, service.key), token },
    ];
    const answer = await fetch(`${service.url}/openapi.json`);
    // People can mute any application, so the ids of applications that send them requests aren't secret.
    const all = operationsIn(parseJson(await answer.text()).value).filter(
      ({ path }) =>
        namesIn(path).some((name) => theirs.has(name)) && !path.startsWith('/me/muted-applications'),
    );
    described = askAlsoAt(all, toInstant(nowMicros()));
  });
  after(() => service.stop());

  it('is answered as for an id that never was', async () => {
    expect(described.length).to.be.greaterThan(10);
    const unsaid: string[] = [];
    for (const { method, path, operation, query } of described) {
      for (const { key, token } of strangers) {
        const names = namesIn(path);
        const nevers = new Map(names.map((name) => [name, neverOf(theirs.get(name))]));
        const ask = async (values: ReadonlyMap<string, Named | undefined>): Promise<[number, string]> => {
          const url = names.reduce((text, name) => text.replace(`{${name}}`, segmentFor(name, values)), path);
          const id = values.get('rid')?.id ?? '';
          const sent = VALID[path]?.[method] ?? {};
          const answer = await service.fhir(`${service.url}${url}${query}`, {
            method,
            key: takesToken(operation) ? token : key,
            ...bodyOf(operation, id, sent.body),
          });
          const asked = [...values.values()].filter((value) => value !== undefined);
          return [answer.status, shown(answer, ...asked)];
        };
        const [status, found] = await ask(theirs);
        const [, unknown] = await ask(nevers);
        expect(found, `${method} ${path}`).to.equal(unknown);
        if (![401, 403, 404, 405].includes(status) && !OTHERWISE.test(path))
          unsaid.push(`${method} ${path}: ${status}`);
      }
    }
    const otherwise = unsaid.filter((answer) => answer !== DELETE_OF_NOTHING);
    expect(otherwise, 'answered otherwise than by 401, 403, 404 or 405').to.deep.equal([]);
  });
});
