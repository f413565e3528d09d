/**
 * Runs requests under a grant: checks letters, runs the request, writes its reads to the access log before anything is sent,
 * and puts the ids that the application knows into the response (docs/spec/decisions.md, sections 1 and 9).
 */
import type { Searched } from '#commands/command.ts';
import type { AccessEntry, AccessStatus } from '#src/shared/access/access-entry.ts';
import type { Caller, Granted } from '#src/shared/access/caller.ts';
import { requireLetters } from '#src/shared/access/outside-grant.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { refusesGrants } from '../credential-kinds.ts';
import type { Edge, Edges } from '../edge/edge.ts';
import { giveOutward } from '../edge/receipt.ts';
import { isRepeated } from '../idempotency.ts';
import type { AccessLog } from '../ports/access-log.ts';
import type { InnerCaller } from '../ports/inner-requests.ts';
import type { GrantToken, Opening } from './opening.ts';

/** The services that requests under grants need. */
export interface GrantService {
  readonly edges: Edges;
  readonly accessLog: AccessLog;
  /** Returns the refusal for an error; undefined for an internal error. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
}

/** A request under a grant, from its check to its response. */
export class GrantPass {
  readonly edge: Edge;
  readonly #actor: AccessEntry['actor'];
  readonly #entries: AccessEntry[] = [];
  readonly #conditions = new Set<string>();

  /** @param grant the grant of the caller's credential */
  private constructor(
    private readonly service: GrantService,
    readonly caller: Caller,
    private readonly granted: Granted,
    private readonly grant: { readonly applicationId: string; readonly grantId: string },
    private readonly requestId: string,
    private readonly by: Pick<InnerCaller, 'action' | 'gather'> | undefined,
  ) {
    const { record, patient } = granted;
    const { applicationId: id, grantId } = grant;
    this.#actor = { kind: 'application', id, grantId };
    this.edge = service.edges.of({ grantId, record, patient });
  }

  /**
   * Returns the pass for a request; undefined if its caller isn't under a grant.
   * @param by the outer request, if this request is part of one: its name in the access log, and the function that collects
   *   its entries
   */
  static of(
    service: GrantService,
    caller: Caller,
    requestId: string,
    by?: Pick<InnerCaller, 'action' | 'gather'>,
  ): GrantPass | undefined {
    const { credential } = caller.calls;
    const { within } = caller.sees;
    if (credential.kind !== 'grant' || within === undefined) return undefined;
    // The letters determine what the request may do. Once they have been checked, the request runs like one with a key.
    // Commands check letters again for each resource that they write.
    const checked: Caller = { ...caller, calls: { ...caller.calls, scopes: ['read', 'write'] } };
    return new GrantPass(service, checked, within, credential, requestId, by);
  }

  /**
   * Returns a pass for simulating a write. Nobody is shown what the simulation reads, so its reads are logged only if they are
   * refused.
   */
  rehearsal(): GrantPass {
    const { accessLog: log } = this.service;
    const accessLog: AccessLog = { ...log, written: async () => undefined, note: (entry) => log.note(entry) };
    return new GrantPass(
      { ...this.service, accessLog },
      this.caller,
      this.granted,
      this.grant,
      this.requestId,
      this.by,
    );
  }

  /**
   * Runs a request, or part of a request, and records its reads. The log entry for a refused read is written without waiting
   * for it.
   * @throws Refusal forbidden (403) if the request doesn't accept a grant's token, or a type is outside the grant; rethrows
   *   errors of `answer`
   */
  async run(opening: GrantToken, answer: () => Promise<Answer>): Promise<Answer> {
    if (opening === 'refused') throw refusesGrants();
    try {
      for (const { type, letters } of opening.needs) requireLetters(this.granted, type, letters);
      const answered = await answer();
      // For a repeated response, it is no longer known which resources it contains.
      const repeated = isRepeated(answered);
      if (repeated || (opening.inParts !== true && opening.writes !== true)) {
        const count = repeated && opening.writes === true ? null : countShown(opening, answered);
        this.#entries.push(this.#entry(opening, answered.status, count));
      }
      return answered;
    } catch (error) {
      // If a write fails, nothing from it is sent, but other parts of a Bundle may be.
      if (opening.writes === true || opening.inParts === true)
        for (const entry of this.#entries.splice(0)) this.service.accessLog.note(entry);
      const status = this.service.refusalOf(error)?.status ?? 500;
      if (status !== 429) this.service.accessLog.note(this.#entry(opening, status, 0));
      throw error;
    }
  }

  /**
   * Records that a write evaluated a condition, which is a read. If the same condition is evaluated repeatedly, it is recorded
   * once.
   */
  readonly searched: Searched = (type, criteria, matches) => {
    const condition = `${type}?${criteria}`;
    if (this.#conditions.has(condition)) return;
    this.#conditions.add(condition);
    this.#entries.push(this.#entry({ action: 'condition', type, id: null }, 200, Math.min(matches, 1)));
  };

  /** Records that the response to a write shows a stored resource, or parts of a resource that the write kept. */
  shows(action: string, type: string, id: string): void {
    this.#entries.push(this.#entry({ action, type, id }, 200, 1));
  }

  /**
   * Records everything that was read for a response in the access log, and then returns the response as the application
   * receives it.
   * @throws Refusal unavailable (503) if the log can't be written
   */
  async out(answer: Answer): Promise<Answer> {
    const entries = this.#entries.splice(0);
    if (this.by !== undefined) {
      const foreign = new Set<string>();
      const shown = await this.edge.answer(answer, foreign);
      this.by.gather({ entries, answer, foreign: [...foreign] });
      return shown;
    }
    if (answer.receipt === undefined) {
      await this.service.accessLog.written(entries);
      return this.edge.answer(answer);
    }
    const { shown, receipt } = await giveOutward(this.caller, answer.receipt, answer, this.edge);
    await this.service.accessLog.written(entries.map((entry) => ({ ...entry, receipt })));
    return shown;
  }

  /** Returns an error as the application receives it. */
  refusal(error: unknown): unknown {
    const known = this.service.refusalOf(error);
    if (known === undefined) return error;
    const { outward } = this.edge;
    const issues = known.issues.map(({ expression, ...issue }) => ({
      ...issue,
      diagnostics: outward(issue.diagnostics),
      ...(expression === undefined ? {} : { expression: outward(expression) }),
    }));
    const headers = Object.entries(known.headers).map(([name, value]) => [name, outward(value)]);
    const refusal = new Refusal(known.kind, issues, Object.fromEntries(headers));
    refusal.cause = known.cause ?? (known === error ? undefined : error);
    return refusal;
  }

  #entry(
    { action, type, id }: Pick<Opening, 'action' | 'type' | 'id'>,
    status: number,
    count: number | null,
  ): AccessEntry {
    return {
      record: this.granted.record,
      action: this.by?.action ?? action,
      actor: this.#actor,
      resourceType: type,
      resourceId: id,
      purpose: this.granted.purpose,
      status: accessStatus(status),
      count,
      requestId: this.requestId,
    };
  }
}

/** Returns how many resources a response shows; null if the number is unknown, as for a stream. */
function countShown({ id }: Opening, { status, shown, stream }: Answer): number | null {
  if (stream !== undefined) return null;
  if (shown !== undefined) return shown;
  if (status !== 200 && status !== 206) return 0;
  return id === null ? null : 1;
}

function accessStatus(status: number): AccessStatus {
  if (status < 400) return 'ok';
  if (status === 403) return 'denied';
  return status === 404 || status === 410 ? 'not_found' : 'error';
}
