/** Rebuilds: the ones in progress, and the ones that have ended. */
import { useState } from 'preact/hooks';
import { type Api, annal } from '../../api.ts';
import { useAct } from '../../load.ts';
import { Ago, Badge, Button, Confirm, Table } from '../../parts/parts.tsx';
import { language, say, sayCount, sayNumber } from '../../texts/texts.ts';

type Rebuild = Api.Rebuild;

const TONES = { waiting: 'warn', running: 'warn', done: 'good', failed: 'bad', cancelled: 'plain' } as const;

/** Shows the rebuilds in progress, or the ended ones. */
export function Rebuilds({
  which,
  all,
  onChange,
}: {
  readonly which: 'unfinished' | 'ended';
  readonly all: readonly Rebuild[];
  readonly onChange: () => Promise<void>;
}) {
  const [asked, ask] = useState<Rebuild>();
  const cancelling = useAct(async ({ id }: Rebuild) => {
    await annal.post('/admin/operations/rebuilds/{job_id}/cancel', { job_id: id });
    await onChange();
    return true;
  });
  const shown = all.filter(({ finished_at }) => (finished_at === null) === (which === 'unfinished'));
  if (shown.length === 0) return null;
  if (which === 'ended')
    return (
      <section class="stack">
        <h2>{say('ops.rebuilds.ended')}</h2>
        <Table
          isStacked
          label={say('ops.rebuilds.ended')}
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            { title: say('ops.models'), cell: ({ read_models }) => read_models.join(', ') },
            { title: say('webhooks.state'), cell: (job) => <Outcome job={job} /> },
            { title: say('ops.rebuild.ended'), cell: ({ finished_at }) => <Ago at={finished_at} /> },
            {
              title: say('ops.rebuild.took'),
              isNumber: true,
              isWide: true,
              cell: ({ started_at, finished_at }) => sayDuration(started_at, finished_at),
            },
            {
              title: say('ops.rebuild.by'),
              isWide: true,
              cell: ({ started_by: by }) => by.email ?? by.subject,
            },
          ]}
        />
      </section>
    );
  return (
    <ul class="stack" aria-label={say('ops.rebuilds')}>
      {shown.map((job) => (
        <li key={job.id} class="panel">
          <div class="head">
            <h2>
              {say('ops.rebuild.of', { names: job.read_models.join(', ') })}{' '}
              <Badge tone={TONES[job.status]}>
                {say(job.cancelling ? 'ops.job.cancelling' : `ops.job.${job.status}`)}
              </Badge>
            </h2>
            <Button tone="danger" disabled={job.cancelling} onClick={() => ask(job)}>
              {say('ops.rebuild.cancel')}
            </Button>
          </div>
          <Progress job={job} />
        </li>
      ))}
      {asked === undefined ? null : (
        <Confirm
          title={say('ops.rebuild.cancel')}
          says={<p>{say('ops.rebuild.cancel.says', { names: asked.read_models.join(', ') })}</p>}
          act={say('ops.rebuild.cancel')}
          keep={say('ops.rebuild.keep')}
          busy={cancelling.isRunning}
          failure={cancelling.failure}
          onClose={() => {
            cancelling.reset();
            ask(undefined);
          }}
          onConfirm={async () => {
            if ((await cancelling.run(asked)) === true) ask(undefined);
          }}
        />
      )}
    </ul>
  );
}

function Progress({
  job: { progress, status, error, started_at, started_by, load },
}: {
  readonly job: Rebuild;
}) {
  const share = progress === null || progress.total === 0 ? undefined : progress.done / progress.total;
  const by = started_by.email ?? started_by.subject;
  return (
    <>
      <progress
        aria-label={say('ops.rebuild.progress')}
        max={1}
        {...(share === undefined ? {} : { value: Math.min(1, share) })}
      />
      <p class="quiet" aria-live="polite">
        {progress === null
          ? say(status === 'waiting' ? 'ops.job.waiting.says' : 'ops.job.begins')
          : say('ops.rebuild.done', { done: progress.done, total: progress.total })}
        {progress?.note == null ? null : ` · ${sayNote(progress.note)}`}
        {' · '}
        {say(`ops.load.${load}`)} · {say('ops.rebuild.startedBy', { person: by })}{' '}
        {started_at === null ? null : <Ago at={started_at} />}
      </p>
      {error === null ? null : <p class="note">{error}</p>}
    </>
  );
}

/** Returns a rebuild's current step in words: `search: comparing`. */
function sayNote(note: string): string {
  const [, name, phase] = /^(\S+): (indexing|comparing|swapping|done)$/.exec(note) ?? [];
  return name === undefined ? note : say(`ops.phase.${phase as 'done'}`, { name });
}

function Outcome({ job: { status, error, result } }: { readonly job: Rebuild }) {
  const tables = (result ?? []).flatMap((each) => each.tables);
  const differences = tables.filter((table) => table.differences > 0);
  const rows = tables.reduce((sum, { serving }) => sum + serving, 0);
  return (
    <>
      <Badge tone={TONES[status]}>{say(`ops.job.${status}`)}</Badge>
      {error === null ? null : <div>{error}</div>}
      {status !== 'done' || tables.length === 0 || differences.length > 0 ? null : (
        <div class="quiet">{sayCount('ops.rebuild.same', rows)}</div>
      )}
      {differences.map(({ table, differences: count, more_differences: more }) => (
        <div key={table} class="quiet">
          <code>{table}</code>: {sayCount('ops.differences', count)}
          {more ? '+' : ''}
        </div>
      ))}
    </>
  );
}

/** Returns the time between two instants, such as "3 min". */
function sayDuration(from: string | null, to: string | null): string {
  if (from === null || to === null) return '–';
  const seconds = Math.max(0, (Date.parse(to) - Date.parse(from)) / 1_000);
  const [value, unit] =
    seconds < 90
      ? [seconds, 'second']
      : seconds < 5_400
        ? [seconds / 60, 'minute']
        : [seconds / 3_600, 'hour'];
  if (unit === 'second' && value < 1) return `< ${sayNumber(1)} s`;
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, maximumFractionDigits: 0 }).format(
    value,
  );
}
