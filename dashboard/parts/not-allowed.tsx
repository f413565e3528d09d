/** Says in advance that the project isn't allowed to create production keys and applications yet. */
import { annal } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { useLoaded } from '../load.ts';
import { say } from '../texts/texts.ts';

/** Returns true if the project may create keys and applications in this environment; undefined while loading. */
export function useMayIssue(): boolean | undefined {
  const { project, environment } = useProject();
  const { value } = useLoaded(
    async (signal) =>
      environment === 'sandbox' ||
      (await annal.get('/admin/projects/{project_id}', { project_id: project }, { signal })).production,
    [project, environment],
  );
  return value;
}

/** The notice, with a link to the request for production access. */
export function NotAllowed() {
  const here = useProject();
  return (
    <p class="note">
      {say('production.notAllowed')} <a href={pathOf(here, '/organization')}>{say('production.request')}</a>
    </p>
  );
}
