/** Errors of tools: the interfaces' errors, with advice on what to do next. */
import { isObject, parseJson } from '#src/shared/json/json.ts';
import type { Reply } from './reach.ts';

/** Thrown when a tool fails; the model reads the message. */
export class ToolFault extends Error {
  override readonly name = 'ToolFault';

  constructor(
    message: string,
    /** The status of the refused request. */
    readonly status?: number,
  ) {
    super(message);
  }
}

/** Returns the fault for a request that was refused. */
export function makeFault(reply: Reply): ToolFault {
  const message = messageIn(reply) ?? `the service answered ${reply.status}`;
  return new ToolFault(`${message}${adviceFor(reply, message)}`, reply.status);
}

/** Returns the message in a REST v1 error or an OperationOutcome. */
function messageIn({ body }: Reply): string | undefined {
  try {
    const { value } = parseJson(body.toString());
    if (!isObject(value)) return undefined;
    const { error, issue } = value;
    if (isObject(error)) return joined([error.message]);
    if (!Array.isArray(issue)) return undefined;
    return joined(issue.slice(0, 5).map((each) => (isObject(each) ? each.diagnostics : undefined)));
  } catch {
    return undefined;
  }
}

function joined(texts: readonly unknown[]): string | undefined {
  const said = texts.filter((text) => typeof text === 'string');
  return said.length === 0 ? undefined : said.join('; ');
}

const MISSING = /needs the scope (patient\/(\w+)\.[cruds]+)/;

function adviceFor({ status, retryAfter }: Reply, message: string): string {
  const [, scope, type] = MISSING.exec(message) ?? [];
  if (status === 403 && scope !== undefined)
    return `. Your grant has no such access to ${type}; ask the person for access with ${scope}. what_may_i_do lists what you have.`;
  switch (status) {
    case 401:
      return '. The access has ended: ask the person to allow it again.';
    case 403:
      return '. what_may_i_do lists what you have.';
    case 404:
      return '. Ids come from search_record, timeline, list_documents and get_context; what is outside your access is not found, either.';
    case 429:
    case 503:
      return `. Retry in ${retryAfter ?? '1'} s.`;
    default:
      return '';
  }
}
