/** `annal explain <search>`: prints how a search is carried out and, on request, PostgreSQL's own plan. */
import pg, { type Pool } from 'pg';
import type { Asks } from '#queries/database/prepared.ts';
import { parseInclusions } from '#queries/include/inclusions.ts';
import { provenanceStatement } from '#queries/provenance/search.ts';
import { type SearchRequest, understandRequest } from '#queries/search/ask.ts';
import { type ExplainedPlan, type ExplainedStep, explainPlan } from '#queries/search/explain.ts';
import { openFind } from '#queries/search/find.ts';
import { unknownIssues } from '#queries/search/parse.ts';
import { countPlan, planPage } from '#queries/search/plan.ts';
import { askedBy } from '#queries/search/predicates/predicate.ts';
import { isInclusion, parseShape } from '#queries/search/shape.ts';
import { chooseModels } from '#queries/terminology/shared.ts';
import { openPool } from '#src/database/pool.ts';
import { isCompartmentType } from '#src/fhir/compartments.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { unsupportedType } from '#src/fhir/unsupported-type.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { openTerminology } from '#src/terminology/terminology.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';
import { type NamedTenant, type ProjectOptions, tenantNamed } from './project.ts';
import { findBaseUrl, type ServiceOptions } from './service.ts';
import { withDatabase } from './stopped.ts';
import { counted, printable } from './table.ts';

/** The command-line options. */
export interface ExplainOptions extends Pick<ServiceOptions, 'dataDir'>, ProjectOptions {
  /** Runs the search with EXPLAIN ANALYZE. */
  readonly analyze?: boolean;
  readonly json?: boolean;
}

/** The printed explanation. */
interface Explanation extends ExplainedPlan {
  readonly search: string;
  readonly project: string;
  readonly environment: string;
  /** Parameters that the type doesn't have, as the service words them. */
  readonly ignored: readonly string[];
  /**
   * Chains; their statements run before the plan is chosen. `found` is absent if there are more results than the limit of the
   * lookup.
   */
  readonly looked_up: readonly {
    readonly condition: string;
    readonly found?: number;
    readonly sql: string;
  }[];
  /** The statements that ran; only with `--analyze`. */
  readonly ran?: readonly Ran[];
}

interface Ran {
  readonly sql: string;
  readonly plan: readonly string[];
}

/**
 * Prints a search's plan.
 * @throws Failure if the service would refuse the search, with the service's own message, and if the project doesn't exist.
 */
export async function explainCommand(
  search: string,
  { analyze = false, json = false, project, environment, ...where }: ExplainOptions,
): Promise<void> {
  const base = `${(await findBaseUrl(where)).replace(/\/+$/, '')}/fhir/R4/`;
  const tenantAsked = {
    ...(project === undefined ? {} : { project }),
    ...(environment === undefined ? {} : { environment }),
  };
  const explanation = await withDatabase(where, async ({ url }) => {
    // The service's connections for searches use the same option: each statement is planned once for all values.
    const options = '-c plan_cache_mode=force_generic_plan';
    const pool = openPool(url, { max: 2, name: 'annal explain', answerMs: 0, options });
    try {
      const tenant = await tenantNamed(pool, tenantAsked);
      return await explain(pool, tenant, parseRequest(search, base), analyze);
    } catch (error) {
      if (error instanceof Refusal)
        throw new Failure(error.issues.map(({ diagnostics }) => diagnostics).join('\n'), MISUNDERSTOOD);
      throw error;
    } finally {
      await pool.end();
    }
  });
  const shown = { search, ...explanation };
  process.stdout.write(`${json ? JSON.stringify(shown, null, 2) : describe(shown)}\n`);
}

/**
 * Parses a search as written in a URL: `Type?query`, `Patient/<id>/Type?query`.
 * @throws Refusal if the service would refuse it
 */
