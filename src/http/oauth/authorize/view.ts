/** The inputs of the consent page. */
import type { Session } from '#src/shared/access/session.ts';
import type { Here } from '../../pages/language-menu.ts';
import type { AskingClient } from '../../ports/authorize.ts';
import type { Choice, FaultyField, Offer } from './choice.ts';

/** The content of the page. */
export interface ConsentView {
  readonly client: AskingClient;
  readonly session: Session;
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
  readonly here: Here;
}
