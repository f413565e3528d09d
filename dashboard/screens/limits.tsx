/** The project's limits, and how close they are. */
import { withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { isNear, readStandings, type Standing } from '../limits.ts';
import { useLoaded } from '../load.ts';
import { Badge, Head, Shown, Table } from '../parts/parts.tsx';
import { PLACE } from '../place.ts';
import { account } from '../session.ts';
import { language, say, sayCount } from '../texts/texts.ts';

const POLL_MS = 10_000;
/** Limits whose current use isn't reported by any interface. */
const UNCOUNTED = ['application', 'grant', 'address', 'link'] as const;
const DAY_MS = 86_400_000;

/** Returns the screen. */
export function Limits() {
  const here = useProject();
  const standings = useLoaded(
    (signal) => readStandings(here, here.mayUse, signal),
    [here.project, here.environment],
    POLL_MS,
  );
  return (
    <>
      <Head
        title={say('limits.title')}
        about={
          <>
            {say('limits.says')} <a href={`${PLACE.base}/docs/guides/limits`}>{say('limits.more')}</a>
          </>
        }
      />
      <Shown of={standings}>
        {({ perMinute, all, throttled }) => (
          <>
            <StandingTable standings={all} />
            <section class="panel">
              <h2>{say('limits.rate')}</h2>
              {perMinute === null ? (
                <p>{say('limits.rate.none')}</p>
              ) : (
                <>
                  <p>{say('limits.rate.says', { limit: perMinute })}</p>
                  <ul class="bullets">
                    {UNCOUNTED.map((each) => (
                      <li key={each}>{say(`limits.each.${each}`)}</li>
                    ))}
                  </ul>
                  <Throttled count={throttled} />
                </>
              )}
            </section>
          </>
        )}
      </Shown>
      <Sizes />
    </>
  );
}

/** Limits and their use. */
export function StandingTable({ standings }: { readonly standings: readonly Standing[] }) {
  return (
    <Table
      label={say('limits.title')}
      rows={standings}
      keyOf={({ kind, id }) => `${kind} ${id}`}
      columns={[
        { title: say('limits.limit'), cell: (standing) => <Name of={standing} /> },
        {
          title: say('limits.used'),
          isNumber: true,
          cell: ({ used, limit }) => say('limits.of', { used, limit }),
        },
        {
          title: say('limits.share'),
          cell: (standing) => (
            <>
              <meter
                aria-label={say('limits.share')}
                max={standing.limit}
                high={standing.limit * 0.799}
                optimum={0}
                value={Math.min(standing.used, standing.limit)}
              />{' '}
              {(standing.used / standing.limit).toLocaleString(language.value, { style: 'percent' })}{' '}
              {isNear(standing) ? (
                <Badge tone="bad">
                  {say(standing.used >= standing.limit ? 'limits.reached' : 'limits.near')}
                </Badge>
              ) : null}
            </>
          ),
        },
      ]}
    />
  );
}

function Name({ of: { kind, id, name } }: { readonly of: Standing }) {
  const here = useProject();
  if (kind === 'you')
    return (
      <>
        {say('limits.you')}
        <div class="quiet wide">{say('limits.you.says')}</div>
      </>
    );
  if (kind === 'webhooks') return <a href={pathOf(here, '/webhooks')}>{say('limits.webhooks')}</a>;
  return (
    <>
      {say('limits.key')} <a href={withQuery(pathOf(here, '/requests'), { key: id })}>{name}</a>
      <div class="quiet wide">{say('limits.key.says')}</div>
    </>
  );
}

/** Requests that were refused because a limit was reached, with a link to them. */
export function Throttled({ count }: { readonly count: number }) {
  const here = useProject();
  const from = new Date(Date.now() - DAY_MS).toISOString();
  return (
    <p>
      {count === 0 ? (
        say('limits.throttled.none')
      ) : (
        <a href={withQuery(pathOf(here, '/requests'), { status: '429', from })}>
          {sayCount('limits.throttled', count)}
        </a>
      )}
    </p>
  );
}

/** The maximum sizes that the installation accepts. */
function Sizes() {
  const { limits } = account.value?.installation ?? {};
  if (limits === undefined) return null;
  const megabytes = (bytes: number): string =>
    new Intl.NumberFormat(language.value, {
      style: 'unit',
      unit: 'megabyte',
      maximumFractionDigits: 1,
    }).format(bytes / 1e6);
  return (
    <section class="panel">
      <h2>{say('limits.sizes')}</h2>
      <dl>
        <dt>{say('limits.body')}</dt>
        <dd>{megabytes(limits.body_bytes)}</dd>
        <dt>{say('limits.bundle')}</dt>
        <dd>{megabytes(limits.bundle_bytes)}</dd>
        <dt>{say('limits.entries')}</dt>
        <dd>{limits.bundle_entries.toLocaleString(language.value)}</dd>
      </dl>
    </section>
  );
}
