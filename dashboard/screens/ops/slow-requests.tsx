/** The routes with the slowest recent requests. */
import { type Api, annal, withQuery } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Ago, Empty, Head, Shown, Table } from '../../parts/parts.tsx';
import { PLACE } from '../../place.ts';
import { say, sayNumber } from '../../texts/texts.ts';
import { sayMs } from '../requests.tsx';

/** Returns the screen. */
export function SlowRequests() {
  const slow = useLoaded((signal) => annal.get('/admin/operations/slow-requests', {}, { signal }), []);
  return (
    <>
      <Head title={say('ops.slow')} about={say('ops.slow.says')} />
      <Shown of={slow}>
        {({ data, from, requests }) =>
          data.length === 0 ? (
            <Empty>
              <p>{say('ops.slow.none')}</p>
            </Empty>
          ) : (
            <>
              <p class="quiet">
                {say('ops.slow.of', { requests })} <Ago at={from} />
              </p>
              <Table
                isStacked
                label={say('ops.slow')}
                rows={data}
                keyOf={({ method, route }) => `${method} ${route}`}
                columns={[
                  {
                    title: say('ops.route'),
                    cell: ({ method, route }) => (
                      <>
                        <span class="method">{method}</span> <code>{route}</code>
                      </>
                    ),
                  },
                  { title: say('ops.p95'), isNumber: true, cell: ({ p95_ms }) => sayMs(p95_ms) },
                  {
                    title: say('ops.p50'),
                    isNumber: true,
                    isWide: true,
                    cell: ({ p50_ms }) => sayMs(p50_ms),
                  },
                  { title: say('ops.max'), isNumber: true, cell: ({ max_ms }) => sayMs(max_ms) },
                  {
                    title: say('usage.requests'),
                    isNumber: true,
                    isWide: true,
                    cell: (route) => sayNumber(route.requests),
                  },
                  { title: say('ops.slowest'), isWide: true, cell: (route) => <Slowest of={route} /> },
                ]}
              />
            </>
          )
        }
      </Shown>
    </>
  );
}

function Slowest({ of: { slowest } }: { readonly of: Api.SlowRequests['data'][number] }) {
  return (
    <>
      {slowest.status} · <Ago at={slowest.ts} />
      <div class="quiet">
        <a href={withQuery(`${PLACE.root}/ops/failed-requests`, { request_id: slowest.request_id })}>
          <code class="whole">{slowest.request_id}</code>
        </a>
      </div>
    </>
  );
}
