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
  /** The registered redirect URI. The page shows where the response will be sent. */
  readonly redirectUri: string;
  readonly offer: Offer;
  readonly choice: Choice;
  readonly faults: readonly FaultyField[];
  readonly handle: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Path of BASE_URL, without a trailing slash. */
  readonly root: string;
  /** Used for the language menu; undefined for a preview, which has no such menu. */
  readonly here: Here | undefined;
  /**
   * Set for a preview, which only shows how the page looks. Its form isn't sent anywhere, and it has no links to other pages.
   */
  readonly preview?: {
    /** The application's logo as a `data:` URL. */
    readonly logo: string | undefined;
    /** Additional elements for the page's head. */
    readonly head: Html;
  };
}
