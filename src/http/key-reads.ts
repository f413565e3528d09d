/**
 * The access log of reads in a project's own name: with a member's token always, with API keys and `client_credentials`
 * tokens if `ACCESS_LOG` is `all`. There is one entry for each record that an answer shows, written before anything is sent
 * (docs/access-log.md).
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

/** The services that the log of such reads needs. */
export interface KeyReadService {
  readonly accessLog: Pick<AccessLog, 'written'>;
  readonly recordsOf: RecordsOf;
  /** The kinds of credentials whose reads are logged; never `grant`, whose reads the grant's pass logs. */
  readonly logged: ReadonlySet<CallerCredential['kind']>;
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
}

/** The read that is logged. */
export interface ReadOf {
  readonly action: string;
  readonly type: string | null;
  readonly id: string | null;
}

/** A read that was answered. */
interface Done extends ReadOf {
  /** Ids that say which records were read: those of the path, and of the resources shown. */
  readonly ids: readonly string[];
  /** The id of each resource that is shown, or of its record; null if they aren't known one by one. */
  readonly shown: readonly string[] | null;
}

/** The reads of one request. */
export class KeyReads {
  readonly #done: Done[] = [];

  readonly #actor: AccessActor;

  /**
   * @param caller whose credential is of a kind that is logged
   * @param by the request that it is a part of: its name in the log, and who gathers its entries
   */
  constructor(
    private readonly service: KeyReadService,
    private readonly caller: Caller,
    private readonly requestId: string,
    private readonly by?: Pick<InnerCaller, 'action' | 'gather'>,
  ) {
    this.#actor = makeActor(caller.calls.credential);
  }

  /** Runs a read of the FHIR interface, or a part of a Bundle, and remembers the resources that it shows. */
  async runFhir(of: ReadOf, run: () => Promise<Answer>): Promise<Answer> {
    const answer = await run();
    if (answer.status < 400) {
      const { body, stream, status } = answer;
      const one = of.id === null ? [] : [of.id];
      const listed = body === undefined ? [] : urlsIn(body, `"fullUrl":"${this.service.base}`);
      // An answer without entries is the resource itself.
      const isBundle = listed.length > 0 || !isInstance(of);
      const shown = stream !== undefined ? null : isBundle ? listed : status === 200 ? one : [];
      this.#done.push({ ...of, ids: [...one, ...listed], shown });
    }
    return answer;
  }

  /**
   * Runs a read of REST v1 and remembers the resources that it shows.
   * @param params of the path
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

  /** Remembers the resources that the kept answer to a Bundle shows again; its entries are no longer known one by one. */
  noteRepeated({ body = '' }: Answer): void {
    const named = urlsIn(body, `"fullUrl":"${this.service.base}`);
    const ids = [...new Set([...named, ...resourcesIn(body)])];
    this.#done.push({ action: 'bundle', type: null, id: null, ids, shown: ids });
  }

  /**
   * Returns an answer when all that was read for it is in the access log.
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

/** Returns the read of an interaction of the FHIR interface, also of one that takes no token of a grant. */
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

/** Tells whether one resource or version is read, and not a list. */
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
    // The pages themselves note the reads of a representative, and a grant's pass those under the grant.
    default:
      throw new TypeError(`reads of a ${credential.kind} aren't logged here`);
  }
}

/** Length of an id. */
const ID = 36;

/** Returns the ids of `Type/id` behind a text that the service wrote; inside a value its quotes would be escaped. */
function urlsIn(body: string | Buffer, mark: string): string[] {
  return endsBehind(body, mark).flatMap((end) => {
    const text = slice(body, end, end + ID + 64);
    const id = text.slice(text.indexOf('/') + 1).slice(0, ID);
    return isUuid(id) ? [id] : [];
  });
}

/** Returns the ids of resources in a Bundle, also of those whose entries have no URL. */
function resourcesIn(body: string | Buffer): string[] {
  return endsBehind(body, '"resource":{"resourceType":"').flatMap((end) => {
    const [, id = ''] = /^[A-Za-z]+","id":"([^"]+)"/.exec(slice(body, end, end + ID + 64)) ?? [];
    return isUuid(id) ? [id] : [];
  });
}

/** Returns the ids directly behind such a text. */
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
