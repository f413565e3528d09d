/** The patients in the project's environment: finding and creating them, and the sandbox with its reset. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { ApiError, annal, filled, type Of, openRecords, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useAct, useLoaded } from '../load.ts';
import { Button, Confirm, Dialog, Empty, Field, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { say, sayCount } from '../texts/texts.ts';

const GENDERS = ['female', 'male', 'other', 'unknown'] as const;

/** Finds patients; the name field also accepts an id. */
async function findPatients(
  of: Of,
  { q, ...others }: { q: string | undefined; birth_date: string | undefined; identifier: string | undefined },
  signal: AbortSignal,
) {
  const records = openRecords(of);
  const id = /^(?:Patient\/)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(q?.trim() ?? '')?.[1];
  if (id === undefined)
    return records.get('/v1/patients', { ...filled({ q, ...others }), limit: 50 }, { signal });
  // An unknown id yields an empty list, not an error.
  const data = await records.get('/v1/patients/{patient_id}', { patient_id: id }, { signal }).then(
    (found) => [found],
    (error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    },
  );
  return { data, total: data.length, next_cursor: null };
}

/** Returns the screen. */
export function Patients() {
  const here = useProject();
  const { query, route } = useLocation();
  const [asked, ask] = useState<'create' | 'reset'>();
  const searched = { q: query.q, birth_date: query.birth_date, identifier: query.identifier };
  const patients = useLoaded(
    (signal) => findPatients(here, searched, signal),
    [here.project, here.environment, JSON.stringify(searched)],
  );
  const form = useRef<HTMLFormElement>(null);
  // The fields follow the URL: what was typed in them isn't searched for any more when the URL changes.
  useEffect(() => form.current?.reset(), [JSON.stringify(searched)]);
  return (
    <>
      <Head title={say('patients.title')} about={say('patients.says')}>
        {here.environment === 'sandbox' && here.mayUse ? (
          <Button onClick={() => ask('reset')}>{say('patients.reset')}</Button>
        ) : null}
        {here.mayUse ? (
          <Button tone="primary" onClick={() => ask('create')}>
            {say('patients.create')}
          </Button>
        ) : null}
      </Head>
      <form
        ref={form}
        class="filters"
        aria-label={say('search')}
        onSubmit={(event) => {
          event.preventDefault();
          const given = Object.fromEntries(
            [...new FormData(event.currentTarget)].map(([k, v]) => [k, String(v)]),
          );
          route(withQuery(pathOf(here, '/patients'), given), true);
        }}
      >
        <label>
          {say('patients.q')} <input name="q" type="search" defaultValue={searched.q ?? ''} />
        </label>
        <label>
          {say('patients.birthDate')}{' '}
          <input name="birth_date" type="date" defaultValue={searched.birth_date ?? ''} />
        </label>
        <label>
          {say('patients.identifier')}{' '}
          <input name="identifier" defaultValue={searched.identifier ?? ''} placeholder="system|value" />
        </label>
        <Button type="submit">{say('search')}</Button>
      </form>
      <Shown of={patients}>
        {({ data, total }) =>
          data.length === 0 ? (
            <Empty>
              <p>{say('patients.none')}</p>
            </Empty>
          ) : (
            <>
              <Table
                label={say('patients.title')}
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: say('name'),
                    cell: ({ id, given, family }) => (
                      <a href={pathOf(here, `/patients/${id}`)}>
                        {[given, family].filter((part) => part !== null).join(' ') || id}
                      </a>
                    ),
                  },
                  { title: say('patients.birthDate'), cell: ({ birth_date }) => birth_date ?? '' },
                  {
                    title: say('patients.gender'),
                    isWide: true,
                    cell: ({ gender }) => sayGender(gender),
                  },
                  { title: 'Id', isWide: true, cell: ({ id }) => <code>{id}</code> },
                ]}
              />
              {total > data.length ? (
                <p class="quiet">{sayCount('patients.more', total - data.length)}</p>
              ) : null}
            </>
          )
        }
      </Shown>
      {asked === 'create' ? (
        <Create onClose={() => ask(undefined)} onDone={(id) => route(pathOf(here, `/patients/${id}`))} />
      ) : null}
      {asked === 'reset' ? (
        <Reset
          onClose={() => ask(undefined)}
          onDone={() => {
            ask(undefined);
            void patients.reload();
          }}
        />
      ) : null}
    </>
  );
}

function sayGender(gender: string | null): string {
  const known = GENDERS.find((each) => each === gender);
  return known === undefined ? (gender ?? '') : say(`gender.${known}`);
}

function Create({
  onClose,
  onDone,
}: {
  readonly onClose: () => void;
  readonly onDone: (patient: string) => void;
}) {
  const here = useProject();
  const creating = useAct((form: FormData) => {
    const given = [...form].filter(([, value]) => value !== '');
    return openRecords(here).post('/v1/patients', { body: Object.fromEntries(given) });
  });
  return (
    <Dialog title={say('patients.create')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const made = await creating.run(new FormData(event.currentTarget));
          if (made !== undefined) onDone(made.id);
        }}
      >
        <Field name="given" label={say('patients.given')} failure={creating.failure}>
          {(attributes) => <input {...attributes} autocomplete="off" />}
        </Field>
        <Field name="family" label={say('patients.family')} failure={creating.failure}>
          {(attributes) => <input {...attributes} autocomplete="off" required />}
        </Field>
        <Field name="birth_date" label={say('patients.birthDate')} failure={creating.failure}>
          {(attributes) => <input {...attributes} type="date" />}
        </Field>
        <Field name="gender" label={say('patients.gender')} failure={creating.failure}>
          {(attributes) => (
            <select {...attributes}>
              <option value="" />
              {GENDERS.map((each) => (
                <option key={each} value={each}>
                  {say(`gender.${each}`)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Problem failure={creating.failure} />
        <footer>
          <Button onClick={onClose}>{say('cancel')}</Button>
          <Button type="submit" tone="primary" busy={creating.isRunning}>
            {say('patients.create')}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

function Reset({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const { project } = useProject();
  const sandbox = useLoaded(
    (signal) => annal.get('/admin/projects/{project_id}/sandbox', { project_id: project }, { signal }),
    [project],
  );
  const resetting = useAct(async () => {
    await annal.post('/admin/projects/{project_id}/sandbox/reset', { project_id: project });
    return true;
  });
  return (
    <Confirm
      title={say('patients.reset')}
      says={
        <>
          <p>{say('patients.reset.says')}</p>
          <p>
            {sandbox.value === undefined
              ? say('loading')
              : sayCount('patients.reset.own', sandbox.value.own_patients)}
          </p>
        </>
      }
      act={say('patients.reset')}
      busy={resetting.isRunning}
      failure={resetting.failure}
      onClose={onClose}
      onConfirm={async () => {
        if ((await resetting.run(undefined)) === true) onDone();
      }}
    />
  );
}
