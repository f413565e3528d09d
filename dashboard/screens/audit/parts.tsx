/** Components that the auditors' screens share. */
import type { ComponentChildren, ComponentType } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { type Api, annal, withQuery } from '../../api.ts';
import { type Here, pathOf, useProject } from '../../here.ts';
import { type Act, useAct } from '../../load.ts';
import { Button, Code, Head, Problem } from '../../parts/parts.tsx';
import { PLACE } from '../../place.ts';
import { reasonHeaders } from '../../reason.ts';
import { includesRole } from '../../session.ts';
import { say, sayMoment, type TextKey } from '../../texts/texts.ts';

const SCREENS: readonly (readonly [path: string, name: TextKey])[] = [
  ['/audit', 'audit.events'],
  ['/audit/access-log', 'audit.access'],
  ['/audit/exports', 'audit.exports'],
  ['/audit/verifications', 'audit.verifications'],
];

/** Returns true if the person may audit the project. */
export function mayAudit({ role }: Here): boolean {
  return includesRole(role, 'auditor');
}

/** Returns the headers for a request about the environment that is shown. */
export function headersFor({ project, environment }: Here): Readonly<Record<string, string>> {
  return environment === 'production' ? reasonHeaders(project) : {};
}

/** The header of an auditors' screen, with links to the others. */
export function AuditHead({ title, about }: { readonly title: TextKey; readonly about: TextKey }) {
  const here = useProject();
  const { path } = useLocation();
  return (
    <>
      <Head title={say(title)} about={say(about)} />
      <nav class="parts-menu screen" aria-label={say('audit.title')}>
        {SCREENS.map(([screen, name]) => {
          const href = pathOf(here, screen);
          return (
            <a key={screen} href={href} aria-current={path === href ? 'page' : undefined}>
              {say(name)}
            </a>
          );
        })}
      </nav>
    </>
  );
}

/** A search's conditions in the URL, and a form that changes them. */
export function Filters({
  screen,
  children,
}: {
  readonly screen: string;
  readonly children: ComponentChildren;
}) {
  const here = useProject();
  const { query, route } = useLocation();
  return (
    <form
      class="filters"
      aria-label={say('search')}
      key={JSON.stringify(query)}
      onSubmit={(event) => {
        event.preventDefault();
        const given = [...new FormData(event.currentTarget)].map(([name, value]) => [
          name,
          String(value).trim(),
        ]);
        route(withQuery(pathOf(here, screen), Object.fromEntries(given)));
      }}
    >
      {children}
      <Button type="submit" tone="primary">
        {say('search')}
      </Button>
    </form>
  );
}

/** A form field. */
export function Filter({
  name,
  label,
  type = 'text',
  placeholder,
}: {
  readonly name: string;
  readonly label: TextKey;
  readonly type?: 'text' | 'date';
  readonly placeholder?: string;
}) {
  const { query } = useLocation();
  const id = useId();
  const shared = { id, name, defaultValue: query[name] ?? '', autocomplete: 'off' };
  return (
    <label for={id}>
      {say(label)}{' '}
      {type === 'date' ? (
        <input {...shared} type="date" />
      ) : (
        <input {...shared} {...(placeholder === undefined ? {} : { placeholder })} />
      )}
    </label>
  );
}

/** Links to the screen that finds a patient by name, for forms that ask for a patient's id. */
export function FindPatient() {
  const here = useProject();
  return <a href={pathOf(here, '/patients')}>{say('audit.findPatient')}</a>;
}

