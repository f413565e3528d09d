/** Verification jobs and their reports: for a project's auditors, and for operators. */
import { useState } from 'preact/hooks';
import { type Api, annal } from '../../api.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Ago, Badge, Button, Empty, Problem, Shown, Table } from '../../parts/parts.tsx';
import { say, sayCount, sayMomentInZone } from '../../texts/texts.ts';
import { Compared } from './compared.tsx';

type Verification = Api.Verification;

const TONES = { waiting: 'warn', running: 'warn', done: 'good', failed: 'bad', cancelled: 'plain' } as const;
const ROUTE = '/admin/operations/verifications';
/** How often the state of jobs is polled, in ms. */
export const EVERY_MS = 2_000;

const isUnfinished = ({ finished_at }: Pick<Verification, 'finished_at'>): boolean => finished_at === null;

/**
 * Loads verifications, and reloads them until all of them are finished.
 * @param project undefined for all projects, for operators
 */
export function useVerifications(project?: string) {
  const [isFollowed, follow] = useState(true);
  return useLoaded(
    async (signal) => {
      const found = await annal.get(
        ROUTE,
        { limit: 50, ...(project === undefined ? {} : { project }) },
        { signal },
      );
      follow(found.data.some(isUnfinished));
      return found;
    },
    [project],
    isFollowed ? EVERY_MS : undefined,
  );
}

/** The list of verifications, or a note that there are none. */
export function VerificationList({
  verifications,
  pathTo,
}: {
  readonly verifications: ReturnType<typeof useVerifications>;
  readonly pathTo: (id: string) => string;
}) {
  return (
    <Shown of={verifications}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty>
            <p>{say('audit.verifications.none')}</p>
          </Empty>
        ) : (
          <VerificationTable rows={data} pathTo={pathTo} />
        )
      }
    </Shown>
  );
}

/** The table of verifications, each with a link to its report. */
function VerificationTable({
  rows,
  pathTo,
}: {
  readonly rows: readonly Verification[];
  readonly pathTo: (id: string) => string;
}) {
  return (
    <Table
      label={say('audit.verifications')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          title: say('audit.scope'),
          cell: (job) => (
            <>
              <a href={pathTo(job.id)}>{sayScope(job)}</a>
              {job.scope.patient === null ? null : (
                <div class="quiet">
                  <code>{job.scope.patient}</code>
                </div>
              )}
            </>
          ),
        },
        { title: say('webhooks.state'), cell: (job) => <Outcome job={job} /> },
        { title: say('audit.when'), cell: ({ created_at }) => <Ago at={created_at} /> },
        {
          title: say('audit.startedBy'),
          isWide: true,
          cell: ({ started_by: by }) => by.email ?? by.subject,
        },
      ]}
    />
  );
}

/** Returns a verification's scope in words. */
export function sayScope({ scope }: Pick<Verification, 'scope'>): string {
  return say(`audit.scope.${scope.kind}`);
}

function Outcome({ job }: { readonly job: Verification }) {
  const { status, faults, error } = job;
  if (status === 'done' && faults !== null)
    return (
      <Badge tone={faults === 0 ? 'good' : 'bad'}>
        {faults === 0 ? say('audit.faults.none') : sayCount('audit.faults', faults)}
      </Badge>
    );
  return (
    <>
      <Badge tone={TONES[status]}>{say(`ops.job.${status}`)}</Badge>
      {error === null ? null : <div>{error}</div>}
    </>
  );
}

/** A verification: its state, and its report. */
export function VerificationView({ id, eventPath }: { readonly id: string; readonly eventPath: EventPath }) {
  const [isFollowed, follow] = useState(true);
  const job = useLoaded(
    async (signal) => {
      const found = await annal.get(`${ROUTE}/{job_id}`, { job_id: id }, { signal });
      follow(isUnfinished(found));
      return found;
    },
    [id],
    isFollowed ? EVERY_MS : undefined,
  );
  const cancelling = useAct(async () => {
    await annal.post(`${ROUTE}/{job_id}/cancel`, { job_id: id });
    await job.reload();
    return true;
  });
  return (
    <Shown of={job}>
      {(found) => (
        <>
          <section class="panel">
            <p>
              <strong>{sayScope(found)}</strong>{' '}
              {found.scope.patient === null ? null : <code>{found.scope.patient}</code>}{' '}
              <Outcome job={found} />
            </p>
            {isUnfinished(found) ? (
              <>
                <progress
                  aria-label={say('audit.progress')}
                  max={1}
                  {...(found.progress === null || found.progress.total === 0
                    ? {}
                    : { value: Math.min(1, found.progress.done / found.progress.total) })}
                />
                <p>
                  <Button
                    tone="danger"
                    busy={cancelling.isRunning}
                    disabled={found.cancelling}
                    onClick={() => void cancelling.run(undefined)}
                  >
                    {say('audit.verify.cancel')}
                  </Button>
                </p>
                <Problem failure={cancelling.failure} />
              </>
            ) : null}
            <dl>
              <dt>{say('audit.startedBy')}</dt>
              <dd>{found.started_by.email ?? found.started_by.subject}</dd>
              <dt>{say('audit.started')}</dt>
              <dd>{sayMomentInZone(found.started_at ?? found.created_at)}</dd>
              {found.finished_at === null ? null : (
                <>
                  <dt>{say('audit.ended')}</dt>
                  <dd>{sayMomentInZone(found.finished_at)}</dd>
                </>
              )}
            </dl>
          </section>
          {found.report === null ? null : (
            <>
              <Causes report={found.report} eventPath={eventPath} />
              <Compared job={found} report={found.report} />
            </>
          )}
        </>
      )}
    </Shown>
  );
}

/** Returns the path of an event's page; undefined if it has none. */
type EventPath = (event: string) => string | undefined;

function Causes({
  report,
  eventPath,
}: {
  readonly report: NonNullable<Verification['report']>;
  readonly eventPath: EventPath;
}) {
  if (report.causes.length === 0) return <p>{say('audit.clean')}</p>;
  return (
    <>
      <p class="note">{say('audit.faults.do')}</p>
      <Table
        label={say('audit.causes')}
        rows={report.causes}
        keyOf={({ where, what, which }) => `${where} ${what} ${which}`}
        columns={[
          {
            title: say('audit.cause'),
            cell: ({ where, what, messages }) => (
              <>
                <strong>
                  {where}: {what}
                </strong>
                {messages.map((message) => (
                  <div key={message}>{message}</div>
                ))}
              </>
            ),
          },
          {
            title: say('audit.which'),
            cell: ({ which, event, changed, follows }) => (
              <>
                <code>{which}</code>
                {event === null ? null : (
                  <div>
                    <EventLink event={event} path={eventPath(event)} />
                  </div>
                )}
                {changed.length === 0 ? null : (
                  <div class="quiet">{say('audit.changed', { elements: changed.join(', ') })}</div>
                )}
                {Object.entries(follows).map(([table, count]) => (
                  <div key={table} class="quiet">
                    {say('audit.follows', { table, count })}
                  </div>
                ))}
              </>
            ),
          },
        ]}
      />
    </>
  );
}

function EventLink({ event, path }: { readonly event: string; readonly path: string | undefined }) {
  return path === undefined ? <code>{event}</code> : <a href={path}>{say('audit.event')}</a>;
}
