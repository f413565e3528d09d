/** The resources that a search includes: https://hl7.org/fhir/R4/search.html#include */
import type { Pool } from 'pg';
import { mayName } from '#src/fhir/search/inclusions.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { provenanceTexts, type RecordedVersion } from '../provenance/resource.ts';
import { bodySize, type CurrentResource, withLargeBodies } from '../read.ts';
import type { Inclusion } from './inclusions.ts';
import { findLinks, followedBack, type Link } from './links.ts';
import { automaticStatement, backwardStatement, forwardStatement, type IncludeScope } from './statements.ts';

/** The maximum number of included resources per page. */
export const MAX_INCLUDED = 1_000;
/** The maximum number of rounds for `:iterate`. */
export const MAX_ROUNDS = 10;

/** The included resources. */
export interface Included {
  /** Each resource once, without the matches. Never contains deleted resources, or resources of other tenants. */
  readonly resources: readonly CurrentResource[];
  /**
   * True if there were more than `MAX_INCLUDED` resources, more than the budget allows, or further resources after
   * `MAX_ROUNDS`.
   */
  readonly more: boolean;
}

/** Follows inclusions from a page's matches. A reference that names a version leads to that version. */
export type Include = (
  caller: Caller,
  asked: {
    readonly matches: readonly CurrentResource[];
    readonly inclusions: readonly Inclusion[];
    /** Base URL of the FHIR interface, with a trailing slash. */
    readonly base: string;
    /** Budget for included resources. Default: a separate budget. */
    readonly budget?: AnswerBudget;
  },
) => Promise<Included>;

/**
 * Creates inclusions on a database, with one statement per direction and round. Under a grant, only resources that the grant
 * covers are included.
 */
export function openInclude(pool: Pool): Include {
  return async (caller, { matches, inclusions, base, budget = new AnswerBudget() }) => {
    if (inclusions.length === 0) return { resources: [], more: false };
    const scope = { sees: caller.sees, readBy: caller.calls.projectId, base };
    const shown = new Set(matches.flatMap((match) => [`${match.type}/${match.id}`, nameLink(match)]));
    const resources: CurrentResource[] = [];
    let frontier: readonly CurrentResource[] = matches;
    let followed = inclusions;
    for (let round = 0; frontier.length > 0 && followed.length > 0; round += 1) {
      const left = MAX_INCLUDED - resources.length;
      const links = distinct(frontier.flatMap((each) => findLinks(each, followed, base))).filter(
        (link) => !shown.has(nameLink(link)),
      );
      const reached = await Promise.all([
        forward(pool, scope, links, left + 1),
        backward(pool, scope, frontier, followed, shown, left + 1),
      ]);
      const fresh: CurrentResource[] = [];
      for (const { resource, name } of reached.flat()) {
        const version = nameLink(resource);
        if (!shown.has(name) && !shown.has(version)) fresh.push(resource);
        shown.add(name).add(version);
      }
      const wanted = fresh.slice(0, left);
      const fitting = roomFor(wanted, budget);
      const taken = await withLargeBodies(pool, caller.sees, wanted.slice(0, fitting));
      for (const resource of taken) resources.push(resource);
      if (fitting < fresh.length) return { resources, more: true };
      frontier = taken;
      followed = followed.filter(({ iterate }) => iterate);
      if (round === MAX_ROUNDS && fresh.length > 0 && followed.length > 0) return { resources, more: true };
    }
    return { resources, more: false };
  };
}

/**
 * Returns how many of the first resources fit the budget, possibly 0.
 * @throws Refusal for pages that can't be shortened
 */
function roomFor(resources: readonly CurrentResource[], budget: AnswerBudget): number {
  const sizes = resources.map(({ body }) => bodySize(body));
  const [first = 0] = sizes;
  if (budget.shortens && (first > budget.bytesLeft || budget.resourcesLeft === 0)) return 0;
  return budget.takeRows(sizes);
}

