/** What the parts of an application's screen share. */
import { useState } from 'preact/hooks';
import { type Api, annal } from '../../api.ts';
import { useProject } from '../../here.ts';
import { type Act, useAct, useLoaded } from '../../load.ts';
import { Button } from '../../parts/parts.tsx';
import { say, sayCount } from '../../texts/texts.ts';

export type Application = Api.Application;

/** A part of the screen. */
export interface Part {
  readonly of: Application;
  readonly mayChange: boolean;
  /** Loads the application again. */
  readonly onChanged: () => Promise<void>;
}

/** New values of settings; those that are absent stay. */
export interface Change {
  readonly redirect_uris?: string[];
  readonly post_logout_redirect_uris?: string[];
  readonly scopes?: string[];
  readonly privacy_url?: string | null;
  readonly jwks?: { readonly keys: object[] };
  readonly jwks_uri?: string;
}

/** Changes an application, and loads it again. */
export async function changeApplication({ of, onChanged }: Part, change: Change): Promise<true> {
  // The service checks keys: what people paste has no type here.
  const body = change as Parameters<typeof annal.patch<'/admin/applications/{application_id}'>>[1]['body'];
  await annal.patch('/admin/applications/{application_id}', { application_id: of.id, body });
  await onChanged();
  return true;
}

/** A form's save: it asks first if something ends. */
export interface Saving<Input> {
  readonly act: Act<Input, true>;
  /** What waits for a yes. */
  readonly asked: Input | undefined;
  readonly isSaved: boolean;
  /** Saves at once, or asks first. */
  start(input: Input, asksFirst: boolean): void;
  confirm(): void;
  cancel(): void;
}

/** Returns the state of a form's save. */
export function useSaving<Input>(save: (input: Input) => Promise<true>): Saving<Input> {
  const [asked, ask] = useState<Input>();
  const [isSaved, setSaved] = useState(false);
  const act = useAct(save);
  const run = async (input: Input): Promise<void> => {
    setSaved(false);
    const done = await act.run(input);
    ask(undefined);
    setSaved(done === true);
  };
  return {
    act,
    asked,
    isSaved,
    start(input, asksFirst) {
      setSaved(false);
      if (asksFirst) ask(() => input);
      else void run(input);
    },
    confirm() {
      if (asked !== undefined) void run(asked);
    },
    cancel: () => ask(undefined),
  };
}

/** The button of a form, and whether it is saved. */
export function Save({
  of,
}: {
  readonly of: Pick<Saving<unknown>, 'isSaved'> & { readonly act: { readonly isRunning: boolean } };
}) {
  return (
    <p class="acts">
      <Button type="submit" busy={of.act.isRunning}>
        {say('save')}
      </Button>
      <span role="status" class="quiet">
        {of.isSaved ? say('saved') : ''}
      </span>
    </p>
  );
}

/** Says how often an application was used in the last hour, before something of it ends. */
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

/** Returns the texts between blanks and line breaks. */
export function words(text: FormDataEntryValue | null): string[] {
  return String(text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** Returns those of the first list that the second lacks. */
export function missing(before: readonly string[], after: readonly string[]): string[] {
  return before.filter((each) => !after.includes(each));
}

/** Texts as code, each in its own line. */
export function Lines({ of }: { readonly of: readonly string[] }) {
  return (
    <>
      {of.map((line) => (
        <div key={line}>
          <code>{line}</code>
        </div>
      ))}
    </>
  );
}
