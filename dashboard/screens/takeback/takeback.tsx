/** A take-back: its plan, progress, outcome, and undo. */
import { type ComponentChildren, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { useRoute } from 'preact-iso';
import { type Api, annal } from '../../api.ts';
import { useCredentials } from '../../credentials.ts';
import { pathOf, useProject } from '../../here.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Button, Confirm, Dialog, Head, Problem, Shown, Table } from '../../parts/parts.tsx';
import { say, sayCount, sayMomentInZone, sayNumber } from '../../texts/texts.ts';
import { ConfirmField } from '../ops/confirm-field.tsx';
import {
  EVERY_MS,
  isUnderWay,
  listSelectors,
  Place,
  ROUTE_OF_ONE,
  Status,
  sayTime,
  TAKEBACKS,
} from './parts.tsx';
import { Told } from './told.tsx';

type Takeback = Api.Takeback;
type Plan = NonNullable<Takeback['plan']>;

/** Returns the screen. */
export function TakebackDetails() {
  const here = useProject();
  const of = { project_id: here.project, takeback_id: useRoute().params.id ?? '' };
  const [asked, ask] = useState<'start' | 'undo'>();
  const [isFollowed, follow] = useState(true);
  const takeback = useLoaded(
    async (signal) => {
      const found = await annal.get(ROUTE_OF_ONE, of, { signal });
      follow(isUnderWay(found));
      return found;
    },
    [of.project_id, of.takeback_id],
    isFollowed ? EVERY_MS : undefined,
  );
  const ordering = useAct(async (kind: 'start' | 'undo') => {
    await annal.post(`${ROUTE_OF_ONE}/${kind}`, of);
    ask(undefined);
    await takeback.reload();
    return true;
  });
  return (
    <>
      <p>
        <a href={pathOf(here, TAKEBACKS)}>{say('takebacks.title')}</a>
      </p>
      <Head title={say('takeback.title')} about={<code>{of.takeback_id}</code>} />
      <Shown of={takeback}>
        {(found) => (
          <>
            <Selection of={found} />
            <Progress of={found} />
            <Failed of={found} ordering={ordering} onUndo={() => ask('undo')} />
            <Outcome of={found} onUndo={() => ask('undo')} />
            {found.plan === null ? null : (
              <PlanView of={found} plan={found.plan} onStart={() => ask('start')} />
            )}
            {asked === 'start' && found.plan !== null ? (
              <Start
                plan={found.plan}
                of={found}
                ordering={ordering}
                onClose={() => {
                  ordering.reset();
                  ask(undefined);
                }}
              />
            ) : null}
            {asked === 'undo' ? (
              <Confirm
                title={say('takeback.undo')}
                says={<p>{say('takeback.undo.says')}</p>}
                act={say('takeback.undo')}
                busy={ordering.isRunning}
                failure={ordering.failure}
                onClose={() => {
                  ordering.reset();
                  ask(undefined);
                }}
                onConfirm={() => void ordering.run('undo')}
              />
            ) : null}
          </>
        )}
      </Shown>
    </>
  );
}

type Ordering = ReturnType<typeof useAct<'start' | 'undo', boolean>>;

/** Shows what is taken back, why, and who ordered it. */
function Selection({ of }: { readonly of: Takeback }) {
  const credentials = useCredentials();
  const who = (by: Takeback['planned_by']) =>
    by === null ? say('takeback.operator') : (by.email ?? by.subject);
  const step = (name: string, by: Takeback['planned_by'], at: string | null) =>
    at === null
      ? []
      : [[name, say('takeback.step', { moment: sayMomentInZone(at), person: who(by) })] as const];
  return (
    <section class="panel">
      <p class="acts">
        <Status of={of} /> <Place of={of} />
      </p>
      <dl>
        {[
          ...listSelectors(of, credentials),
          [say('takeback.written'), sayTime(of)] as const,
          [say('takeback.why'), of.reason ?? '–'] as const,
          ...step(say('takeback.planned'), of.planned_by, of.created_at),
          ...step(say('audit.started'), of.started_by, of.started_at),
          ...(of.finished_at === null
            ? []
            : [[say('audit.ended'), sayMomentInZone(of.finished_at)] as const]),
          ...step(say('takeback.undone'), of.undone_by, of.undone_at),
        ].map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

/** Shows the progress while the service is working on a take-back. */
function Progress({ of }: { readonly of: Takeback }) {
  if (!isUnderWay(of)) return null;
  const { progress, status } = of;
  const isCounted = status !== 'planning' && progress !== null && progress.total > 0;
  return (
    <section class="panel" aria-live="polite">
      <h2>{say(`takeback.status.${status}`)}</h2>
      <progress
        aria-label={say('audit.progress')}
        max={1}
        {...(isCounted ? { value: Math.min(1, progress.done / progress.total) } : {})}
      />
      <p class="quiet">
        {isCounted
          ? say('takeback.progress', { done: progress.done, total: progress.total })
          : status === 'planning'
            ? say('takeback.progress.planning', { count: progress?.done ?? 0 })
            : say('takeback.progress.begins')}{' '}
        {say('takeback.progress.says')}
      </p>
    </section>
  );
}

/** Shows why a take-back failed, and lets the person continue or undo it. */
function Failed({
  of,
  ordering,
  onUndo,
}: {
  readonly of: Takeback;
  readonly ordering: Ordering;
  readonly onUndo: () => void;
}) {
  const here = useProject();
  if (of.status !== 'failed') return null;
  const kind = of.failed_while === 'undoing' ? 'undo' : 'start';
  return (
    <section class="problem stack" role="alert">
      <p>
        <strong>{of.error ?? say('takeback.status.failed')}</strong>
      </p>
      {of.plan === null ? (
        <p>
          <a href={pathOf(here, `${TAKEBACKS}/new`)}>{say('takebacks.plan')}</a>
        </p>
      ) : (
        <p class="acts">
          <Button busy={ordering.isRunning} onClick={() => void ordering.run(kind)}>
            {say('takeback.continue')}
          </Button>
          {kind === 'undo' ? null : <Button onClick={onUndo}>{say('takeback.undo.ask')}</Button>}
        </p>
      )}
      <Problem failure={ordering.failure} />
    </section>
  );
}

/** The report of what a take-back wrote. */
function Outcome({
  of: { status, result, undo_result },
  onUndo,
}: {
  readonly of: Takeback;
  readonly onUndo: () => void;
}) {
  if (result === null && undo_result === null) return null;
  return (
    <section class="panel well">
      <h2>{say('takeback.report')}</h2>
      {result === null ? null : <p>{sayOutcome('takeback.done', result)}</p>}
      {undo_result === null ? null : <p>{sayOutcome('takeback.undone', undo_result)}</p>}
      <p class="quiet">{say('takeback.report.says')}</p>
      {status !== 'done' || result === null || result.versions === 0 ? null : (
        <p>
          <Button onClick={onUndo}>{say('takeback.undo.ask')}</Button>
        </p>
      )}
    </section>
  );
}

function sayOutcome(
  key: 'takeback.done' | 'takeback.undone',
  { versions, records, stays }: NonNullable<Takeback['result']>,
): string {
  const written = say(`${key}.says`, {
    versions: sayCount('takeback.versions', versions),
    records: sayCount('takeback.records', records),
  });
  return stays === 0 ? written : `${written} ${sayCount('takeback.stayed', stays)}`;
}

/** Shows what would be taken back and what would stay. */
function PlanView({
  of,
  plan,
  onStart,
}: {
  readonly of: Takeback;
  readonly plan: Plan;
  readonly onStart: () => void;
}) {
  const here = useProject();
  const { stays, staying } = plan;
  const place = { project: here.project, environment: of.environment };
  return (
    <>
      <section class="panel">
        <h2>{say('takeback.plan')}</h2>
        <Facts plan={plan} />
        {of.status !== 'planned' ? null : plan.restored + plan.removed === 0 ? (
          <p class="note">{say('takeback.nothing')}</p>
        ) : (
          <p>
            <Button tone="danger" onClick={onStart}>
              {say('takeback.start.ask')}
            </Button>
          </p>
        )}
      </section>
      {stays === 0 ? null : (
        <section class="stack">
          <h2>{say('takeback.staying')}</h2>
          <p class="quiet">
            {say('takeback.staying.says')}{' '}
            {stays > staying.length
              ? say('takeback.staying.first', { shown: staying.length, count: stays })
              : ''}
          </p>
          <Table
            isStacked
            label={say('takeback.staying')}
            rows={staying}
            keyOf={({ resource }) => resource}
            columns={[
              {
                title: say('audit.resource'),
                cell: ({ resource, version }) => (
                  <>
                    <a href={pathOf(place, `/audit?resource=${encodeURIComponent(resource)}`)}>
                      {resource.split('/')[0]}
                    </a>
                    , {say('audit.version', { version })}
                    <div class="quiet">
                      <code>{resource.split('/')[1]}</code>
                    </div>
                  </>
                ),
              },
              { title: say('takeback.because'), cell: ({ because }) => say(`takeback.because.${because}`) },
            ]}
          />
        </section>
      )}
      <Told told={plan.told} of={place} />
    </>
  );
}

/** The sums of a plan. */
function Facts({ plan: { versions, records, restored, removed, stays } }: { readonly plan: Plan }) {
  const facts: readonly (readonly [count: number, name: string, says: string])[] = [
    [versions, 'takeback.fact.selected', sayCount('takeback.in', records)],
    [restored, 'takeback.fact.restored', say('takeback.fact.restored.says')],
    [removed, 'takeback.fact.removed', say('takeback.fact.removed.says')],
    [stays, 'takeback.fact.stays', say('takeback.fact.stays.says')],
  ];
  return (
    <ul class="figures">
      {facts.map(([count, name, says]) => (
        <li key={name}>
          <strong>{sayNumber(count)}</strong> <span>{sayCount(name, count)}</span>{' '}
          <span class="quiet">{says}</span>
        </li>
      ))}
    </ul>
  );
}

/** Starts a take-back once the project's name has been typed. */
function Start({
  of,
  plan,
  ordering,
  onClose,
}: {
  readonly of: Takeback;
  readonly plan: Plan;
  readonly ordering: Ordering;
  readonly onClose: () => void;
}) {
  const { details } = useProject();
  const [typed, type] = useState('');
  const isTyped = typed.trim() === details.name.trim();
  const line = (count: number, key: string): ComponentChildren =>
    count === 0 ? null : <li>{sayCount(key, count)}</li>;
  return (
    <Dialog title={say('takeback.start')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isTyped) void ordering.run('start');
        }}
      >
        <p>
          <strong>{details.name}</strong> <Place of={of} />
        </p>
        <ul class="bullets">
          {line(plan.restored, 'takeback.start.restored')}
          {line(plan.removed, 'takeback.start.removed')}
          {line(plan.stays, 'takeback.start.stays')}
        </ul>
        <p>{say('takeback.start.says')}</p>
        <ConfirmField
          typed={typed}
          onType={type}
          hint={say('takeback.confirm', { name: details.name })}
          failure={ordering.failure}
        />
        <Problem failure={ordering.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="danger" busy={ordering.isRunning} disabled={!isTyped}>
            {say('takeback.start')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
