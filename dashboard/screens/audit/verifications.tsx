/** Verifications of the project and its records, and the checkpoints of the installation. */
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { type Api, annal } from '../../api.ts';
import { pathOf, useProject } from '../../here.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Ago, Badge, Button, Empty, Field, Head, Problem, Shown, Table } from '../../parts/parts.tsx';
import { say, sayBytes, sayCount, sayMomentInZone, sayNumber, type TextKey } from '../../texts/texts.ts';
import { isOperator } from '../ops/ops.tsx';
import { Compared } from './compared.tsx';
import { AuditHead, FindPatient, save } from './parts.tsx';

type Verification = Api.Verification;

const TONES = { waiting: 'warn', running: 'warn', done: 'good', failed: 'bad', cancelled: 'plain' } as const;
const ROUTE = '/admin/operations/verifications';
/** How often the state of jobs is read, in ms. */
const EVERY_MS = 2_000;

const isUnfinished = ({ finished_at }: Pick<Verification, 'finished_at'>): boolean => finished_at === null;

/** Returns the screen. */
export function Verifications() {
  const here = useProject();
  const { query } = useLocation();
  const [isFollowed, follow] = useState(true);
  const verifications = useLoaded(
    async (signal) => {
      const found = await annal.get(ROUTE, { project: here.project, limit: 50 }, { signal });
      follow(found.data.some(isUnfinished));
      return found;
    },
    [here.project],
    isFollowed ? EVERY_MS : undefined,
  );
  const starting = useAct(async (patient: string) => {
    const { project } = here;
    await annal.post(ROUTE, { body: { scope: patient === '' ? { project } : { project, patient } } });
    await verifications.reload();
    return true;
  });
  return (
    <>
      <AuditHead title="audit.verifications" about="audit.verifications.says" />
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          const given = String(new FormData(event.currentTarget).get('patient')).trim();
          void starting.run(given.replace(/^Patient\//, ''));
        }}
      >
        <Field
          name="patient"
          label={say('audit.verify.patient')}
          hint={
            <>
              {say('audit.verify.patient.hint')} <FindPatient />
            </>
          }
          failure={starting.failure}
        >
          {(attributes) => <input {...attributes} autocomplete="off" defaultValue={query.patient ?? ''} />}
        </Field>
        <Problem failure={starting.failure} />
        <p>
          <Button type="submit" tone="primary" busy={starting.isRunning}>
            {say('audit.verify.start')}
          </Button>
        </p>
      </form>
      <Shown of={verifications}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              <p>{say('audit.verifications.none')}</p>
            </Empty>
          ) : (
            <VerificationTable rows={data} />
          )
        }
      </Shown>
      <Checkpoints />
    </>
  );
}

function VerificationTable({ rows }: { readonly rows: readonly Verification[] }) {
  const here = useProject();
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
              <a href={pathOf(here, `/audit/verifications/${job.id}`)}>{sayScope(job)}</a>
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

/** Returns the scope of a verification in words. */
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

/** Returns the screen of one verification. */
export function VerificationDetails() {
  const here = useProject();
  const id = useRoute().params.job ?? '';
  const [isFollowed, follow] = useState(true);
  const job = useLoaded(
    async (signal) => {
      const found = await annal.get(`${ROUTE}/{job_id}`, { job_id: id }, { signal });
      follow(isUnfinished(found));
      return found;
    },
    [here.project, id],
    isFollowed ? EVERY_MS : undefined,
  );
  const cancelling = useAct(async () => {
    await annal.post(`${ROUTE}/{job_id}/cancel`, { job_id: id });
    await job.reload();
    return true;
  });
  return (
    <>
      <p>
        <a href={pathOf(here, '/audit/verifications')}>{say('audit.verifications')}</a>
      </p>
      <Head title={say('audit.verification')} about={<code>{id}</code>} />
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
                <Causes report={found.report} />
                <Compared job={found} report={found.report} />
              </>
            )}
          </>
        )}
      </Shown>
    </>
  );
}

