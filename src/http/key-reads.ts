/**
 * Writes the access log for reads that a project makes in its own name: always for a member's token; for API keys and
 * `client_credentials` tokens, only if `ACCESS_LOG` is `all`. There is one entry for each record that a response shows,
 * written before anything is sent (docs/access-log.md).
 */
import type { RecordsOf } from '#queries/records-of.ts';
import { isResourceType } from '#src/fhir/types.ts';
import type { AccessActor, AccessEntry } from '#src/shared/access/access-entry.ts';
import type { Caller, CallerCredential } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Answer } from './answer/answer.ts';
import { giveReceipt } from './edge/receipt.ts';
import type { GrantToken } from './grant/opening.ts';
import type { AccessLog } from './ports/access-log.ts';
import type { InnerCaller } from './ports/inner-requests.ts';

/** The services needed to log such reads. */
export interface KeyReadService {
  readonly accessLog: Pick<AccessLog, 'written'>;
  readonly recordsOf: RecordsOf;
  /**
   * The kinds of credentials whose reads are logged here. `grant` is never one of them, because a grant's pass logs the reads
   * under that grant.
   */
  readonly logged: ReadonlySet<CallerCredential['kind']>;
  /** The FHIR interface's base URL, with a trailing slash. */
  readonly base: string;
}

/** The read to log. */
export interface ReadOf {
  readonly action: string;
  readonly type: string | null;
  readonly id: string | null;
}

/** A read that has been answered. */
interface Done extends ReadOf {
  /** Ids that show which records were read: the ids in the path, and the ids of the resources shown. */
  readonly ids: readonly string[];
  /** For each resource shown, its id or its record's id; null if the individual resources aren't known. */
  readonly shown: readonly string[] | null;
}

/** The reads in one request. */
export class KeyReads {
  readonly #done: Done[] = [];

  readonly #actor: AccessActor;

  /**
   * @param caller a caller whose kind of credential is logged
   * @param by the outer request, if this request is part of one: its name in the log, and the function that collects its
   *   entries
   */
  constructor(
    private readonly service: KeyReadService,
    private readonly caller: Caller,
    private readonly requestId: string,
    private readonly by?: Pick<InnerCaller, 'action' | 'gather'>,
  ) {
    this.#actor = makeActor(caller.calls.credential);
  }

  /** Runs a read in the FHIR interface, or part of a Bundle, and records the resources that it shows. */
  async runFhir(of: ReadOf, run: () => Promise<Answer>): Promise<Answer> {
    const answer = await run();
    if (answer.status < 400) {
      const { body, stream, status } = answer;
      const one = of.id === null ? [] : [of.id];
      const listed = body === undefined ? [] : urlsIn(body, `"fullUrl":"${this.service.base}`);
      // A response without entries is the resource itself.
      const isBundle = listed.length > 0 || !isInstance(of);
      const shown = stream !== undefined ? null : isBundle ? listed : status === 200 ? one : [];
      this.#done.push({ ...of, ids: [...one, ...listed], shown });
    }
    return answer;
  }

  /**
   * Runs a read in REST v1 and records the resources that it shows.
   * @param params the parameters in the path
   */
  async runRest(
    of: ReadOf,
    params: Readonly<Record<string, unknown>>,
    run: () => Promise<Answer>,
  ): Promise<Answer> {
    const answer = await run();
    if (answer.status < 400) {
      const { body, content } = answer;
      const named = Object.values(params).filter((value) => typeof value === 'string');
      const listed = body === undefined ? [] : idsBehind(body, '"patient":"');
      const shown = content !== undefined ? named : listed.length > 0 ? listed : null;
      this.#done.push({ ...of, ids: [...named, ...listed], shown });
    }
    return answer;
  }

  /** Records the resources that the stored response to a Bundle shows again. Its individual entries are no longer known. */
  noteRepeated({ body = '' }: Answer): void {
    const named = urlsIn(body, `"fullUrl":"${this.service.base}`);
    const ids = [...new Set([...named, ...resourcesIn(body)])];
    this.#done.push({ action: 'bundle', type: null, id: null, ids, shown: ids });
  }

