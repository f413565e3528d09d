/** The installation's checkpoints: auditors take a note of the roots; operators create and download checkpoints. */
import { useState } from 'preact/hooks';
import { type Api, annal } from '../../api.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Button, Empty, Problem, Shown, Table } from '../../parts/parts.tsx';
import { isOperator } from '../../session.ts';
import { say, sayBytes, sayMomentInZone, sayNumber, type TextKey } from '../../texts/texts.ts';
import { save } from './parts.tsx';
import { EVERY_MS } from './verifying.tsx';

/** Checkpoints: an auditor takes a note of the root; an operator also creates and downloads checkpoints. */
export function Checkpoints({ project }: { readonly project: string | undefined }) {
  const isOperating = isOperator();
  const [job, setJob] = useState<Api.CheckpointJob>();
  const checkpoints = useLoaded(
    (signal) =>
      annal.get(
        '/admin/operations/checkpoints',
        { limit: 50, ...(isOperating || project === undefined ? {} : { project }) },
        { signal },
      ),
    [project, isOperating],
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
