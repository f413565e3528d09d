/** The service's instances, each with the processes and read models that it runs. */
import { type Api, annal } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Ago, Badge, Head, Shown, Table } from '../../parts/parts.tsx';
import { say, sayCount } from '../../texts/texts.ts';
import { POLL_MS, shortId } from './followers.tsx';

/** Returns the screen. */
export function Instances() {
  const instances = useLoaded(
    async (signal) => (await annal.get('/admin/operations/instances', {}, { signal })).data,
    [],
    POLL_MS,
  );
  return (
    <>
      <Head title={say('ops.instances')} about={say('ops.instances.says')} />
      <Shown of={instances}>
        {(all) => (
          <Table
            isStacked
            label={say('ops.instances')}
            rows={all}
            keyOf={({ id }) => id}
            columns={[
              {
                title: say('ops.instance'),
                cell: ({ id, host, pid, answers }) => (
                  <>
                    <strong>{host}</strong> <code title={id}>{shortId(id)}</code>
                    <div class="quiet">
                      {say('ops.pid', { pid: String(pid) })}
                      {answers ? ` · ${say('ops.instance.answers')}` : ''}
                    </div>
                  </>
                ),
              },
              {
                title: say('webhooks.state'),
                cell: ({ alive, last_seen_at }) => (
                  <>
                    <Badge tone={alive ? 'good' : 'bad'}>
                      {say(alive ? 'ops.instance.alive' : 'ops.instance.gone')}
                    </Badge>
                    <div class="quiet">
                      <Ago at={last_seen_at} />
                    </div>
                  </>
                ),
              },
              { title: say('ops.version'), cell: ({ version }) => version },
              { title: say('ops.started'), isWide: true, cell: ({ started_at }) => <Ago at={started_at} /> },
              { title: say('ops.runs'), isWide: true, cell: (instance) => <Runs of={instance} /> },
            ]}
          />
        )}
      </Shown>
    </>
  );
}

function Runs({ of: { runs } }: { readonly of: Api.Instance }) {
  if (runs.length === 0) return <span class="quiet">{say('ops.runs.none')}</span>;
  return (
    <details>
      <summary>{sayCount('ops.runs', runs.length)}</summary>
      <ul>
        {runs.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </details>
  );
}