function parseRequest(search: string, base: string): SearchRequest {
  const [path = '', text = ''] = search.replace(/^.*\/fhir\/R4\//, '').split(/\?(.*)/s);
  const parts = path.replace(/^\/|\/$/g, '').split('/');
  const [of, id, type = ''] = parts.length === 3 ? parts : [undefined, undefined, parts[0]];
  if ((parts.length !== 1 && parts.length !== 3) || type === '')
    throw new Failure(
      'expected a search such as Observation?code=8480-6 or Patient/018f…/Observation',
      MISUNDERSTOOD,
    );
  const query = new URLSearchParams(text);
  parseInclusions(query);
  const known = knownType(type);
  const { onlyTotal } = parseShape(query, [known]);
  const isShape = (key: string) =>
    isInclusion(key) || key === '_elements' || (key === '_summary' && !onlyTotal);
  const rest = new URLSearchParams([...query].filter(([key]) => !isShape(key)));
  return { type: known, query: rest, base, ...parseCompartment(of, id) };
}

function knownType(name: string): ResourceType {
  if (isResourceType(name)) return name;
  throw new Refusal('not_found', { code: 'not-supported', diagnostics: unsupportedType(name) });
}

function parseCompartment(name: string | undefined, id = ''): Pick<SearchRequest, 'record' | 'compartment'> {
  if (name === undefined) return {};
  const type = knownType(name);
  if (!isCompartmentType(type) || !isUuid(id))
    throw new Failure(
      `${name}/${id} is not a compartment: expected one such as Patient/018f…`,
      MISUNDERSTOOD,
    );
  return type === 'Patient' ? { record: id } : { compartment: { type, id } };
}

async function explain(
  own: Pool,
  { name, ...tenant }: NamedTenant,
  request: SearchRequest,
  analyze: boolean,
): Promise<Omit<Explanation, 'search'>> {
  const terminology = openTerminology(own, async () => undefined);
  const { pool, sees } = chooseModels(request.type, own, { owner: tenant, ownerId: tenantId(tenant) });
  if (pool !== own) await expectTerminology(own);
  const ran: Ran[] = [];
  const asks: Asks = analyze ? analyzing(pool, ran) : pool;
  const ignored = (unknown: readonly string[]): string[] =>
    unknownIssues(request.type, [request.type], unknown, ': it was ignored').map(
      ({ diagnostics }) => diagnostics,
    );
  const of = { project: `${name} (${tenant.project})`, environment: tenant.environment };
  const more = analyze ? { ran } : {};
  if (request.type === 'Provenance') {
    const { search, sql, values } = await provenanceStatement(
      asks,
      terminology,
      { sees, calls: { project: tenant } },
      withAgent(request),
    );
    if (analyze) await asks.query({ text: sql, values });
    const step = { ...PROVENANCE_STEP, by: search.used.map((pair) => pair.join('=')), sql, values };
    return { ...of, ...PROVENANCE, steps: [step], ignored: ignored(search.unknown), looked_up: [], ...more };
  }
  const { search, asked, lookedUp } = await understandRequest(asks, terminology, sees, request);
  const plan = search.onlyTotal ? countPlan(asked.selection) : planPage(asked);
  if (analyze) {
    const find = openFind(asks);
    await (plan.kind === 'count' ? find.total(asked.selection) : find.page(asked, plan));
  }
  return {
    ...of,
    ...explainPlan(asked, plan),
    ignored: ignored(search.unknown),
    looked_up: lookedUp.map(({ predicate, sql, found }) => ({
      condition: askedBy([predicate]).join(' '),
      ...(found === undefined ? {} : { found }),
      sql,
    })),
    ...more,
  };
}

/** @throws Failure if the service's first start hasn't installed the shared terminology yet */
async function expectTerminology(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ found: string | null }>(
    `select to_regclass('terminology_search.entry_keys')::text as found`,
  );
  if (rows[0]?.found === null)
    throw new Failure('the shared terminology is not installed yet: wait until the service is ready');
}

const PROVENANCE = {
  plan: 'provenance',
  summary: 'Provenance is searched in the history: automatic ones are views of its versions.',
} as const;
const PROVENANCE_STEP = {
  does: 'Read a page of automatic Provenances and a page of those that clients wrote, and merge them.',
  from: ['history.version', 'history.client_provenance'],
  checks: [],
};

/**
 * Rewrites a search for Provenances in the compartment of an agent (a Practitioner, a Device and so on) as a search for
 * Provenances that name this agent.
 */
function withAgent({ compartment, query, ...request }: SearchRequest): SearchRequest {
  if (compartment === undefined) return { ...request, query };
  const agent = ['agent', `${compartment.type}/${compartment.id}`] as const;
  return { ...request, query: new URLSearchParams([[...agent], ...query]) };
}

/** Explains each statement as PostgreSQL runs it, then runs the statement again for its result. */
function analyzing(pool: Pool, ran: Ran[]): Asks {
  return {
    async query(statement) {
      const { text, values } = statement;
      const client = await pool.connect();
      try {
        await client.query(`prepare explained as ${text}`);
        const given = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
        const { rows } = await client.query<Record<string, string>>(
          `explain (analyze, buffers) execute explained${given}`,
        );
        ran.push({ sql: text, plan: rows.flatMap((row) => Object.values(row)) });
        await client.query('deallocate explained');
      } finally {
        client.release();
      }
      return pool.query({ text, values });
    },
  };
}

/** Returns a bound value as an SQL literal; lists become array literals. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value));
  const items = value.map((item) => `"${String(item).replaceAll(/["\\]/g, '\\$&')}"`);
  return pg.escapeLiteral(`{${items.join(',')}}`);
}

function describe({
  search,
  project,
  environment,
  summary,
  steps,
  looked_up,
  ignored,
  ran,
}: Explanation): string {
  const lookedUp = looked_up.map(({ condition, found }) =>
    found === undefined
      ? `  ${condition}: too many to look up first, so the condition is part of the statements below`
      : `  ${condition}: ${counted(found, 'resource')}`,
  );
  const plans = ran?.map(({ plan }, at) => [
    `Statement ${at + 1} that ran:`,
    ...plan.map((line) => `  ${line}`),
  ]);
  const parts = [
    [`${search}, project ${project}, ${environment}`],
    ignored,
    lookedUp.length === 0
      ? []
      : ['Looked up first, so that the search continues with their ids:', ...lookedUp],
    [summary],
    ...steps.map(describeStep),
    ...(plans ?? []),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map(printable).join('\n'))
    .join('\n\n');
}

function describeStep({ does, by, from, checks, otherwise }: ExplainedStep, at: number): string[] {
  const checked = checks.map(({ condition, in: place }) => `${condition} (${place})`);
  return [
    `${at + 1}. ${does}`,
    `   index: ${from.join(', ')}`,
    ...(by.length === 0 ? [] : [`   by: ${by.join(', ')}`]),
    ...(checked.length === 0 ? [] : [`   checked for each row: ${checked.join(', ')}`]),
    ...(otherwise === undefined ? [] : [`   the next statement runs when ${otherwise}`]),
  ];
}
