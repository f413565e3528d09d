/** Checks the effects of writes under a grant: their events, what both sides read, and the form of refusals. */
import { isDeepStrictEqual } from 'node:util';
import type { Pool } from 'pg';
import { contentOf } from '../grant-writing.ts';
import type { Allowed } from '../granted.ts';
import { Answer } from '../service.ts';
import type { Ground, Sent } from './changes.ts';
import { formsIn } from './compare.ts';
import { misreadBy } from './fuzz.ts';
import type { Verdict } from './ledger.ts';

/** A world, and what an application may do in it. */
export interface GrantedWorld extends Ground {
  readonly allowed: Allowed;
  /** A key of the owner. */
  readonly key: string;
}

/** A request. */
export interface Request {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A write, and its required outcome. */
export interface Judged {
  readonly sent: Pick<Sent, 'change' | 'resource'>;
  readonly verdict: Verdict;
}

/** An event that changed a resource. */
interface Written {
  readonly type: string;
  readonly stream: string;
  readonly resource: string;
  readonly data: string;
  readonly credential: Readonly<Record<string, unknown>>;
}

type Done = Extract<Verdict, { is: 'written' }>;

const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const EVENT_OF = { create: 'Created', update: 'Updated', patch: 'Updated', delete: 'Deleted' } as const;

/** Checks the effects of writes on one service. */
export class WriteCheck {
  constructor(
    private readonly service: { readonly url: string; readonly pool: Pool },
    /** Told of each write. */
    private readonly wrote: (granted: GrantedWorld, id: string, done: Done, event: string) => void,
  ) {}

  /** Sends a request with a token or a key. */
  async send(token: string, { method, url, headers = {}, body }: Request): Promise<Answer> {
    const response = await fetch(this.service.url + url, {
      method,
      headers: { Accept: 'application/json', ...headers, Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
    });
    return new Answer(response.status, response.headers, await response.text());
  }

  /** Returns the position of the newest event. */
  async position(): Promise<number> {
    const { rows } = await this.service.pool.query<{ last: string }>(
      'select coalesce(max(position), 0) as last from log.events',
    );
    return Number(rows[0]?.last);
  }

  async #writtenAfter(position: number): Promise<Written[]> {
    const { rows } = await this.service.pool.query<Record<'type' | 'stream' | 'data' | 'metadata', string>>(
      `select type, stream, data, metadata from log.events where position > $1 and type like 'Resource%' order by position`,
      [position],
    );
    return rows.map(({ type, stream, data, metadata }) => ({
      ...{ type, stream, data },
      resource: /"(?:resourceId|resource_id|id)":"([^"]+)"/.exec(data)?.[1] ?? '',
      credential: (JSON.parse(metadata) as { credential: Record<string, unknown> }).credential,
    }));
  }

  /**
   * Checks a request's events, and what both sides read afterwards.
   * @param before the position before the request
   * @returns what is wrong
   */
  async check(
    granted: GrantedWorld,
    writes: readonly Judged[],
    before: number,
    answer: Answer,
  ): Promise<string | undefined> {
    const { ids, allowed, ledger, world } = granted;
    const events = await this.#writtenAfter(before);
    const expected = writes.filter(({ verdict }) => verdict.is === 'written');
    if (events.length !== expected.length)
      return `${events.length} events, not ${expected.length}: ${JSON.stringify(events)}`;
    const forms = granted.isReal ? [] : formsIn(ids.record, answer);
    if (forms.length > 0) return `shows the real id, ${forms.join()}`;
    for (const { sent, verdict } of expected) {
      if (verdict.is !== 'written') continue;
      const { change } = sent;
      const kind = `Resource${verdict.id === undefined ? 'Created' : EVENT_OF[change.interaction]}`;
      const at = events.findIndex(
        ({ type, resource, data }) =>
          type === kind &&
          (verdict.id === undefined ? data.includes(String(change.identifier)) : resource === verdict.id),
      );
      const [event] = at < 0 ? [] : events.splice(at, 1);
      if (event === undefined) return `no ${kind} of ${String(verdict.id)} in ${JSON.stringify(events)}`;
      if (event.stream !== `record-${world.mine}`) return `wrote to ${event.stream}`;
      const { kind: by, application, grant_id: grant } = event.credential;
      const { application_id: own, grant_id: given } = allowed.data;
      if (by !== 'grant' || application !== own || grant !== given)
        return `was written with ${JSON.stringify(event.credential)}`;
      ledger.write(event.resource, verdict);
      this.wrote(granted, event.resource, verdict, kind);
      const wrong = await this.#read(granted, event.resource, sent, verdict);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  /** Checks what both sides read. */
  async #read(
    { ids, allowed, key, ledger }: GrantedWorld,
    id: string,
    { change, resource }: Judged['sent'],
    { after }: Done,
  ): Promise<string | undefined> {
    const path = `/fhir/R4/${change.type}`;
    const owned = await this.send(key, { method: 'GET', url: `${path}/${id}` });
    const url = `${path}/${id === ids.record ? ids.patient : id}`;
    const own = await this.send(allowed.token, { method: 'GET', url });
    const status = after.deleted ? 410 : 200;
    if (owned.status !== status) return `the owner's read is ${owned}`;
    if (!ledger.has('r', change.type, after.categories))
      return own.status === 403 || own.status === 404 ? undefined : `its read is ${own}`;
    if (own.status !== status) return `its read is ${own}`;
    if (after.deleted) return undefined;
    const [seen, theirs] = [contentOf(own.text), contentOf(owned.text)] as Record<string, unknown>[];
    const { id: _, ...content } = resource ?? {};
    for (const [name, value] of Object.entries(content))
      if (!isDeepStrictEqual(seen?.[name], value))
        return `reads back ${name} ${JSON.stringify(seen?.[name])}`;
    const others = Object.keys(seen ?? {}).filter((name) => !(name in content));
    if (change.interaction === 'update' && resource !== undefined && others.length > 0)
      return `reads back ${others.join()} too`;
    const misread = misreadBy(
      ...([theirs, seen].map((all) => membersOf(all, content)) as [unknown, unknown]),
      ids,
    );
    if (misread !== undefined) return `the owner reads ${misread}`;
    const isLeaked = [ids.patient, ids.patient.toUpperCase()].some((each) => owned.text.includes(each));
    return isLeaked ? `the owner reads the pairwise id: ${owned.text}` : undefined;
  }

  /** Returns how a refusal for something that the application doesn't know differs from a refusal for an unknown id. */
  async unlikeUnknown(
    { allowed, ledger }: GrantedWorld,
    id: string | undefined,
    request: Request,
    answer: Answer,
  ): Promise<string | undefined> {
    if (id === undefined || !ledger.held.has(id) || ledger.knows(id)) return undefined;
    const { url, body } = request;
    const unknown = await this.send(allowed.token, {
      ...request,
      url: url.replace(id, UNKNOWN),
      ...(body === undefined ? {} : { body: body.replaceAll(id, UNKNOWN) }),
    });
    const neutral = ({ status, text }: Answer) =>
      `${status} ${text.replaceAll(new RegExp(`${id}|${UNKNOWN}`, 'gi'), 'ID').replace(/req_[\w-]+/g, 'REQUEST')}`;
    return neutral(unknown) === neutral(answer) ? undefined : `unlike an unknown id, which is ${unknown}`;
  }
}

function membersOf(all: Record<string, unknown> = {}, like: object): unknown[] {
  return Object.keys(like).map((name) => all[name]);
}
