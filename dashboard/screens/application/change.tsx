/** Code that the parts of an application's screen share. */
import { type Api, annal } from '../../api.ts';
import { useProject } from '../../here.ts';
import { useLoaded } from '../../load.ts';
import { sayCount } from '../../texts/texts.ts';

export type Application = Api.Application;

/** A part of the screen. */
export interface Part {
  readonly of: Application;
  readonly mayChange: boolean;
  /** Reloads the application. */
  readonly onChanged: () => Promise<void>;
}

/** New values for settings; absent settings stay unchanged. */
export interface Change {
  readonly redirect_uris?: string[];
  readonly post_logout_redirect_uris?: string[];
  readonly scopes?: string[];
  readonly privacy_url?: string | null;
  readonly jwks?: { readonly keys: object[] };
  readonly jwks_uri?: string;
}

/** Changes an application, and reloads it. */
export async function changeApplication({ of, onChanged }: Part, change: Change): Promise<true> {
  // The service checks the keys: pasted text has no type here.
  const body = change as Parameters<typeof annal.patch<'/admin/applications/{application_id}'>>[1]['body'];
  await annal.patch('/admin/applications/{application_id}', { application_id: of.id, body });
  await onChanged();
  return true;
}

/** Says how often an application was used in the last hour, before one of its credentials or settings ends. */
export function Used({ of }: { readonly of: Application }) {
  const { project } = useProject();
  const used = useLoaded(
    (signal) =>
      annal.get(
        '/admin/projects/{project_id}/logs',
        {
          project_id: project,
          limit: 1,
          application: of.id,
          from: new Date(Date.now() - 3_600_000).toISOString(),
        },
        { signal },
      ),
    [of.id],
  );
  return used.value === undefined ? null : <p>{sayCount('applications.used', used.value.total)}</p>;
}
