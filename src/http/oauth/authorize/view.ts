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
  /** As registered; the page says where its answer goes. */
  readonly redirectUri: string;
  readonly offer: Offer;
  readonly choice: Choice;
  readonly faults: readonly FaultyField[];
  readonly handle: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Path of BASE_URL, without a slash at the end. */
  readonly root: string;
  /** For the language menu; a preview has none. */
  readonly here: Here | undefined;
  /** Of a page that only shows how it looks: its form isn't sent anywhere, and no link leads on. */
  readonly preview?: {
    /** A `data:` URL of the application's logo. */
    readonly logo: string | undefined;
    /** More elements of the head. */
    readonly head: Html;
  };
}
