/** The request log, newest first, while requests come in. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { call, type Page, withQuery } from '../api.ts';
import { type Credential, type Credentials, useCredentials } from '../credentials.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Ago, Badge, Button, Empty, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { say, sayMoment, type TextKey } from '../texts/texts.ts';

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
/** Filters, by their names in the page's URL, which are those of the interface. */
const FILTERS = ['status', 'method', 'key', 'application', 'path', 'request_id', 'from', 'to'] as const;
type Filter = (typeof FILTERS)[number];
type Filters = Readonly<Partial<Record<Filter, string>>>;
/** Filters that are written, not chosen: they apply when the form is sent. */
const WRITTEN = ['path', 'request_id', 'from', 'to'] as const satisfies readonly Filter[];

/** Returns the screen. */
export function Requests() {
  const here = useProject();
  const { query, route } = useLocation();
  const asked: Filters = Object.fromEntries(FILTERS.map((name) => [name, query[name]]));
  const [more, setMore] = useState<readonly LoggedRequest[]>([]);
  const [cursor, setCursor] = useState<string | null>();
  const path = (after?: string): string =>
    withQuery(`/admin/projects/${here.project}/logs`, {
      ...asked,
      environment: here.environment,
      limit: 50,
      cursor: after,
    });
  const first = useLoaded(
    (signal) => call<Page<LoggedRequest>>(path(), { signal }),
    [here.project, here.environment, JSON.stringify(asked)],
    POLL_MS,
  );
  const further = useAct(async (after: string) => call<Page<LoggedRequest>>(path(after)));
  const credentials = useCredentials();
  const filter = (changed: Filters): void => {
    setMore([]);
    setCursor(undefined);
    route(withQuery(pathOf(here, '/requests'), { ...asked, ...changed }), true);
  };
  return (
    <>
      <Head title={say('requests.title')} about={say('requests.says')} />
      <FilterForm asked={asked} credentials={credentials} filter={filter} />
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
              <RequestTable rows={rows} credentials={credentials} />
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

/** The filters: chosen ones apply at once, written ones with the button. */
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
  // The fields follow the URL, also when the filters are removed.
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

/** A choice: what the URL has, and its text. */
type Option = readonly [value: string, text: string];

/** Returns the choices with the one that the URL asks for, which may be a single status, or a credential that is gone. */
function withAsked(options: readonly Option[], asked = ''): readonly Option[] {
  return options.some(([value]) => value === asked) ? options : [...options, [asked, asked]];
}

/**
 * Returns a moment of the URL as the field shows it, in the clock of the browser.
 * @param isEnd a day without time ends the period, so its end is meant
 */
function toField(asked: string | undefined, isEnd = false): string {
  const at = Date.parse(asked ?? '');
  if (Number.isNaN(at)) return '';
  const moment = new Date(at + (isEnd && asked?.length === 10 ? 86_400_000 : 0));
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** Returns what the URL gets for a field: what it has if the field is unchanged, so that its fractions stay. */
function toAsked(field: string, shown: string, asked = ''): string {
  if (field === '') return '';
  return Date.parse(field) === Date.parse(shown) ? asked : new Date(field).toISOString();
}

/** The requests as a table. */
export function RequestTable({
  rows,
  credentials: { nameOf },
}: {
  readonly rows: readonly LoggedRequest[];
  readonly credentials: Credentials;
}) {
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
          cell: (row) => <CalledBy row={row} nameOf={nameOf} />,
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

/** Who sent a request: a key or an application by its name, else a person. */
export function CalledBy({
  row: { key_id, application_id, identity },
  nameOf,
}: {
  readonly row: LoggedRequest;
  readonly nameOf: Credentials['nameOf'];
}) {
  const id = key_id ?? application_id;
  return id === null ? <code>{identity ?? ''}</code> : <span title={id}>{nameOf(id)}</span>;
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