  /**
   * Records everything that was read for a response in the access log, and then returns the response.
   * @throws Refusal unavailable (503) if the log can't be written
   */
  async out(answer: Answer): Promise<Answer> {
    const done = this.#done.splice(0);
    const ids = [...new Set(done.flatMap((each) => each.ids))].filter(isUuid);
    const records = await this.service.recordsOf(this.caller.sees, ids);
    if (this.by !== undefined) {
      const entries = done.flatMap((each) => this.#entries(each, records));
      this.by.gather({ entries, answer, foreign: undefined });
      return answer;
    }
    const receipt = answer.receipt && giveReceipt(this.caller, answer.receipt, answer);
    const entries = done.flatMap((each) => this.#entries(each, records));
    await this.service.accessLog.written(
      receipt === undefined ? entries : entries.map((entry) => ({ ...entry, receipt })),
    );
    return answer;
  }

  #entries({ action, type, id, ids, shown }: Done, records: ReadonlyMap<string, string>): AccessEntry[] {
    const findRecord = (each: string): readonly string[] => {
      const record = records.get(each);
      return record === undefined ? [] : [record];
    };
    const counts = new Map<string, number>();
    for (const record of (shown ?? []).flatMap(findRecord)) counts.set(record, (counts.get(record) ?? 0) + 1);
    return [...new Set(ids.flatMap(findRecord))].map((record) => ({
      record,
      action: this.by?.action ?? action,
      actor: this.#actor,
      resourceType: type,
      resourceId: id !== null && records.get(id) === record ? id : null,
      purpose: this.caller.calls.reason ?? null,
      status: 'ok',
      count: shown === null ? null : (counts.get(record) ?? 0),
      requestId: this.requestId,
    }));
  }
}

/** Describes what a FHIR interaction reads. This includes interactions that refuse grants' tokens. */
export function describeRead(token: GrantToken, segments: readonly string[]): ReadOf {
  if (token !== 'refused') return { action: token.action, type: token.type, id: token.id };
  const [type = '', id] = segments;
  const last = segments.at(-1) ?? '';
  const isOperation = last.startsWith('$');
  return {
    action: isOperation ? last : 'search-type',
    type: isResourceType(type) ? type : null,
    id: isOperation && segments.length === 3 ? (id ?? null) : null,
  };
}

/** Returns whether a read is for a single resource or version, not for a list. */
function isInstance({ action }: ReadOf): boolean {
  return action === 'read' || action === 'vread';
}

function makeActor(credential: CallerCredential): AccessActor {
  switch (credential.kind) {
    case 'api_key':
      return { kind: 'key', id: credential.keyId };
    case 'client':
      return { kind: 'application', id: credential.applicationId, grantId: null };
    case 'member':
      return { kind: 'person', issuer: credential.issuer, subject: credential.subject, role: 'member' };
    // The pages log a representative's reads themselves, and a grant's pass logs the reads under that grant.
    default:
      throw new TypeError(`reads of a ${credential.kind} aren't logged here`);
  }
}

/** Length of an id. */
const ID = 36;

/**
 * Returns the ids in each `Type/id` that follows a text which the service wrote. The text can't occur inside a value, because
 * its quotes would be escaped there.
 */
function urlsIn(body: string | Buffer, mark: string): string[] {
  return endsBehind(body, mark).flatMap((end) => {
    const text = slice(body, end, end + ID + 64);
    const id = text.slice(text.indexOf('/') + 1).slice(0, ID);
    return isUuid(id) ? [id] : [];
  });
}

/** Returns the ids of resources in a Bundle, including those in entries without a URL. */
function resourcesIn(body: string | Buffer): string[] {
  return endsBehind(body, '"resource":{"resourceType":"').flatMap((end) => {
    const [, id = ''] = /^[A-Za-z]+","id":"([^"]+)"/.exec(slice(body, end, end + ID + 64)) ?? [];
    return isUuid(id) ? [id] : [];
  });
}

/** Returns the ids that directly follow a text which the service wrote. */
function idsBehind(body: string | Buffer, mark: string): string[] {
  return endsBehind(body, mark).flatMap((end) => {
    const id = slice(body, end, end + ID);
    return isUuid(id) ? [id] : [];
  });
}

function endsBehind(body: string | Buffer, mark: string): number[] {
  const ends: number[] = [];
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length))
    ends.push(at + mark.length);
  return ends;
}

function slice(body: string | Buffer, from: number, to: number): string {
  return typeof body === 'string' ? body.slice(from, to) : body.toString('latin1', from, to);
}
