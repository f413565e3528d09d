/**
 * Writes the end of proposals that nobody can accept any more: their time is over, their grant has ended, or the resource
 * has another version. Nothing waits for it: a decision looks at all of that itself. Every instance looks; the second
 * finds that there is nothing left to write.
 */
import type { Logger } from 'pino';
import type { Proposals } from '#commands/proposal/proposals.ts';
import type { LapsedProposal, ProposalQueries } from '#queries/consents/proposals.ts';
import type { Position } from '../events/store.ts';
import { IdSource, newRequestId, newUuid } from '../shared/ids.ts';
import { type Micros, nowMicros } from '../shared/time.ts';

/** Dependencies. */
export interface ProposalEndingsDeps {
  readonly lapse: Proposals['lapse'];
  readonly lapsed: ProposalQueries['lapsedProposals'];
  /** Waits until the read model shows a position. */
  readonly shown: (position: Position) => Promise<unknown>;
  readonly log: Pick<Logger, 'warn'>;
  /** How often it looks, in ms. */
  readonly everyMs?: number;
  readonly now?: () => Micros;
}

/** How often it looks, in ms: each time it looks at all proposals that wait. */
const EVERY_MS = 10_000;
/** How long a proposal that can't be ended is left out, in ms, and how many are at most. */
const APART_MS = 10 * 60_000;
const APART = 1_000;

/** Looks for proposals that have lapsed until it is stopped. */
export class ProposalEndings {
  readonly #deps: ProposalEndingsDeps;
  /** Proposals that failed, so that they don't hold up the others, and since when. */
  readonly #apart = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: ProposalEndingsDeps) {
    this.#deps = deps;
  }

  /** Begins. */
  start(): void {
    const { everyMs = EVERY_MS, log } = this.#deps;
    const next = (): void => {
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#looking = this.look()
          .catch((error: unknown) =>
            log.warn({ err: error }, 'lapsed proposals were not looked for; it will be tried again'),
          )
          .finally(next);
      }, everyMs).unref();
    };
    next();
  }

  /** Stops after the proposals in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Ends all proposals that have lapsed by now. */
  async look(): Promise<void> {
    const { lapsed, shown, now = nowMicros } = this.#deps;
    for (const [id, since] of this.#apart) {
      if (performance.now() - since > APART_MS) this.#apart.delete(id);
    }
    while (!this.#stopped && this.#apart.size < APART) {
      const page = await lapsed(now(), [...this.#apart.keys()]);
      if (page.length === 0) return;
      const written = await Promise.all(page.map((proposal) => this.#end(proposal)));
      const positions = written.filter((position) => position !== undefined);
      // Without a new event the rows stay as they are for a moment: another instance was faster.
      if (positions.length === 0) return;
      await shown(positions.reduce((a, b) => (b > a ? b : a)));
    }
  }

  async #end(proposal: LapsedProposal): Promise<Position | undefined> {
    const { lapse, log, now = nowMicros } = this.#deps;
    const by = {
      credential: { kind: 'system' as const },
      requestId: newRequestId(),
      ids: new IdSource(newUuid(), Date.now()),
      now,
    };
    try {
      return (await lapse(by, proposal)).wrote?.position;
    } catch (error) {
      this.#apart.set(proposal.proposalId, performance.now());
      const { proposalId } = proposal;
      log.warn({ err: error, proposal: proposalId }, 'a proposal could not be ended; it will be tried again');
      return undefined;
    }
  }
}
