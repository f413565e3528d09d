/** A project's take-backs: data that was written by mistake, in any records, is taken back as a whole (docs/take-back.md). */
import { useState } from 'preact/hooks';
import { type AnswerOf, annal } from '../../api.ts';
import { useCredentials } from '../../credentials.ts';
import { pathOf, useProject } from '../../here.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Ago, Button, Empty, Head, Problem, Shown, Table } from '../../parts/parts.tsx';
import { say, sayCount } from '../../texts/texts.ts';
import { EVERY_MS, forAdmins, isUnderWay, listSelectors, Place, ROUTE, Status, TAKEBACKS } from './parts.tsx';
import { PlanTakeback } from './plan.tsx';
import { TakebackDetails } from './takeback.tsx';

/** The screens by path. */
export const TAKEBACK_SCREENS = {
  [TAKEBACKS]: forAdmins(Takebacks),
  [`${TAKEBACKS}/new`]: forAdmins(PlanTakeback),
  [`${TAKEBACKS}/:id`]: forAdmins(TakebackDetails),
} as const;

type Page = AnswerOf<'GET', typeof ROUTE>;
type Takeback = Page['data'][number];

/** Returns the list. */
function Takebacks() {
  const here = useProject();
  const [isFollowed, follow] = useState(false);
  const [earlier, setEarlier] = useState<readonly Page[]>([]);
  const ask = (cursor?: string, signal?: AbortSignal) =>
    annal.get(
      ROUTE,
      { project_id: here.project, limit: 20, ...(cursor === undefined ? {} : { cursor }) },
      signal === undefined ? {} : { signal },
    );
  const first = useLoaded(
    async (signal) => {
      const page = await ask(undefined, signal);
      follow(page.data.some(isUnderWay));
      return page;
    },
    [here.project],
    isFollowed ? EVERY_MS : undefined,
  );
  const more = useAct(ask);
  const next = (earlier.at(-1) ?? first.value)?.next_cursor ?? null;
  return (
    <>
      <Head title={say('takebacks.title')} about={say('takebacks.says')}>
        <a class="button primary" href={pathOf(here, `${TAKEBACKS}/new`)}>
          {say('takebacks.plan')}
        </a>
      </Head>
      <Shown of={first}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>
              <p>{say('takebacks.none')}</p>
            </Empty>
          ) : (
            <TakebackTable rows={[...data, ...earlier.flatMap((page) => page.data)]} />
          )
        }
      </Shown>
      <Problem failure={more.failure} />
      {next === null ? null : (
        <p>
          <Button
            busy={more.isRunning}
            onClick={async () => {
              const page = await more.run(next);
              if (page !== undefined) setEarlier([...earlier, page]);
            }}
          >
            {say('more')}
          </Button>
        </p>
      )}
    </>
  );
}

function TakebackTable({ rows }: { readonly rows: readonly Takeback[] }) {
  const { project } = useProject();
  const credentials = useCredentials();
  return (
    <Table
      isStacked
      label={say('takebacks.title')}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          title: say('audit.what'),
          cell: (row) => (
            <>
              <span>
                <a href={pathOf({ project, environment: row.environment }, `${TAKEBACKS}/${row.id}`)}>
                  {listSelectors(row, credentials)
                    .map(([name, value]) => `${name}: ${value}`)
                    .join(' · ')}
                </a>
              </span>
              {row.reason === null ? null : <p class="quiet">{row.reason}</p>}
            </>
          ),
        },
        { title: say('frame.environment'), cell: (row) => <Place of={row} /> },
        { title: say('webhooks.state'), cell: (row) => <Status of={row} /> },
        {
          title: say('takeback.selected'),
          cell: ({ plan }) => (plan === null ? '–' : sayCount('takeback.versions', plan.versions)),
        },
        {
          title: say('takeback.planned'),
          cell: ({ created_at, planned_by: by }) => (
            <>
              <Ago at={created_at} />
              <div class="quiet">{by === null ? say('takeback.operator') : (by.email ?? by.subject)}</div>
            </>
          ),
        },
      ]}
    />
  );
}
