/** The request log, newest first, while requests come in. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { call, type Page, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Ago, Badge, Button, Empty, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { say, sayMoment } from '../texts/texts.ts';

/** A request as the log shows it. */
export interface LoggedRequest {
  readonly request_id: string;
  readonly ts: string;
  readonly environment: string | null;
  readonly key_id: string | null;
  readonly application_id: string | null;
  readonly identity: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  /** Why it was refused. */
  readonly error: {
    readonly type: string;
    readonly fields: readonly { readonly field: string; readonly code: string }[];
  } | null;
}

/** How often the first page is asked for again, in ms. */
const POLL_MS = 2_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const STATUSES = ['2xx', '3xx', '4xx', '5xx'] as const;

/** Returns the screen. */
export function Requests() {
  const here = useProject();
  const { query, route } = useLocation();
  const asked = {
    status: query.status,
    method: query.method,
    path: query.path,
    request_id: query.request_id,
    key: query.key,
  };
  const [more, setMore] = useState<readonly LoggedRequest[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const path = (after?: string): string =>
    withQuery(`/admin/projects/${here.project}/logs`, {
      ...asked,
      environment: here.environment,
      limit: 50,
      cursor: after,
    });
  const key = JSON.stringify(asked);
  const first = useLoaded(
    (signal) => call<Page<LoggedRequest>>(path(), { signal }),
    [here.project, here.environment, key],
    POLL_MS,
  );
  const further = useAct(async (after: string) => call<Page<LoggedRequest>>(path(after)));
  const filter = (changed: Readonly<Record<string, string>>): void => {
    setMore([]);
    setCursor(undefined);
    route(withQuery(pathOf(here, '/requests'), { ...asked, ...changed }), true);
  };
  return (
    <>
      <Head title={say('requests.title')} about={say('requests.says')} />
      <form
        class="filters"
        aria-label={say('search')}
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          filter({ path: String(form.get('path')), request_id: String(form.get('request_id')) });
        }}
      >
        <label>
          {say('requests.status')}{' '}
          <select
            value={asked.status ?? ''}
            onChange={({ currentTarget }) => filter({ status: currentTarget.value })}
          >
            <option value="">{say('requests.all')}</option>
            {STATUSES.map((each) => (
              <option key={each} value={each}>
                {say(`status.${each}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {say('requests.method')}{' '}
          <select
            value={asked.method ?? ''}
            onChange={({ currentTarget }) => filter({ method: currentTarget.value })}
          >
            <option value="">{say('requests.all')}</option>
            {METHODS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          {say('requests.path')}{' '}
          <input name="path" defaultValue={asked.path} placeholder="/fhir/R4/Observation" />
        </label>
        <label>
          {say('requests.id')} <input name="request_id" defaultValue={asked.request_id} placeholder="req_…" />
        </label>
        <Button type="submit">{say('search')}</Button>
        {Object.values(asked).some((each) => each !== undefined && each !== '') ? (
          <Button
            tone="link"
            onClick={() => filter({ status: '', method: '', path: '', request_id: '', key: '' })}
          >
            {say('requests.clear')}
          </Button>
        ) : null}
      </form>
      <Shown of={first}>
        {(page) => {
          const seen = new Set(page.data.map(({ request_id }) => request_id));
          const rows = [...page.data, ...more.filter(({ request_id }) => !seen.has(request_id))];
          const after = cursor === undefined ? page.next_cursor : cursor;
          return rows.length === 0 ? (
            <Empty>
              <p>{say('requests.none')}</p>
            </Empty>
          ) : (
            <>
              <RequestTable rows={rows} />
              <Problem failure={further.failure} />
              {after === null ? null : (
                <Button
                  busy={further.isRunning}
                  onClick={async () => {
                    const next = await further.run(after);
                    if (next === undefined) return;
                    setMore([...rows, ...next.data]);
                    setCursor(next.next_cursor);
                  }}
                >
                  {say('more')}
                </Button>
              )}
            </>
          );
        }}
      </Shown>
    </>
  );
}

/** The requests as a table. */
export function RequestTable({ rows }: { readonly rows: readonly LoggedRequest[] }) {
  const here = useProject();
  return (
    <Table
      label={say('requests.title')}
      rows={rows}
      keyOf={({ request_id }) => request_id}
      columns={[
        { title: say('requests.status'), cell: ({ status }) => <Status status={status} /> },
        {
          title: say('requests.request'),
          cell: ({ method, path, request_id }) => (
            <a href={pathOf(here, `/requests/${request_id}`)}>
              <span class="method">{method}</span> <code>{path}</code>
            </a>
          ),
        },
        { title: say('requests.took'), isNumber: true, isWide: true, cell: ({ ms }) => sayMs(ms) },
        {
          title: say('requests.by'),
          isWide: true,
          cell: ({ key_id, application_id, identity }) => (
            <code>{key_id ?? application_id ?? identity ?? ''}</code>
          ),
        },
        { title: say('requests.id'), isWide: true, cell: ({ request_id }) => <code>{request_id}</code> },
        {
          title: say('requests.when'),
          cell: ({ ts }) => (
            <span title={sayMoment(ts)}>
              <Ago at={ts} />
            </span>
          ),
        },
      ]}
    />
  );
}

/** A status with the colour of its class; the number says it without colour. */
export function Status({ status }: { readonly status: number }) {
  return (
    <Badge tone={status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'plain' : 'good'}>
      {status}
    </Badge>
  );
}

/** Returns a time that something took. */
export function sayMs(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
