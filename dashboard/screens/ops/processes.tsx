/** Processes, and the events that they couldn't handle. */
import { useState } from 'preact/hooks';
import { type Api, ApiError, annal } from '../../api.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Ago, Badge, Button, Empty, Head, Problem, Shown, Table } from '../../parts/parts.tsx';
import { say, sayCount, sayNumber } from '../../texts/texts.ts';
import { Behind, Named, POLL_MS, RunsOn } from './followers.tsx';

/** Returns the screen. */
export function Processes() {
  const processes = useLoaded(
    async (signal) => (await annal.get('/admin/operations/processes', {}, { signal })).data,
    [],
    POLL_MS,
  );
  const parked = useLoaded(
    (signal) => annal.get('/admin/operations/parked', { limit: 100 }, { signal }),
    [],
    POLL_MS,
  );
  // Events that were retried and are no longer in the list.
  const [retried, note] = useState<readonly Api.ParkedEvent[]>([]);
  const retryAll = useAct(async (events: readonly Api.ParkedEvent[]) => {
    note((before) => [...before.filter(({ id }) => !events.some((one) => one.id === id)), ...events]);
    for (const { id } of events) await retry(id);
    await parked.reload();
    return true;
  });
  const waiting = new Set(parked.value?.data.map(({ id }) => id));
  const handled = parked.value === undefined ? [] : retried.filter(({ id }) => !waiting.has(id));
  return (
    <>
      <Head title={say('ops.processes')} about={say('ops.processes.says')} />
      <Shown of={processes}>
        {(all) => (
          <Table
            isStacked
            label={say('ops.processes')}
            rows={all}
            keyOf={({ name }) => name}
            columns={[
              { title: say('name'), cell: ({ name }) => <Named name={name} kind="process" /> },
              { title: say('ops.lag'), cell: ({ lag }) => <Behind lag={lag} /> },
              {
                title: say('ops.parked'),
                isNumber: true,
                cell: ({ parked: count }) =>
                  count === 0 ? sayNumber(0) : <Badge tone="bad">{sayNumber(count)}</Badge>,
              },
              {
                title: say('ops.runsOn'),
                isWide: true,
                cell: ({ instance }) => <RunsOn instance={instance} />,
              },
            ]}
          />
        )}
      </Shown>
      <section class="stack">
        <div class="head">
          <div>
            <h2>{say('ops.parked')}</h2>
            <p class="quiet">{say('ops.parked.says')}</p>
          </div>
          {(parked.value?.data.length ?? 0) < 2 ? null : (
            <Button busy={retryAll.isRunning} onClick={() => void retryAll.run(parked.value?.data ?? [])}>
              {say('ops.retry.all')}
            </Button>
          )}
        </div>
        <Problem failure={retryAll.failure} />
        <div role="status">
          {handled.map(({ id, process, type, error }) => (
            <p key={id} class="note">
              {say('ops.parked.handled', { process, type: type ?? id, error })}
            </p>
          ))}
        </div>
        <Shown of={parked}>
          {({ data, total }) =>
            data.length === 0 ? (
              <Empty>
                <p>{say('ops.parked.none')}</p>
              </Empty>
            ) : (
              <>
                <ul class="stack">
                  {data.map((event) => (
                    <Parked
                      key={event.id}
                      event={event}
                      isBusy={retryAll.isRunning}
                      onRetry={(one) => retryAll.run([one])}
                    />
                  ))}
                </ul>
                {total > data.length ? (
                  <p class="quiet">{sayCount('ops.parked.more', total - data.length)}</p>
                ) : null}
              </>
            )
          }
        </Shown>
      </section>
    </>
  );
}

/** Makes the next attempt to handle an event due immediately; does nothing if the event has been handled in the meantime. */
async function retry(id: string): Promise<void> {
  await annal
    .post('/admin/operations/parked/{parked_id}/retry', { parked_id: id })
    .catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    });
}

function Parked({
  event,
  isBusy,
  onRetry,
}: {
  readonly event: Api.ParkedEvent;
  readonly isBusy: boolean;
  readonly onRetry: (event: Api.ParkedEvent) => Promise<unknown>;
}) {
  const [isRunning, run] = useState(false);
  const isDue = Date.parse(event.retry_at) <= Date.now();
  return (
    <li class="panel">
      <div class="head">
        <h3>{event.error}</h3>
        <Button
          busy={isRunning}
          disabled={isDue || isBusy}
          onClick={() => {
            run(true);
            void onRetry(event).finally(() => run(false));
          }}
        >
          {say('ops.retry')}
        </Button>
      </div>
      <dl>
        <dt>{say('ops.process')}</dt>
        <dd>
          <code>{event.process}</code>
        </dd>
        <dt>{say('ops.project')}</dt>
        <dd>
          {event.project === null ? (
            say('ops.parked.own')
          ) : (
            <>
              {event.project.name ?? say('ops.unknown')}
              {event.project.organization === null ? '' : ` · ${event.project.organization}`}{' '}
              {event.environment === null ? null : (
                <Badge tone={event.environment}>{say(`environment.${event.environment}`)}</Badge>
              )}{' '}
              <code>{event.project.id}</code>
            </>
          )}
        </dd>
        <dt>{say('ops.parked.event')}</dt>
        <dd>
          {event.type === null ? say('ops.unknown') : event.type} <code>{event.event_id}</code>
        </dd>
        <dt>{say('ops.parked.stream')}</dt>
        <dd>
          <code>
            {event.stream}:{event.revision}
          </code>
        </dd>
        <dt>{say('ops.parked.attempts')}</dt>
        <dd>
          {sayNumber(event.attempts)} · {say('ops.parked.since')} <Ago at={event.since} />
        </dd>
        <dt>{say('ops.parked.next')}</dt>
        <dd>{isDue ? say('ops.parked.due') : <Ago at={event.retry_at} />}</dd>
      </dl>
    </li>
  );
}
