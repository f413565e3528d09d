/** An OAuth application as decisions know it. */
import type { EventOf } from '#src/events/kinds.ts';
import type { Fold } from '../kernel/stream.ts';

/** The parts of the consent page besides an application's name; names as in RFC 7591, section 2. */
export interface Branding {
  readonly logo_uri?: string | undefined;
  readonly client_uri?: string | undefined;
  readonly tos_uri?: string | undefined;
  /** `#rrggbb` */
  readonly color?: string | undefined;
}

/** The state of an application. */
export interface ApplicationState {
  status: 'none' | 'registered' | 'deleted';
  clientId: string | undefined;
  branding: Branding;
  trusted: boolean;
}

/** The fold of `application-` streams. */
export const APPLICATION: Fold<ApplicationState, EventOf<'application'>> = {
  name: 'application',
  kinds: ['application'],
  initial: () => ({ status: 'none', clientId: undefined, branding: {}, trusted: false }),
  evolve,
  sizeOf: () => 800,
};

function evolve(state: ApplicationState, event: EventOf<'application'>): void {
  switch (event.type) {
    case 'ApplicationRegistered':
      state.status = 'registered';
      state.clientId = event.data.client_id;
      break;
    case 'ApplicationBranded':
      state.branding = event.data;
      break;
    case 'ApplicationTrusted':
      state.trusted = event.data.trusted;
      break;
    case 'ApplicationDeleted':
      state.status = 'deleted';
      break;
    default:
      event satisfies never;
  }
}