/** A resource, and the name that identifies it in references that lead to it. */
interface Reached {
  readonly resource: CurrentResource;
  readonly name: string;
}

/** Returns the name of a reference's target: the current resource, or one version of it. */
function nameLink({ type, id, version }: Link): string {
  return version === undefined ? `${type}/${id}` : `${type}/${id}/_history/${version}`;
}

function distinct(links: readonly Link[]): Link[] {
  return [...new Map(links.map((link) => [nameLink(link), link])).values()];
}

interface Row {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  readonly last_updated: Micros;
  readonly body: string;
}

/** Reads the targets of links. */
async function forward(
  pool: Pool,
  { sees, readBy }: IncludeScope,
  links: readonly Link[],
  limit: number,
): Promise<Reached[]> {
  if (links.length === 0) return [];
  const { rows } = await pool.query<
    (Row & { readonly asked: number | null }) & RecordedVersion & { readonly body: string | null }
  >(forwardStatement(sees, links, limit));
  const made = rows.filter(({ body }) => body === null);
  const provenances = await automatic(
    pool,
    readBy,
    made.map((row) => ({ ...row, recorded_at: row.last_updated })),
  );
  const byRow = new Map(made.map((row, n) => [row, provenances[n]]));
  return rows.map((row) => {
    const resource = byRow.get(row) ?? current(row);
    const { type, id } = resource;
    const asked = row.asked ?? undefined;
    return { resource, name: nameLink(asked === undefined ? { type, id } : { type, id, version: asked }) };
  });
}

/** Reads the resources that refer to others: resources that clients wrote, and automatic Provenances. */
async function backward(
  pool: Pool,
  scope: IncludeScope,
  resources: readonly CurrentResource[],
  inclusions: readonly Inclusion[],
  shown: ReadonlySet<string>,
  limit: number,
): Promise<Reached[]> {
  const named = automaticallyNamed(resources, inclusions);
  // Resources that are already shown don't count towards the limit.
  const most = limit + shown.size;
  const referrers = backwardStatement(scope, resources, inclusions, most);
  const [rows, versions] = await Promise.all([
    referrers === undefined ? [] : pool.query<Row>(referrers).then((found) => found.rows),
    named.targets.length + named.agents.length === 0
      ? []
      : pool.query<RecordedVersion>(automaticStatement(scope.sees, named, most)).then((found) => found.rows),
  ]);
  return [...rows.map(current), ...(await automatic(pool, scope.readBy, versions))].map((resource) => ({
    resource,
    name: `${resource.type}/${resource.id}`,
  }));
}

/** Returns the links from automatic Provenances: their targets by id, their agents by reference. */
function automaticallyNamed(
  resources: readonly CurrentResource[],
  inclusions: readonly Inclusion[],
): { targets: string[]; agents: string[] } {
  const targets = new Set<string>();
  const agents = new Set<string>();
  for (const [source, code, target] of followedBack(inclusions)) {
    if (source !== 'Provenance' || (code !== 'target' && code !== 'patient' && code !== 'agent')) continue;
    for (const { type, id } of resources) {
      if ((target !== undefined && target !== type) || !mayName(source, code, type)) continue;
      if (code === 'agent') agents.add(`${type}/${id}`);
      else targets.add(id);
    }
  }
  return { targets: [...targets], agents: [...agents] };
}

function current({ id, type, version, last_updated, body }: Row): CurrentResource {
  return { id, type, version, lastUpdated: last_updated, body };
}

async function automatic(
  pool: Pool,
  readBy: string,
  rows: readonly RecordedVersion[],
): Promise<CurrentResource[]> {
  const texts = await provenanceTexts(pool, readBy, rows);
  return rows.map(({ event_id: id, recorded_at: lastUpdated }, n) => ({
    id,
    type: 'Provenance',
    version: 1,
    lastUpdated,
    body: texts[n] ?? null,
  }));
}
