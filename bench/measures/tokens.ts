/** The token endpoint: code exchanges and refreshes, compared with a route without a database. */
import { z } from 'zod';
import type { Bench, MeasuredService } from '../bench.ts';
import { alternate, type Measure } from '../measure.ts';
import { median, quantile } from '../statistics.ts';

const CLIENTS = 16;
const SECONDS = 3;
const CLIENT_ID = 'client_test_bench';
const REDIRECT = 'https://bench.example/callback';
const VERIFIER = 'v'.repeat(43);

/** The result of a loop of requests. */
interface Timed {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
}

/** The row of tokens. */
export const tokens: Measure = {
  row: 'tokens',
  subject:
    'code exchanges and refreshes at /oauth/token, each of which returns an RS256 id_token; 16 clients',
  baseline: 'GET /.well-known/openid-configuration from the same clients, which doesn’t query the database',
  async run(bench) {
    const started = await bench.service();
    const { target } = started.service;
    const url = `http://${target.host}:${target.port}`;
    const runs = Math.max(1, bench.options.runs);
    const codes = await prepare(bench, started, bench.size(1_500, 40) * (runs + 1));
    const chains: string[] = [];
    let next = 0;
    const exchange = async (): Promise<void> => {
      const code = `code-${next}`;
      next += 1;
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: REDIRECT,
        code_verifier: VERIFIER,
      };
      chains.push(await requestToken(url, form));
    };
    const refresh = async (client: number): Promise<void> => {
      const form = { grant_type: 'refresh_token', refresh_token: chains[client] ?? '' };
      chains[client] = await requestToken(url, form);
    };
    const discover = async (): Promise<void> => {
      const answer = await fetch(`${url}/.well-known/openid-configuration`);
      await answer.text();
    };
    const seconds = bench.seconds(SECONDS);
    const share = Math.floor(codes / (runs + 1));
    const exchanges = (): Promise<Timed> => {
      const last = next + share;
      return loop(seconds, exchange, () => next < last);
    };
    await exchanges();
    await loop(1, refresh);
    const found = await alternate(
      runs,
      () => loop(seconds, discover),
      async () => ({ exchanges: await exchanges(), refreshes: await loop(seconds, refresh) }),
    );
    const of = (which: 'exchanges' | 'refreshes', figure: keyof Timed): number =>
      median(found.subject.map((run) => run[which][figure]));
    return {
      bounds: [],
      figures: [
        { name: 'exchanges', value: of('exchanges', 'rate'), unit: '/s' },
        { name: 'exchange p50', value: of('exchanges', 'p50'), unit: 'ms' },
        { name: 'exchange p99', value: of('exchanges', 'p99'), unit: 'ms' },
        { name: 'refreshes', value: of('refreshes', 'rate'), unit: '/s' },
        { name: 'refresh p50', value: of('refreshes', 'p50'), unit: 'ms' },
        { name: 'refresh p99', value: of('refreshes', 'p99'), unit: 'ms' },
        { name: 'baseline', value: median(found.baseline.map(({ rate }) => rate)), unit: '/s' },
      ],
    };
  },
};

/**
 * Sends a token request.
 * @returns the refresh token
 * @throws Error on any status other than 200
 */
async function requestToken(url: string, form: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ client_id: CLIENT_ID, ...form });
  const answer = await fetch(`${url}/oauth/token`, { method: 'POST', body });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`POST /oauth/token: ${answer.status} ${text.slice(0, 300)}`);
  return z.object({ refresh_token: z.string() }).parse(JSON.parse(text)).refresh_token;
}

/** Lets each client send one request after another, for the given number of seconds or while `more` returns true. */
async function loop(
  seconds: number,
  work: (client: number) => Promise<void>,
  more: () => boolean = () => true,
): Promise<Timed> {
  const times: number[] = [];
  const began = performance.now();
  const until = began + seconds * 1_000;
  const client = async (_: unknown, number: number): Promise<void> => {
    for (let at = performance.now(); at < until && more(); at = performance.now()) {
      await work(number);
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const sorted = Float64Array.from(times).sort();
  const elapsed = (performance.now() - began) / 1_000;
  return { rate: times.length / elapsed, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

/**
 * Adds an application to the first project, with a grant and authorization codes.
 * @returns the number of codes
 */
async function prepare(bench: Bench, { databaseUrl }: MeasuredService, count: number): Promise<number> {
  const scope = 'fhirUser offline_access openid patient/*.rs';
  await bench.query(
    databaseUrl,
    `insert into projects.application
       (id, project, client_id, name, environment, kind, redirect_uris, scopes, grant_types, trusted, created_at)
     select 'app_bench', id, '${CLIENT_ID}', 'Bench', 'sandbox', 'public', array['${REDIRECT}'],
            string_to_array('${scope}', ' '), array['authorization_code', 'refresh_token'], false, 1
       from projects.project order by created_at limit 1`,
  );
  await bench.query(
    databaseUrl,
    `insert into consents.grants
       (grant_id, record, application_id, project, environment, sector, issuer, subject, patient, pairwise_subject,
        scopes, granted_by, granted_at, expires_at, lang, sentences, owner_project, owner_environment)
     select 'grant_bench', gen_random_uuid(), id, project, environment, id, 'https://issuer.example', 'bench',
            gen_random_uuid(), 'bench', scopes, 'patient', 1, 4000000000000000, 'en', '{}', project, environment
       from projects.application where id = 'app_bench'`,
  );
  await bench.query(
    databaseUrl,
    `with made as materialized (
       select n, gen_random_uuid() as id from generate_series(0, ${count - 1}) n
     ), chain as (
       insert into operations.oauth_chain
         (id, grant_id, application_id, project, environment, record, scope, resource, expires_at)
       select made.id, g.grant_id, g.application_id, g.project, g.environment, g.record, '${scope}', '{}',
              now() + interval '1 hour'
         from made, consents.grants g
     )
     insert into operations.oauth_code (sha256, chain, redirect_uri, challenge, expires_at)
     select sha256(convert_to('code-' || n, 'utf8')), id, '${REDIRECT}',
            translate(encode(sha256('${VERIFIER}'), 'base64'), '+/=', '-_'), now() + interval '1 hour'
       from made`,
  );
  await bench.settle(databaseUrl);
  return count;
}
