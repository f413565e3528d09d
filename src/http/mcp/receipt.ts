/**
 * Creates the receipt for an `/mcp` response. It contains the replies to the tool's requests, from which the response can be
 * reproduced.
 */
import { MCP_FORM } from '#src/mcp/answer.ts';
import { isPdf } from '#src/mcp/plain-text.ts';
import type { OwnGrant, Reply } from '#src/mcp/reach.ts';
import { cutVersions, type KeptReply, keepContext, listVersions } from '#src/mcp/replies.ts';
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { type GivenReceipt, nameReader } from '#src/shared/access/receipt.ts';
import { isUuid } from '#src/shared/ids.ts';
import { isObject, type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';
import type { OpenService } from '../api/open-route.ts';
import type { AccessLog } from '../ports/access-log.ts';
import type { Gather, Gathered } from '../ports/inner-requests.ts';

/** The message that is being answered, and its caller. */
interface Asked {
  readonly caller: Caller;
  readonly grant: OwnGrant | undefined;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly baseUrl: string;
  readonly version: string;
}

/** A request made by the tool that is being run. */
interface Begun {
  /** Receives the response as it was before ids were exchanged at the edge. */
  readonly gather: Gather;
  /**
   * Stores the reply and returns it.
   * @param path the request's path
   */
  readonly end: (reply: Reply, path: string) => Reply;
}

/** Matches the path of a document's bytes. */
const CONTENT = /^\/v1\/documents\/([\w-]+)\/content$/;

/** Collects the parts of one response. */
export class McpReceipt {
  readonly #replies: (KeptReply | undefined)[] = [];
  readonly #entries: AccessEntry[] = [];
  readonly #texts: (string | null)[] = [];

  constructor(private readonly asked: Asked) {}

  /** Begins a request. Requests are numbered in the order in which they begin. */
  begin(): Begun {
    const place = this.#replies.push(undefined) - 1;
    let inside: Gathered | undefined;
    return {
      gather: (found) => {
        this.#entries.push(...found.entries);
        inside = found;
      },
      end: (reply, path) => {
        this.#replies[place] = keepReply(reply, path, inside);
        return reply;
      },
    };
  }

  /**
   * Stores a PDF's text, because the renderer doesn't include the library that reads PDFs.
   * @returns the text
   */
  keepText(mediaType: string, text: string | undefined): string | undefined {
    if (isPdf(mediaType)) this.#texts.push(text ?? null);
    return text;
  }

  /**
   * Writes the reads and the response's receipt to the access log.
   * @throws Refusal unavailable (503) if they can't be written
   */
  async write(
    { accessLog: log, recordsOf }: Pick<OpenService, 'accessLog' | 'recordsOf'>,
    sent: { readonly text: string; readonly sha256: Buffer },
  ): Promise<void> {
    const record = await this.#findRecord(recordsOf);
    const receipt = record === undefined ? undefined : this.#give(record, sent);
    const own = (entry: AccessEntry): AccessEntry =>
      receipt?.record === entry.record ? { ...entry, receipt } : entry;
    const entries = this.#entries.splice(0).map(own);
    const isNamed = entries.some((entry) => entry.receipt !== undefined);
    await log.written(entries, receipt === undefined || isNamed ? [] : [receipt]);
  }

  /** Logs the reads for a response that isn't sent. */
  note(log: Pick<AccessLog, 'note'>): void {
    for (const entry of this.#entries.splice(0)) log.note(entry);
  }

  /**
   * Returns the record that the response is about: the grant's record, or a record in the caller's project that the call
   * names. For other projects' records there is no receipt, as if the records didn't exist.
   */
  async #findRecord(recordsOf: OpenService['recordsOf']): Promise<string | undefined> {
    const { sees } = this.asked.caller;
    if (sees.within !== undefined) return sees.within.record;
    const patient = patientIn(this.asked.body);
    if (patient === undefined) return undefined;
    return (await recordsOf(sees, [patient])).get(patient) === patient ? patient : undefined;
  }

  /** Returns the receipt. */
  #give(record: string, { text, sha256 }: { readonly text: string; readonly sha256: Buffer }): GivenReceipt {
    const { caller, grant, body, headers, baseUrl, version } = this.asked;
    const types = grant && JSON.parse(JSON.stringify(Object.fromEntries(grant.access.types)));
    const own = grant && { patient: grant.patient, grant_id: grant.grantId ?? null, types };
    return {
      ...{ kind: 'mcp', form: MCP_FORM, record, position: null, name: null },
      parameters: { body: printJson(body), headers, base_url: baseUrl, version, ...(own && { grant: own }) },
      versions: listVersions(grant === undefined ? text : text.replaceAll(grant.patient, record)),
      inputs: {
        replies: this.#replies.map((reply) => JSON.parse(JSON.stringify(reply ?? null))),
        ...(this.#texts.length === 0 ? {} : { texts: [...this.#texts] }),
      },
      reader: nameReader(caller),
      sha256,
    };
  }
}

function keepReply(reply: Reply, path: string, inside: Gathered | undefined): KeptReply {
  const { status, retryAfter } = reply;
  const head = { status, ...(retryAfter === undefined ? {} : { retry_after: retryAfter }) };
  const [, document] = CONTENT.exec(path) ?? [];
  const { content } = inside?.answer ?? {};
  if (document !== undefined && content !== undefined)
    return { ...head, file: document, ...(content.blob === undefined ? {} : { blob: content.blob }) };
  const outward = inside?.foreign === undefined ? {} : { outward: { foreign: inside.foreign } };
  const { receipt, body } = inside?.answer ?? {};
  if (receipt !== undefined) return { ...head, context: keepContext(receipt), ...outward };
  // A refusal, or a response that arrives in pieces, is stored as the application received it.
  if (body === undefined) return { ...head, text: [reply.body.toString()] };
  return { ...head, text: cutVersions(body.toString()), ...outward };
}

/** Returns the patient that a call names, if the caller is a project. */
function patientIn(body: Json): string | undefined {
  const params: Json | undefined = isObject(body) ? body.params : undefined;
  const given: JsonObject = isObject(params) && isObject(params.arguments) ? params.arguments : {};
  return typeof given.patient === 'string' && isUuid(given.patient) ? given.patient : undefined;
}
