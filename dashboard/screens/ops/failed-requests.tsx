/** Requests in all projects that failed or were refused because of a rate limit, and any request by its id. */
import { useLocation } from 'preact-iso';
import { type AnswerOf, annal, filled, withQuery } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { toLocal } from '../../moment-field.ts';
import { Ago, Badge, Button, Empty, Head, Shown, Table } from '../../parts/parts.tsx';
import { PLACE } from '../../place.ts';
import { say, sayMoment, sayNumber } from '../../texts/texts.ts';
import { sayMs } from '../requests.tsx';

type Failed = AnswerOf<'GET', '/admin/operations/failed-requests'>;
type Group = Failed['data'][number];
type Found = AnswerOf<'GET', '/admin/operations/requests/{request_id}'>;

const SCREEN = `${PLACE.root}/ops/failed-requests`;

/** Returns the screen. */
export function FailedRequests() {
  const { query, route } = useLocation();
  const { project, from, to, request_id } = query;
  const asked = filled({ project, from, to });
  const failed = useLoaded(
    (signal) => annal.get('/admin/operations/failed-requests', asked, { signal }),
    [JSON.stringify(asked)],
    30_000,
  );
  return (
    <>
      <Head title={say('ops.failed')} about={say('ops.failed.says')} />
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const read = (name: string): string => String(given.get(name) ?? '').trim();
          const moment = (name: string): string | undefined =>
            read(name) === '' ? undefined : new Date(read(name)).toISOString();
          const next = { project: read('project'), request_id: read('request_id') };
          route(withQuery(SCREEN, { ...filled(next), from: moment('from'), to: moment('to') }));
        }}
      >
        <Moment name="from" at={from} />
        <Moment name="to" at={to} />
        <label>
          {say('ops.project')}{' '}
          <input name="project" defaultValue={project ?? ''} placeholder="proj_…" autocomplete="off" />
        </label>
        <label>
          {say('requests.request')}{' '}
          <input name="request_id" defaultValue={request_id ?? ''} placeholder="req_…" autocomplete="off" />
        </label>
        <Button type="submit">{say('record.show')}</Button>
      </form>
      {request_id === undefined ? null : <One id={request_id} />}
      <Shown of={failed}>
        {({ data, hours, from: since }) =>
          data.length === 0 ? (
            <Empty>
              <p>{say('ops.failed.none', { moment: sayMoment(since) })}</p>
            </Empty>
          ) : (
            <>
              <Hours hours={hours} />
              <Groups groups={data} />
            </>
          )
        }
      </Shown>
    </>
  );
}

function Moment({ name, at }: { readonly name: 'from' | 'to'; readonly at: string | undefined }) {
  const local = at === undefined ? '' : toLocal(new Date(at)).slice(0, 16);
  return (
    <label>
      {say(`audit.${name}`)} <input key={local} name={name} type="datetime-local" defaultValue={local} />
    </label>
  );
}

function Hours({ hours }: { readonly hours: Failed['hours'] }) {
  return (
    <Table
      isStacked
      label={say('ops.failed.hours')}
      rows={hours.toReversed()}
      keyOf={({ hour }) => hour}
      columns={[
        { title: say('ops.failed.hour'), cell: ({ hour }) => <time dateTime={hour}>{sayMoment(hour)}</time> },
        { title: say('ops.failed.5xx'), isNumber: true, cell: (of) => sayNumber(of.failed) },
        { title: say('ops.failed.429'), isNumber: true, cell: (of) => sayNumber(of.throttled) },
      ]}
    />
  );
}

function Groups({ groups }: { readonly groups: readonly Group[] }) {
  return (
    <Table
      isStacked
      label={say('ops.failed')}
      rows={groups}
      keyOf={(of) => `${of.project.id} ${of.environment} ${of.status} ${of.method} ${of.route}`}
      columns={[
        {
          title: say('ops.route'),
          cell: (of) => (
            <>
              <Status of={of} /> <span class="method">{of.method}</span> <code>{of.route}</code>
            </>
          ),
        },
        { title: say('ops.project'), cell: (of) => <Whose of={of} /> },
        { title: say('usage.requests'), isNumber: true, cell: ({ requests }) => sayNumber(requests) },
        {
          title: say('ops.failed.last'),
          isWide: true,
          cell: ({ last_at, request_id }) => (
            <>
              <Ago at={last_at} />
              <div class="quiet">
                <a href={withQuery(SCREEN, { request_id })}>
                  <code class="whole">{request_id}</code>
                </a>
              </div>
            </>
          ),
        },
      ]}
    />
  );
}

function Status({ of: { status, error } }: { readonly of: Pick<Group, 'status' | 'error'> }) {
  return (
    <Badge tone={status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good'}>
      {status}
      {error === null ? '' : ` ${error}`}
    </Badge>
  );
}

function Whose({ of: { project, environment } }: { readonly of: Pick<Group, 'project' | 'environment'> }) {
  return (
    <>
      {project.name ?? say('ops.unknown')}{' '}
      {environment === null ? null : <Badge tone={environment}>{say(`environment.${environment}`)}</Badge>}
      <div class="quiet">
        {project.organization === null ? '' : `${project.organization} · `}
        <a href={withQuery(SCREEN, { project: project.id })}>
          <code>{project.id}</code>
        </a>
      </div>
    </>
  );
}

/** A single request whose id is known from a customer. */
function One({ id }: { readonly id: string }) {
  const found = useLoaded(
    (signal) => annal.get('/admin/operations/requests/{request_id}', { request_id: id }, { signal }),
    [id],
  );
  return (
    <section class="panel">
      <h2>
        <code>{id}</code>
      </h2>
      <Shown of={found}>
        {(request: Found) => (
          <>
            <p>
              <Status of={request} /> <span class="method">{request.method}</span>{' '}
              <code>{request.route}</code> · {sayMoment(request.ts)} · {sayMs(request.ms)}
            </p>
            <p>
              <Whose of={request} />
            </p>
            <p class="quiet">{say('ops.failed.log')}</p>
          </>
        )}
      </Shown>
    </section>
  );
}
