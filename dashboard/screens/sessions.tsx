/** The person's sessions on all devices. */
import { annal } from '../api.ts';
import { useAct, useLoaded } from '../load.ts';
import { Ago, Badge, Button, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { say, sayMoment } from '../texts/texts.ts';

/** Returns the screen. */
export function Sessions() {
  const sessions = useLoaded(async () => (await annal.get('/me/sessions')).data, []);
  const ending = useAct(async (session_id?: string) => {
    await (session_id === undefined
      ? annal.delete('/me/sessions')
      : annal.delete('/me/sessions/{session_id}', { session_id }));
    await sessions.reload();
  });
  return (
    <>
      <Head title={say('sessions.title')} about={say('sessions.says')}>
        {sessions.value?.some(({ current }) => !current) ? (
          <Button tone="danger" busy={ending.isRunning} onClick={() => ending.run(undefined)}>
            {say('sessions.endOthers')}
          </Button>
        ) : null}
      </Head>
      <Problem failure={ending.failure} />
      <Shown of={sessions}>
        {(all) => (
          <Table
            label={say('sessions.title')}
            rows={all}
            keyOf={({ id }) => id}
            columns={[
              { title: say('sessions.started'), cell: ({ started_at }) => sayMoment(started_at) },
              { title: say('sessions.used'), cell: ({ used_at }) => <Ago at={used_at} /> },
              {
                title: say('actions'),
                cell: ({ id, started_at, current }) =>
                  current ? (
                    <Badge tone="good">{say('sessions.current')}</Badge>
                  ) : (
                    <Button
                      tone="danger"
                      busy={ending.isRunning}
                      aria-label={say('sessions.end.of', { moment: sayMoment(started_at) })}
                      onClick={() => ending.run(id)}
                    >
                      {say('sessions.end')}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Shown>
    </>
  );
}
