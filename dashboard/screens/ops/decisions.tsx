/** Operators' decisions about projects: production requests, and trusted applications. */
import { useState } from 'preact/hooks';
import { type AnswerOf, annal, filled } from '../../api.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Ago, Badge, Button, Dialog, Empty, Field, Head, Problem, Shown, Table } from '../../parts/parts.tsx';
import { say, sayDay } from '../../texts/texts.ts';
import { ConfirmField } from './confirm-field.tsx';
import { Trusted } from './trusted.tsx';

type Request = AnswerOf<'GET', '/admin/operations/production-requests'>['data'][number];
type Answer = 'allow' | 'refuse';

const POLL_MS = 10_000;

/** Returns the screen. */
export function Decisions() {
  const [asked, ask] = useState<{ readonly request: Request; readonly answer: Answer }>();
  const [ended, end] = useState<Request>();
  const requests = useLoaded(
    async (signal) => (await annal.get('/admin/operations/production-requests', {}, { signal })).data,
    [],
    POLL_MS,
  );
  return (
    <>
      <Head title={say('ops.projects')} about={say('ops.projects.says')} />
      <section class="stack">
        <h2>{say('ops.production')}</h2>
        <Shown of={requests}>
          {(all) => {
            const waiting = all.filter(({ status }) => status === 'pending');
            return (
              <>
                {waiting.length === 0 ? (
                  <Empty>
                    <p>{say('ops.production.none')}</p>
                  </Empty>
                ) : (
                  <ul class="stack">
                    {waiting.map((request) => (
                      <Waiting
                        key={request.id}
                        request={request}
                        onAnswer={(answer) => ask({ request, answer })}
                      />
                    ))}
                  </ul>
                )}
                <Answered all={all.filter(({ status }) => status !== 'pending')} onWithdraw={end} />
              </>
            );
          }}
        </Shown>
      </section>
      <Trusted />
      {ended === undefined ? null : (
        <WithdrawDialog
          request={ended}
          onClose={() => end(undefined)}
          onDone={() => {
            end(undefined);
            void requests.reload();
          }}
        />
      )}
      {asked === undefined ? null : (
        <AnswerDialog
          {...asked}
          onClose={() => ask(undefined)}
          onDone={() => {
            ask(undefined);
            void requests.reload();
          }}
        />
      )}
    </>
  );
}

function Waiting({
  request: { project, organization, person, use, created_at },
  onAnswer,
}: {
  readonly request: Request;
  readonly onAnswer: (answer: Answer) => void;
}) {
  return (
    <li class="panel">
      <div class="head">
        <div>
          <h3>
            {project.name} <span class="quiet">· {organization.name}</span>
          </h3>
          <p class="quiet">
            {person ?? say('ops.unknown')} · <Ago at={created_at} /> · <code>{project.id}</code>
          </p>
        </div>
        <div class="acts">
          <Button
            tone="primary"
            aria-label={say('ops.allow.of', { project: project.name })}
            onClick={() => onAnswer('allow')}
          >
            {say('ops.allow')}
          </Button>
          <Button
            tone="danger"
            aria-label={say('ops.refuse.of', { project: project.name })}
            onClick={() => onAnswer('refuse')}
          >
            {say('ops.refuse')}
          </Button>
        </div>
      </div>
      <p>{use}</p>
    </li>
  );
}

function Answered({
  all,
  onWithdraw,
}: {
  readonly all: readonly Request[];
  readonly onWithdraw: (request: Request) => void;
}) {
  if (all.length === 0) return null;
  const newest = new Map([...all].reverse().map((request) => [request.project.id, request.id]));
  return (
    <Table
      isStacked
      label={say('ops.production.answered')}
      rows={all}
      keyOf={({ id }) => id}
      columns={[
        {
          title: say('ops.project'),
          cell: ({ project, organization }) => (
            <>
              {project.name}{' '}
              <div class="quiet">
                {organization.name} · <code>{project.id}</code>
              </div>
            </>
          ),
        },
        {
          title: say('webhooks.state'),
          cell: ({ status, reason }) => (
            <>
              <Badge tone={status === 'allowed' ? 'good' : 'bad'}>
                {say(status === 'allowed' ? 'production.allowed' : 'production.refused')}
              </Badge>
              {reason === null ? null : <div class="quiet">{reason}</div>}
            </>
          ),
        },
        {
          title: say('ops.production.now'),
          cell: (request) => (
            <>
              {say(request.production ? 'ops.yes' : 'ops.no')}
              {request.production && newest.get(request.project.id) === request.id ? (
                <div>
                  <Button
                    tone="danger"
                    aria-label={say('ops.withdraw.of', { project: request.project.name })}
                    onClick={() => onWithdraw(request)}
                  >
                    {say('ops.withdraw')}
                  </Button>
                </div>
              ) : null}
              {request.production ? null : (
                <div class="quiet">
                  {say('ops.production.change')} <code>{`annal production allow ${request.project.id}`}</code>
                </div>
              )}
            </>
          ),
        },
        { title: say('production.use'), isWide: true, cell: ({ use }) => use },
        {
          title: say('production.answered'),
          isWide: true,
          cell: ({ answered_at }) => (
            <span class="whole">{answered_at === null ? '–' : sayDay(answered_at)}</span>
          ),
        },
      ]}
    />
  );
}

/** Withdraws a project's permission for production once the project's name has been typed. */
function WithdrawDialog({
  request: { project, organization },
  onClose,
  onDone,
}: {
  readonly request: Request;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [typed, type] = useState('');
  const isTyped = typed.trim() === project.name;
  const withdrawing = useAct(() =>
    annal.post('/admin/operations/production-withdrawals', { body: { project_id: project.id } }),
  );
  return (
    <Dialog title={say('ops.withdraw.of', { project: project.name })} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (isTyped && (await withdrawing.run(undefined)) !== undefined) onDone();
        }}
      >
        <p>{say('ops.withdraw.says', { organization: organization.name })}</p>
        <ConfirmField
          hint={say('ops.confirm.hint', { names: project.name })}
          failure={withdrawing.failure}
          typed={typed}
          onType={type}
        />
        <Problem failure={withdrawing.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="danger" busy={withdrawing.isRunning} disabled={!isTyped}>
            {say('ops.withdraw')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function AnswerDialog({
  request,
  answer,
  onClose,
  onDone,
}: {
  readonly request: Request;
  readonly answer: Answer;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const answering = useAct((form: FormData) =>
    annal.post('/admin/operations/production-requests/{request_id}', {
      request_id: request.id,
      body: { answer, ...filled({ reason: String(form.get('reason') ?? '').trim() }) },
    }),
  );
  const title = say(`ops.${answer}.of`, { project: request.project.name });
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if ((await answering.run(new FormData(event.currentTarget))) !== undefined) onDone();
        }}
      >
        <p>{say(`ops.${answer}.says`, { organization: request.organization.name })}</p>
        <blockquote class="note">{request.use}</blockquote>
        {answer === 'allow' ? null : (
          <Field
            name="reason"
            label={say('ops.refuse.reason')}
            hint={say('ops.refuse.reason.hint')}
            failure={answering.failure}
          >
            {(attributes) => <textarea {...attributes} required maxLength={2_000} rows={3} />}
          </Field>
        )}
        <Problem failure={answering.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone={answer === 'allow' ? 'primary' : 'danger'} busy={answering.isRunning}>
            {say(`ops.${answer}`)}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
