/** Read models with their state, and their rebuilds. */
import { useState } from 'preact/hooks';
import { type Api, annal } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Badge, Button, Head, Shown, Table } from '../../parts/parts.tsx';
import { say, sayBytes } from '../../texts/texts.ts';
import { Behind, Named, RunsOn } from './followers.tsx';
import { Rebuilds } from './rebuilds.tsx';
import { StartRebuild } from './start-rebuild.tsx';

const POLL_MS = 2_000;

const TONES = {
  serving: 'good',
  rebuilding: 'warn',
  missing: 'bad',
  outdated: 'bad',
  failed: 'bad',
} as const;

/** Returns the screen. */
export function ReadModels() {
  const [asked, ask] = useState<readonly string[]>();
  const models = useLoaded(
    async (signal) => (await annal.get('/admin/operations/read-models', {}, { signal })).data,
    [],
    POLL_MS,
  );
  const rebuilds = useLoaded(
    async (signal) => (await annal.get('/admin/operations/rebuilds', { limit: 20 }, { signal })).data,
    [],
    POLL_MS,
  );
  return (
    <>
      <Head title={say('ops.models')} about={say('ops.models.says')}>
        <Button onClick={() => ask([])}>{say('ops.rebuild.several')}</Button>
      </Head>
      <Shown of={rebuilds}>
        {(all) => <Rebuilds which="unfinished" all={all} onChange={rebuilds.reload} />}
      </Shown>
      <Shown of={models}>
        {(all) => (
          <Table
            isStacked
            label={say('ops.models')}
            rows={all}
            keyOf={({ name }) => name}
            columns={[
              { title: say('name'), cell: ({ name }) => <Named name={name} kind="model" /> },
              { title: say('webhooks.state'), cell: (model) => <State model={model} /> },
              { title: say('ops.size'), isNumber: true, isWide: true, cell: ({ bytes }) => sayBytes(bytes) },
              {
                title: say('ops.version'),
                isNumber: true,
                isWide: true,
                cell: ({ version, table_version }) =>
                  table_version === version || table_version === null
                    ? version
                    : `${table_version} → ${version}`,
              },
              {
                title: say('ops.runsOn'),
                isWide: true,
                cell: ({ instance }) => <RunsOn instance={instance} />,
              },
              {
                title: say('actions'),
                cell: ({ name, state }) => (
                  <Button
                    disabled={state === 'rebuilding'}
                    aria-label={say('ops.rebuild.of', { names: name })}
                    onClick={() => ask([name])}
                  >
                    {say('ops.rebuild')}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Shown>
      {rebuilds.value === undefined ? null : (
        <Rebuilds which="ended" all={rebuilds.value} onChange={rebuilds.reload} />
      )}
      {asked === undefined || models.value === undefined ? null : (
        <StartRebuild
          models={models.value.map(({ name }) => name)}
          chosen={asked}
          onClose={() => ask(undefined)}
          onStarted={() => {
            ask(undefined);
            void rebuilds.reload();
            void models.reload();
          }}
        />
      )}
    </>
  );
}

function State({ model: { state, stale, failure, lag } }: { readonly model: Api.ReadModel }) {
  return (
    <>
      <Badge tone={TONES[state]}>{say(`ops.state.${state}`)}</Badge>{' '}
      {stale ? <Badge tone="bad">{say('ops.state.stale')}</Badge> : null}
      <div>
        <Behind lag={lag} />
      </div>
      {failure === null ? null : <div class="wrong">{failure}</div>}
    </>
  );
}
