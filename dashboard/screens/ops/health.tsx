/** Everything that needs an operator's attention, each with its remedy, and the installation's state. */
import { type AnswerOf, annal } from '../../api.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Ago, Badge, Button, Head, Problem, Shown } from '../../parts/parts.tsx';
import { PLACE } from '../../place.ts';
import { account } from '../../session.ts';
import { say, sayBytes, sayCount, sayNumber, type TextKey, texts } from '../../texts/texts.ts';
import { POLL_MS } from './followers.tsx';
import { useUrgent } from './watch.tsx';

type Health = AnswerOf<'GET', '/admin/operations/health'>;
type Need = Health['data'][number];

/** The screen for each kind of need. */
const WHERE: Readonly<Record<string, readonly [path: string, name: TextKey]>> = {
  'read-models': ['/read-models', 'ops.models'],
  rebuilds: ['/read-models', 'ops.models'],
  processes: ['/processes', 'ops.processes'],
  parked: ['/processes', 'ops.processes'],
  'production-requests': ['/projects', 'ops.projects'],
  issuers: ['/issuers', 'ops.issuers'],
  'failed-requests': ['/failed-requests', 'ops.failed'],
  instances: ['/instances', 'ops.instances'],
  verifications: ['/verifications', 'audit.verifications'],
};

/** Returns the screen. */
export function Health() {
  const health = useLoaded(
    async (signal) => {
      const [needs, models, processes, instances, sizes] = await Promise.all([
        annal.get('/admin/operations/health', {}, { signal }),
        annal.get('/admin/operations/read-models', {}, { signal }),
        annal.get('/admin/operations/processes', {}, { signal }),
        annal.get('/admin/operations/instances', {}, { signal }),
        annal.get('/admin/operations/sizes', {}, { signal }),
      ]);
      return { needs, models: models.data, processes: processes.data, instances: instances.data, sizes };
    },
    [],
    2 * POLL_MS,
  );
  useUrgent(health.value?.needs);
  return (
    <>
      <Head title={say('ops.health')} about={say('ops.health.says')} />
      <Shown of={health}>
        {({ needs, ...state }) => (
          <>
            {health.failure !== undefined ? null : needs.data.length === 0 ? (
              <section class="panel well">
                <h2>{say('ops.well')}</h2>
                <p class="quiet">{say('ops.well.says')}</p>
              </section>
            ) : (
              <ul class="stack" aria-label={say('ops.needs')} aria-live="polite">
                {needs.data.map((need) => (
                  <NeedPanel key={`${need.code} ${need.subject}`} need={need} />
                ))}
              </ul>
            )}
            <State health={needs} {...state} onChange={health.reload} />
          </>
        )}
      </Shown>
    </>
  );
}

function NeedPanel({ need }: { readonly need: Need }) {
  const [path, name] = WHERE[need.where] ?? ['', 'ops.health' as const];
  return (
    <li class={`panel need ${need.urgent ? 'urgent' : ''}`}>
      <div class="head">
        <h2>
          <Badge tone={need.urgent ? 'bad' : 'warn'}>{say(need.urgent ? 'ops.now' : 'ops.soon')}</Badge>{' '}
          {sayNeed(need)}
        </h2>
        {need.since === null ? null : <Ago at={need.since} />}
      </div>
      <p>{sayAction(need)}</p>
      {path === '' ? null : (
        <p>
          <a class="button" href={`${PLACE.root}/ops${path}`}>
            {say('ops.goTo', { name: say(name) })}
          </a>
        </p>
      )}
    </li>
  );
}

/** Returns the need in the person's language; sentences that the service wrote stay unchanged. */
function sayNeed({ code, subject, count, message }: Need): string {
  const key = `ops.need.${code}`;
  const given = { subject: subject ?? '', count: count ?? 0 };
  if (`${key}.one` in texts.value && count !== null)
    return say(`${key}.${count === 1 ? 'one' : 'other'}` as TextKey, given);
  return key in texts.value ? say(key as TextKey, given) : message;
}

function sayAction({ code, action }: Need): string {
  const key = `ops.do.${code}`;
  return key in texts.value ? say(key as TextKey) : action;
}

/** A short summary of the installation. */
function State({
  health,
  models,
  processes,
  instances,
  sizes,
  onChange,
}: {
  readonly onChange: () => Promise<void>;
  readonly health: Health;
  readonly models: AnswerOf<'GET', '/admin/operations/read-models'>['data'];
  readonly processes: AnswerOf<'GET', '/admin/operations/processes'>['data'];
  readonly instances: AnswerOf<'GET', '/admin/operations/instances'>['data'];
  readonly sizes: AnswerOf<'GET', '/admin/operations/sizes'>;
}) {
  const alive = instances.filter((instance) => instance.alive);
  const lags = [...models, ...processes].flatMap(({ lag }) => lag ?? []);
  const slowest = Math.max(0, ...lags.map(({ seconds }) => seconds));
  const rebuilding = models.filter(({ state }) => state === 'rebuilding').length;
  const serving = models.filter(({ state }) => state === 'serving').length + rebuilding;
  const verified = health.last_verification;
  const isVerifying = verified?.finished_at === null;
  const verifying = useAct(async () => {
    await annal.post('/admin/operations/verifications', { body: { scope: 'all' } });
    await onChange();
    return true;
  });
  return (
    <section class="panel">
      <h2>{say('ops.state')}</h2>
      <dl>
        <dt>{say('ops.instances')}</dt>
        <dd>
          {sayCount('ops.instances.alive', alive.length)} · {say('ops.version')}{' '}
          {[...new Set(alive.map(({ version }) => version))].sort().join(', ') ||
            account.value?.installation.version}
        </dd>
        <dt>{say('ops.models')}</dt>
        <dd>
          {say('ops.models.serving', { serving, all: models.length })}
          {rebuilding === 0 ? '' : ` · ${sayCount('ops.models.rebuilding', rebuilding)}`}
        </dd>
        <dt>{say('ops.lag')}</dt>
        <dd>{slowest === 0 ? say('ops.lag.none') : say('ops.lag.most', { seconds: Math.ceil(slowest) })}</dd>
        <dt>{say('ops.parked')}</dt>
        <dd>{sayNumber(processes.reduce((sum, { parked }) => sum + parked, 0))}</dd>
        <dt>{say('ops.head')}</dt>
        <dd>{health.log_head === null ? say('ops.head.away') : <code>{health.log_head}</code>}</dd>
        <dt>{say('ops.database')}</dt>
        <dd>{sayBytes(sizes.database_bytes)}</dd>
        <dt>{say('ops.verified')}</dt>
        <dd>
          {verified === null ? (
            say('ops.verified.never')
          ) : (
            <>
              {say(`ops.job.${verified.status}`)}
              {verified.faults === null ? null : ` · ${sayCount('ops.faults', verified.faults)}`}
              {verified.finished_at === null ? null : (
                <>
                  {' · '}
                  <Ago at={verified.finished_at} />
                </>
              )}
            </>
          )}
        </dd>
      </dl>
      <p class="acts">
        <Button
          busy={verifying.isRunning}
          disabled={isVerifying}
          onClick={() => void verifying.run(undefined)}
        >
          {say('ops.verify')}
        </Button>
      </p>
      <Problem failure={verifying.failure} />
    </section>
  );
}
