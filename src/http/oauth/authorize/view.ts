/** The inputs of the consent page. */

import type { Session } from '#src/shared/access/session.ts';
import type { Html } from '#src/shared/html.ts';
import type { Here } from '../../pages/language-menu.ts';
import type { AskingClient } from '../../ports/authorize.ts';
import type { Choice, FaultyField, Offer } from './choice.ts';

/** The content of the page. */
export interface ConsentView {
  readonly client: AskingClient;
  readonly session: Pick<Session, 'person' | 'formToken'>;
  readonly purpose: string | undefined;
  /** The registered redirect URI; the page says where the response is sent. */
  readonly redirectUri: string;
  readonly offer: Offer;
  readonly choice: Choice;
  readonly faults: readonly FaultyField[];
  readonly handle: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Path of BASE_URL, without a trailing slash. */
  readonly root: string;
  /** For the language menu; a preview has none. */
  readonly here: Here | undefined;
  /** Set for a preview, which only shows how the page looks: its form isn't sent anywhere, and it has no onward links. */
  readonly preview?: {
    /** The application's logo as a `data:` URL. */
    readonly logo: string | undefined;
    /** Additional elements in the head. */
    readonly head: Html;
  };
}
