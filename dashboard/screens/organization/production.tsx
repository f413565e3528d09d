/** Production access for the project: requests to the operator, and the answers. */
import { annal } from '../../api.ts';
import { useProject } from '../../here.ts';
import { useAct, useLoaded } from '../../load.ts';
import { Badge, Button, Field, Problem, Shown, Table } from '../../parts/parts.tsx';
import { includesRole } from '../../session.ts';
import { say, sayDay } from '../../texts/texts.ts';

/** Asks the operator for production access, and shows the answers. */
export function Production() {
  const here = useProject();
  const of = { project_id: here.project };
  const state = useLoaded(
    async (signal) => {
      const [{ production }, requests] = await Promise.all([
        annal.get('/admin/projects/{project_id}', of, { signal }),
        annal.list('/admin/projects/{project_id}/production-requests', { ...of, limit: 100 }).all(),
      ]);
      return { production, requests };
    },
    [here.project],
  );
  const asking = useAct(async (use: string) => {
    await annal.post('/admin/projects/{project_id}/production-requests', { ...of, body: { use } });
    await state.reload();
  });
  return (
    <section class="panel">
      <h2>{say('production.of', { project: here.details.name })}</h2>
      <Shown of={state}>
        {({ production, requests }) => (
          <>
            <p>
              {production ? (
                <Badge tone="good">{say('production.allowed')}</Badge>
              ) : (
                say('production.notAllowed')
              )}
            </p>
            {requests.length === 0 ? null : (
              <Table
                label={say('production.title')}
                rows={requests}
                keyOf={({ id }) => id}
                columns={[
                  { title: say('production.use'), cell: ({ use }) => use },
                  {
                    title: say('webhooks.state'),
                    cell: ({ status, reason }) =>
                      `${say(`production.${status}`)}${reason === null ? '' : `: ${reason}`}`,
                  },
                  {
                    title: say('production.asked'),
                    isWide: true,
                    cell: ({ created_at }) => sayDay(created_at),
                  },
                  {
                    title: say('production.answered'),
                    isWide: true,
                    cell: ({ answered_at }) => (answered_at === null ? '–' : sayDay(answered_at)),
                  },
                ]}
              />
            )}
            {production ||
            !includesRole(here.role, 'admin') ||
            requests.some(({ status }) => status === 'pending') ? null : (
              <form
                class="says"
                onSubmit={(event) => {
                  event.preventDefault();
                  void asking.run(String(new FormData(event.currentTarget).get('use')));
                }}
              >
                <Field
                  name="use"
                  label={say('production.use')}
                  hint={say('production.use.hint')}
                  failure={asking.failure}
                >
                  {(attributes) => <textarea {...attributes} required rows={3} />}
                </Field>
                <Problem failure={asking.failure} />
                <p>
                  <Button type="submit" busy={asking.isRunning}>
                    {say('production.ask')}
                  </Button>
                </p>
              </form>
            )}
          </>
        )}
      </Shown>
    </section>
  );
}