function Causes({ report }: { readonly report: NonNullable<Verification['report']> }) {
  const here = useProject();
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
                    <a href={pathOf(here, `/audit/events/${event}`)}>{say('audit.event')}</a>
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

/** Checkpoints: an auditor notes the root, an operator also makes and downloads them. */
function Checkpoints() {
  const here = useProject();
  const isOperating = isOperator();
  const [job, setJob] = useState<Api.CheckpointJob>();
  const checkpoints = useLoaded(
    (signal) =>
      annal.get(
        '/admin/operations/checkpoints',
        { limit: 50, ...(isOperating ? {} : { project: here.project }) },
        { signal },
      ),
    [here.project, isOperating],
  );
  const making = useAct(async () => {
    setJob(await annal.post('/admin/operations/checkpoints', {}));
    return true;
  });
  const unfinished = job !== undefined && job.finished_at === null;
  useLoaded(
    async () => {
      if (!unfinished) return;
      const now = await annal.get('/admin/operations/checkpoints/jobs/{job_id}', { job_id: job.id });
      setJob(now);
      if (now.finished_at !== null) await checkpoints.reload();
    },
    [job?.id],
    unfinished ? EVERY_MS : undefined,
  );
  const downloading = useAct(async (id: string) => {
    const file = await annal.get('/admin/operations/checkpoints/{checkpoint_id}', { checkpoint_id: id });
    save(file, `checkpoint-${id}.ndjson.gz`);
    return true;
  });
  return (
    <section class="stack" id="checkpoints">
      <div class="head">
        <div>
          <h2>{say('audit.checkpoints')}</h2>
          <p class="quiet">
            {say(isOperating ? 'audit.checkpoints.says.operator' : 'audit.checkpoints.says')}
          </p>
        </div>
        {isOperating ? (
          <div class="acts">
            <Button busy={making.isRunning || unfinished} onClick={() => void making.run(undefined)}>
              {say('audit.checkpoint.make')}
            </Button>
          </div>
        ) : null}
      </div>
      <Problem failure={making.failure ?? downloading.failure} />
      {job?.error == null ? null : <p class="note">{job.error}</p>}
      <Shown of={checkpoints}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              <p>{say(isOperating ? 'audit.checkpoints.none.operator' : 'audit.checkpoints.none')}</p>
            </Empty>
          ) : (
            <Table
              label={say('audit.checkpoints')}
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: say('audit.when'),
                  cell: ({ time, id }) => (
                    <>
                      {sayMomentInZone(time)}
                      <div class="quiet">
                        <code>{id}</code>
                      </div>
                      {isOperating ? (
                        <div>
                          <Button tone="link" onClick={() => void downloading.run(id)}>
                            {say('audit.checkpoint.download')}
                          </Button>
                        </div>
                      ) : null}
                    </>
                  ),
                },
                {
                  title: say('audit.root'),
                  cell: ({ root }) => <code class="whole">{root}</code>,
                },
                ...(isOperating
                  ? [
                      {
                        title: say('audit.covers'),
                        isWide: true,
                        cell: (kept: Api.Checkpoint) => sayCovered(kept),
                      },
                    ]
                  : []),
              ]}
            />
          )
        }
      </Shown>
    </section>
  );
}

function sayCovered({ events, streams, access_logs, bytes }: Api.Checkpoint): string {
  const numbers: readonly (readonly [TextKey, number | null])[] = [
    ['audit.covers.events', events],
    ['audit.covers.streams', streams],
    ['audit.covers.logs', access_logs],
  ];
  const parts = numbers.flatMap(([key, count]) =>
    count === null ? [] : say(key, { count: sayNumber(count) }),
  );
  return [...parts, ...(bytes === null ? [] : [sayBytes(bytes)])].join(', ');
}
