/** Components that the take-back screens share. */
import type { ComponentType } from 'preact';
import type { Api } from '../../api.ts';
import type { Credentials } from '../../credentials.ts';
import { type Here, useProject } from '../../here.ts';
import { Badge, Head } from '../../parts/parts.tsx';
import { includesRole } from '../../session.ts';
import { say, sayMomentInZone } from '../../texts/texts.ts';

type Takeback = Api.Takeback;

/** The path of the take-back screens in a project. */
export const TAKEBACKS = '/takebacks';

/** The routes behind the screens. */
export const ROUTE = '/admin/projects/{project_id}/takebacks';
export const ROUTE_OF_ONE = `${ROUTE}/{takeback_id}` as const;

/** How often a take-back in progress is polled, in ms. */
export const EVERY_MS = 1_500;

const TONES = {
  planning: 'warn',
  planned: 'plain',
  running: 'warn',
  done: 'good',
  undoing: 'warn',
  undone: 'plain',
  failed: 'bad',
} as const;

/** Returns true if the service is working on a take-back. */
export function isUnderWay({ status }: Pick<Takeback, 'status'>): boolean {
  return status === 'planning' || status === 'running' || status === 'undoing';
}

/** Returns true if the person may start take-backs. */
export function mayTakeBack({ role }: Here): boolean {
  return includesRole(role, 'admin');
}

/** Shows how far a take-back has progressed. */
export function Status({ of: { status } }: { readonly of: Pick<Takeback, 'status'> }) {
  return <Badge tone={TONES[status]}>{say(`takeback.status.${status}`)}</Badge>;
}

/** Shows which environment's data a take-back affects. */
export function Place({ of: { environment } }: { readonly of: Pick<Takeback, 'environment'> }) {
  return <Badge tone={environment}>{say(`environment.${environment}`)}</Badge>;
}

/** Returns the name and value of each selector in a take-back, in words. */
export function listSelectors(
  { select }: Pick<Takeback, 'select'>,
  { nameOf }: Pick<Credentials, 'nameOf'>,
): (readonly [name: string, value: string])[] {
  const {
    source_system: source,
    key_id: key,
    application_id: application,
    author_type: author,
    model,
  } = select;
  return [
    ...(source === undefined ? [] : [[say('audit.source'), source] as const]),
    ...(key === undefined ? [] : [[say('audit.key'), nameOf(key)] as const]),
    ...(application === undefined ? [] : [[say('audit.application'), nameOf(application)] as const]),
    ...(author === undefined ? [] : [[say('audit.authorType'), say(`audit.author.${author}`)] as const]),
    ...(model === undefined ? [] : [[say('takeback.model'), model] as const]),
  ];
}

/** Returns the selected period in words. */
export function sayTime({ since, until }: Pick<Takeback, 'since' | 'until'>): string {
  const end = sayMomentInZone(until);
  return since === null
    ? say('takeback.time.until', { until: end })
    : say('takeback.time', { since: sayMomentInZone(since), until: end });
}

/** Returns a screen that only admins and owners can open. */
export function forAdmins(Screen: ComponentType): ComponentType {
  return () => {
    const here = useProject();
    if (mayTakeBack(here)) return <Screen />;
    return (
      <>
        <Head title={say('takebacks.title')} />
        <p class="note">{say('takebacks.notYours')}</p>
      </>
    );
  };
}
