/** A project's first screen: what needs attention, then how to get started. */
import { type Api, annal, type Environment, withQuery } from '../api.ts';
import { type Credentials, useCredentials } from '../credentials.ts';
import { pathOf, useProject } from '../here.ts';
import { isNear, readStandings } from '../limits.ts';
import { useLoaded } from '../load.ts';
import { Ago, Badge, Code, Head, Shown } from '../parts/parts.tsx';
import { account, includesRole } from '../session.ts';
import { say, sayCount } from '../texts/texts.ts';
import { sayScope } from './audit/verifying.tsx';
import { StandingTable, Throttled } from './limits.tsx';
import { RequestTable } from './requests.tsx';
import { listEndpoints, State } from './webhooks.tsx';

/** Returns the screen. */
export function Overview() {
  const here = useProject();
  const credentials = useCredentials();
  const failed = useLoaded(
    async (signal) => {
      const read = (status: string) =>
        annal.get(
          '/admin/projects/{project_id}/logs',
          {
            project_id: here.project,
            environment: here.environment,
            status,
            limit: 5,
            from: new Date(Date.now() - 86_400_000).toISOString(),
          },
          { signal },
        );
      const [server, client] = await Promise.all([read('5xx'), read('4xx')]);
      return { total: server.total + client.total, rows: [...server.data, ...client.data].slice(0, 5) };
    },
    [here.project, here.environment],
    10_000,
  );
  const endpoints = useLoaded(
    async (signal) => {
      if (!here.mayUse) return [];
      return (await listEndpoints(here, signal)).filter(
        ({ active, failure_streak }) => active && failure_streak > 0,
      );
    },
    [here.project, here.environment],
    10_000,
  );
  const faulty = useLoaded(
    (signal) => (includesRole(here.role, 'auditor') ? findFaulty(here.project, signal) : Promise.resolve([])),
    [here.project],
    60_000,
  );
  const limits = useLoaded(
    (signal) => readStandings(here, here.mayUse, signal),
    [here.project, here.environment],
    30_000,
  );
  const { all = [], throttled = 0 } = limits.value ?? {};
  const near = all.filter(isNear);
  return (
    <>
      <Head title={here.details.name} about={here.organization.name} />
      <section class="panel">
        <h2>{say('overview.failed')}</h2>
        <Shown of={failed}>
          {({ rows, total }) =>
            rows.length === 0 ? (
              <p class="quiet">{say('overview.failed.none')}</p>
            ) : (
              <>
                <RequestTable rows={rows} credentials={credentials} />
                <p>
                  <a href={pathOf(here, '/requests')}>{say('overview.failed.all', { count: total })}</a>
                </p>
              </>
            )
          }
        </Shown>
      </section>
      {faulty.value === undefined || faulty.value.length === 0 ? null : (
        <section class="panel">
          <h2>{say('overview.verification')}</h2>
          <ul>
            {faulty.value.map((job) => (
              <li key={job.id}>
                <a href={pathOf(here, `/audit/verifications/${job.id}`)}>{sayScope(job)}</a>{' '}
                <Badge tone="bad">{sayCount('audit.faults', job.faults ?? 0)}</Badge>{' '}
                <Ago at={job.finished_at} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {near.length === 0 && throttled === 0 ? null : (
        <section class="panel">
          <h2>{say('overview.limits')}</h2>
          {near.length === 0 ? null : <StandingTable standings={near} />}
          {throttled === 0 ? null : <Throttled count={throttled} />}
          <p>
            <a href={pathOf(here, '/limits')}>{say('limits.title')}</a>
          </p>
        </section>
      )}
      {endpoints.value === undefined || endpoints.value.length === 0 ? null : (
        <section class="panel">
          <h2>{say('overview.endpoints')}</h2>
          <ul>
            {endpoints.value.map((endpoint) => (
              <li key={endpoint.id}>
                <a href={pathOf(here, `/webhooks/${endpoint.id}`)}>{endpoint.url}</a> <State of={endpoint} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {here.mayUse && credentials.areLoaded && !hasUsed(credentials, here.environment) ? (
        <FirstRequest />
      ) : null}
    </>
  );
}

/** Returns true if any key in an environment has ever been used. */
function hasUsed({ keys }: Credentials, environment: Environment): boolean {
  return keys.some((key) => key.environment === environment && key.lastUsedAt !== null);
}

/** The part that explains how to make the first request. */
function FirstRequest() {
  const here = useProject();
  const path = '/fhir/R4/Patient?_count=5';
  const { base_url: base = '' } = account.value?.installation ?? {};
  const example = `curl -H "Authorization: Bearer $ANNAL_KEY" '${base}${path}'`;
  return (
    <section class="panel">
      <h2>{say('overview.first')}</h2>
      <ol class="steps">
        <li>
          <a href={pathOf(here, '/keys')}>{say('overview.first.key')}</a>
        </li>
        <li>
          {say('overview.first.send')}
          <Code text={example} label={say('overview.first.send')} />
          <a href={withQuery(pathOf(here, '/try'), { path })}>{say('overview.first.here')}</a>
        </li>
        <li>
          <a href={pathOf(here, '/requests')}>{say('overview.first.see')}</a>
        </li>
        <li>
          <a href={pathOf(here, '/patients')}>{say('overview.first.patient')}</a>
        </li>
        <li>
          <a href={pathOf(here, '/webhooks')}>{say('overview.first.webhook')}</a>
        </li>
      </ol>
    </section>
  );
}

/** Returns the verifications that found faults and haven't been replaced by a later verification of the same scope. */
async function findFaulty(project: string, signal: AbortSignal): Promise<readonly Api.Verification[]> {
  const { data } = await annal.get('/admin/operations/verifications', { project, limit: 200 }, { signal });
  const seen = new Set<string>();
  return data.filter((job) => {
    if (job.status !== 'done') return false;
    const of = JSON.stringify(job.scope);
    const isNewest = !seen.has(of);
    seen.add(of);
    return isNewest && (job.faults ?? 0) > 0;
  });
}
