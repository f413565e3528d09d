/** The request log, newest first, updated as requests come in. */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type AnswerOf, annal, filled, type Input, withQuery } from '../api.ts';
import { type Credential, type Credentials, useCredentials } from '../credentials.ts';
import { type Here, pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { toAsked, toLocal } from '../moment-field.ts';
import { LongTable } from '../parts/long-table.tsx';
import { Ago, Badge, Button, type Column, Empty, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { account } from '../session.ts';
import { say, sayMoment, type TextKey } from '../texts/texts.ts';

type LogPage = AnswerOf<'GET', '/admin/projects/{project_id}/logs'>;
type Filled = Omit<Input<'GET', '/admin/projects/{project_id}/logs'>, 'project_id'>;

/** A request as the log shows it. */
export type LoggedRequest = LogPage['data'][number];

/** Requests of a page. */
const PAGE_ROWS = 50;
/** How often the first page is requested again, in ms. */
const POLL_MS = 2_000;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const STATUSES = ['2xx', '3xx', '4xx', '5xx'] as const;
/** Filters by their names in the page's URL, which are also the names in the interface. */
const FILTERS = ['status', 'method', 'key', 'application', 'path', 'request_id', 'from', 'to'] as const;
type Filter = (typeof FILTERS)[number];
type Filters = Readonly<Partial<Record<Filter, string>>>;
/** Filters that the person types rather than chooses: they apply when the form is submitted. */
const WRITTEN = ['path', 'request_id', 'from', 'to'] as const satisfies readonly Filter[];

/** The log's path as it was last shown. */
let lastShown = '';

/** Returns the path of the project's log, including its filters if it was the log that was shown last. */
export function findLogPath(here: Here): string {
  const log = pathOf(here, '/requests');
  return lastShown.split('?')[0] === log ? lastShown : log;
}

/** Returns the screen. */
export function Requests() {
  const here = useProject();
  const { query, route } = useLocation();
  const asked: Filters = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
  const credentials = useCredentials();
  lastShown = withQuery(pathOf(here, '/requests'), asked);
  const filter = (changed: Filters): void =>
    route(withQuery(pathOf(here, '/requests'), { ...asked, ...changed }), true);
  return (
    <>
      <Head title={say('requests.title')} about={say('requests.says')} />
      <FilterForm asked={asked} credentials={credentials} filter={filter} />
      <Log key={JSON.stringify(asked)} asked={asked} credentials={credentials} />
    </>
  );
}

/** The requests that match the filters; with different filters it starts afresh, so no page is shown under other filters. */
function Log({ asked, credentials }: { readonly asked: Filters; readonly credentials: Credentials }) {
  const here = useProject();
  /**
   * All pages from the first one on, as they were when older pages were requested. If empty, only the newest page is shown,
   * and it is kept up to date.
   */
  const [pages, setPages] = useState<readonly LogPage[]>([]);
  const read = (cursor?: string, signal?: AbortSignal): Promise<LogPage> =>
    annal.get(
      '/admin/projects/{project_id}/logs',
      {
        project_id: here.project,
        environment: here.environment,
        limit: PAGE_ROWS,
        ...(filled({ ...asked, cursor }) as Filled),
      },
      { signal },
    );
  const first = useLoaded((signal) => read(undefined, signal), [], pages.length === 0 ? POLL_MS : undefined);
  const further = useAct(read);
  const columns = useMemo(
    () => makeColumns(here, credentials),
    [here.project, here.environment, credentials],
  );
  return (
    <Shown of={first}>
      {(newest) => {
        const shown = pages.length === 0 ? [newest] : pages;
        const next = shown.at(-1)?.next_cursor ?? null;
        const readFurther = async (): Promise<void> => {
          if (next === null || further.isRunning) return;
          const page = await further.run(next);
          if (page !== undefined) setPages([...shown, page]);
        };
        return newest.data.length === 0 ? (
          <Empty>
            <p>{say('requests.none')}</p>
          </Empty>
        ) : (
          <>
            {pages.length === 0 ? null : (
              <p class="newest">
                <Button
                  onClick={() => {
                    setPages([]);
                    scrollTo({ top: 0 });
                  }}
                >
                  {say('requests.newest')}
                </Button>
              </p>
            )}
            <LongTable
              label={say('requests.title')}
              pages={shown.map(({ data }) => data)}
              keyOf={({ request_id }) => request_id}
              columns={columns}
              // The second page isn't loaded until the person requests it, so that new requests keep appearing until then.
              onEnd={next === null || pages.length === 0 ? undefined : () => void readFurther()}
            />
            <Problem failure={further.failure} />
            {next === null ? null : (
              <Button busy={further.isRunning} onClick={() => void readFurther()}>
                {say('more')}
              </Button>
            )}
          </>
        );
      }}
    </Shown>
  );
}

/** The filters. Chosen filters apply immediately; typed filters apply when the button is pressed. */
function FilterForm({
  asked,
  credentials,
  filter,
}: {
  readonly asked: Filters;
  readonly credentials: Credentials;
  readonly filter: (changed: Filters) => void;
}) {
  const here = useProject();
  const form = useRef<HTMLFormElement>(null);
  const shown = { ...asked, from: toField(asked.from), to: toField(asked.to, true) };
  // The fields follow the URL, including when filters are removed.
  useEffect(
    () => {
      for (const name of WRITTEN) {
        const field = form.current?.elements.namedItem(name);
        if (field instanceof HTMLInputElement) field.value = shown[name] ?? '';
      }
    },
    WRITTEN.map((name) => asked[name]),
  );
  const isHere = ({ environment }: Credential): boolean => environment === here.environment;
  const all = (options: readonly Option[]): readonly Option[] => [['', say('requests.all')], ...options];
  const toOptions = (of: readonly Credential[]): readonly Option[] =>
    of.filter(isHere).map(({ id, label }) => [id, label]);
  const chosen: readonly (readonly [Filter, TextKey, readonly Option[]])[] = [
    ['status', 'requests.status', STATUSES.map((each) => [each, say(`status.${each}`)])],
    ['method', 'requests.method', METHODS.map((each) => [each, each])],
    ['key', 'requests.key', toOptions(credentials.keys)],
    ['application', 'requests.application', toOptions(credentials.applications)],
  ];
  return (
    <form
      ref={form}
      class="filters"
      aria-label={say('search')}
      onSubmit={(event) => {
        event.preventDefault();
        const written = new FormData(event.currentTarget);
        const textOf = (name: string): string => String(written.get(name)).trim();
        filter({
          path: textOf('path'),
          request_id: textOf('request_id'),
          from: toAsked(textOf('from'), shown.from, asked.from),
          to: toAsked(textOf('to'), shown.to, asked.to),
        });
      }}
    >
      {chosen.map(([name, label, options]) => (
        <label key={name}>
          {say(label)}{' '}
          <select
            value={asked[name] ?? ''}
            onChange={({ currentTarget }) => filter({ [name]: currentTarget.value })}
          >
            {withAsked(all(options), asked[name]).map(([value, text]) => (
              <option key={value} value={value} selected={value === (asked[name] ?? '')}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
      <label>
        {say('requests.path')} <input name="path" placeholder="/fhir/R4/Observation" />
      </label>
      <label>
        {say('requests.id')} <input name="request_id" placeholder="req_…" />
      </label>
      <label>
        {say('requests.from')} <input name="from" type="datetime-local" step="1" />
      </label>
      <label>
        {say('requests.to')} <input name="to" type="datetime-local" step="1" />
      </label>
      <Button type="submit">{say('search')}</Button>
      {Object.values(asked).some((each) => each !== undefined && each !== '') ? (
        <Button tone="link" onClick={() => filter(Object.fromEntries(FILTERS.map((name) => [name, ''])))}>
          {say('requests.clear')}
        </Button>
      ) : null}
    </form>
  );
}

/** An option: its value in the URL, and its text. */
type Option = readonly [value: string, text: string];

/** Returns the options, including the value in the URL, which may be a single status, or a credential that no longer exists. */
function withAsked(options: readonly Option[], asked = ''): readonly Option[] {
  return options.some(([value]) => value === asked) ? options : [...options, [asked, asked]];
}

/**
 * Returns a time from the URL in the form that the field shows, in the browser's time zone.
 * @param isEnd true if the time ends a period, so that a day without a time means the end of that day
 */
function toField(asked: string | undefined, isEnd = false): string {
  const at = Date.parse(asked ?? '');
  if (Number.isNaN(at)) return '';
  const moment = new Date(at + (isEnd && asked?.length === 10 ? 86_400_000 : 0));
  return toLocal(moment);
}

/** A table of requests. */
export function RequestTable({
  rows,
  credentials,
}: {
  readonly rows: readonly LoggedRequest[];
  readonly credentials: Credentials;
}) {
  return (
    <Table
      label={say('requests.title')}
      rows={rows}
      keyOf={({ request_id }) => request_id}
      columns={makeColumns(useProject(), credentials)}
    />
  );
}

function makeColumns(here: Here, { nameOf }: Credentials): readonly Column<LoggedRequest>[] {
  return [
    { title: say('requests.status'), cell: ({ status }) => <Status status={status} /> },
    {
      title: say('requests.request'),
      cell: ({ method, path, request_id }) => (
        <a class="wraps" href={pathOf(here, `/requests/${request_id}`)}>
          <span class="method">{method}</span> <code>{path}</code>
        </a>
      ),
    },
    { title: say('requests.took'), isNumber: true, isWide: true, cell: ({ ms }) => sayMs(ms) },
    { title: say('requests.by'), isWide: true, cell: (row) => <CalledBy row={row} nameOf={nameOf} /> },
    {
      title: say('requests.id'),
      isWide: true,
      cell: ({ request_id }) => <code class="whole">{request_id}</code>,
    },
    {
      title: say('requests.when'),
      cell: ({ ts }) => (
        <span title={sayMoment(ts)}>
          <Ago at={ts} />
        </span>
      ),
    },
  ];
}

/** Shows who sent a request: the name of a key or an application, or otherwise a person. */
export function CalledBy({
  row: { key_id, application_id, identity },
  nameOf,
}: {
  readonly row: LoggedRequest;
  readonly nameOf: Credentials['nameOf'];
}) {
  const id = key_id ?? application_id;
  if (id !== null)
    return (
      <span class="whole" title={id}>
        {nameOf(id)}
      </span>
    );
  const { issuer, subject } = account.value?.installation.identity ?? {};
  return identity === `${issuer} ${subject}` ? (
    <span class="whole">{say('requests.byYou')}</span>
  ) : (
    <code>{identity ?? ''}</code>
  );
}

/** A status in the colour of its class; the number also conveys it without the colour. */
export function Status({ status }: { readonly status: number }) {
  return (
    <Badge tone={status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'plain' : 'good'}>
      {status}
    </Badge>
  );
}

/** Returns a duration as text. */
export function sayMs(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