/** A drop-down in the form; the first option means no choice. A value from the URL that the form doesn't know is kept. */
export function Choice({
  name,
  label,
  options,
  onChoose,
}: {
  readonly name: string;
  readonly label: TextKey;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onChoose?: (value: string) => void;
}) {
  const { query } = useLocation();
  const chosen = query[name] ?? '';
  const isKnown = onChoose !== undefined || options.some(([value]) => value === chosen);
  const all = isKnown ? options : [...options, [chosen, chosen] as const];
  return (
    <label>
      {say(label)}{' '}
      <select
        name={name}
        defaultValue={chosen}
        onChange={({ currentTarget }) => onChoose?.(currentTarget.value)}
      >
        {all.map(([value, text]) => (
          <option key={value} value={value} selected={value === chosen}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A page of a search. */
export interface Found<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
  readonly searched_to: string | null;
}

/** The rows found so far, and a button that loads more rows. */
export function Pages<Row, Page extends Found<Row>>({
  first,
  next,
  children,
}: {
  readonly first: Page;
  readonly next: (cursor: string) => Promise<Page>;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}) {
  const [further, setFurther] = useState<readonly Page[]>([]);
  const more = useAct(next);
  const last = further.at(-1) ?? first;
  const rows = [first, ...further].flatMap(({ data }) => data);
  return (
    <>
      {children(rows)}
      {last.searched_to === null ? null : (
        <p class="note">{say('audit.searchedTo', { moment: sayMoment(last.searched_to) })}</p>
      )}
      <Problem failure={more.failure} />
      {last.next_cursor === null ? null : (
        <p>
          <Button
            busy={more.isRunning}
            onClick={async () => {
              const page = last.next_cursor === null ? undefined : await more.run(last.next_cursor);
              if (page !== undefined) setFurther([...further, page]);
            }}
          >
            {say('more')}
          </Button>
        </p>
      )}
    </>
  );
}

/** The checkpoint that covers something. Its id and root are the same as in the list that the link opens. */
export function CheckpointFacts({ checkpoint }: { readonly checkpoint: NonNullable<Covering> }) {
  const { id, root } = checkpoint;
  return (
    <>
      <div class="quiet">
        <a href={`${pathOf(useProject(), '/audit/verifications')}#checkpoints`}>
          <code>{id}</code>
        </a>
      </div>
      <div class="quiet">
        {say('audit.root')} <code>{root}</code>
      </div>
    </>
  );
}

type Covering = Api.WholeLogEvent['chain']['checkpoint'];

/** The kinds of exports. */
export type Exported =
  | { readonly kind: 'record'; readonly patient: string; readonly as_of?: string }
  | { readonly kind: 'history'; readonly resource: string; readonly as_of?: string }
  | {
      readonly kind: 'search';
      readonly query: string;
      readonly environment: 'sandbox' | 'production';
      readonly as_of?: string;
    };

/** A file that has been saved. */
export interface Saved {
  readonly name: string;
  readonly key: string;
}

/** Returns the action that creates a signed file and saves it. */
export function useExport(): Act<Exported, Saved> {
  const here = useProject();
  return useAct(async (asked) => {
    const of = { project_id: here.project };
    const file = await annal.post(
      '/admin/projects/{project_id}/exports',
      { ...of, body: asked },
      { headers: headersFor(here) },
    );
    const { public_key } = await annal.get('/admin/projects/{project_id}/exports/key', of);
    const name = nameFile(asked);
    save(file, name);
    return { name, key: public_key };
  });
}

/** Returns the file's name, made from its subject and the time as of which it shows the data. */
function nameFile(asked: Exported): string {
  const then = asked.as_of === undefined ? '' : `-as-of-${asked.as_of.replaceAll(':', '')}`;
  return `${asked.kind}-${nameSubject(asked)}${then}.ndjson`;
}

function nameSubject(asked: Exported): string {
  if (asked.kind === 'record') return asked.patient;
  if (asked.kind === 'history') return asked.resource.replace('/', '-');
  return /([A-Za-z]+)(?:\?|$)/.exec(asked.query)?.[1] ?? 'answer';
}

/** Saves a file, like a download link would. */
export function save(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Remembers the file that an action saved. */
export function useSaved(exporting: Act<Exported, Saved>) {
  const [value, setValue] = useState<Saved>();
  return {
    value,
    async run(asked: Exported): Promise<void> {
      setValue(undefined);
      setValue(await exporting.run(asked));
    },
  };
}

/** Explains how to check a saved file without using the service. */
export function HowToCheck({ saved }: { readonly saved: Saved }) {
  return (
    <div class="stack" role="status">
      <p>
        <strong>{say('audit.saved', { name: saved.name })}</strong>
      </p>
      <p>
        {say('audit.check.says')}{' '}
        <a href={`${PLACE.base}/docs/guides/verify-export.mjs`} download>
          {say('audit.check.download')}
        </a>
      </p>
      <Code text={`node verify-export.mjs ${saved.name} --key ${saved.key}`} label={say('audit.check')} />
      <p class="quiet">
        {say('audit.check.key')}{' '}
        <a href={`${PLACE.base}/docs/guides/audit#the-key`}>{say('audit.check.guide')}</a>
      </p>
    </div>
  );
}

/** Returns a screen that only auditors, admins and owners can open. */
export function forAuditors(Screen: ComponentType, title: TextKey): ComponentType {
  return () => {
    const here = useProject();
    if (mayAudit(here)) return <Screen />;
    return (
      <>
        <Head title={say(title)} />
        <p class="note">{say('audit.notYours')}</p>
      </>
    );
  };
}
