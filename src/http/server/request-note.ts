/** Records answered requests for the project's log, its usage, and the key's last use; of an access token, in the application's project. */
import type { Context } from 'koa';
import { isResourceType } from '#src/fhir/types.ts';
import type { Caller, CallerCredential } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import type { LoggedRequest } from '#src/shared/load/traffic.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import type { Notebook } from '../ports/traffic.ts';

/** A request that has been answered. */
export interface Answered {
  readonly requestId: string;
  /** The pattern of its URL. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/** Ids as we give them: of resources, and of everything with a prefix. */
const OWN_ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{3,6}_[\w-]{22,26})$/;
const VERSION_ID = /^\d{1,9}$/;
const TYPES = new Set([':type', '{resource_type}']);
const READS_BY_POST = /\/_search$|\/\$/;

/** Records a request whose project is known; nobody could see the others. */
export function noteRequest(
  notebook: Notebook,
  ctx: Context,
  { requestId, route, status, ms }: Answered,
): void {
  // The project is set once its member is authenticated: requests of others are in no project's log.
  const { caller, identity, project }: { caller?: Caller; identity?: Identity; project?: string } = ctx.state;
  const at = nowMicros();
  const method = ctx.req.method ?? '';
  const note = (of: Omit<LoggedRequest, 'requestId' | 'at' | 'method' | 'path' | 'status' | 'ms'>): void =>
    notebook.requestLog.add({ requestId, at, ...of, method, path: loggedPath(ctx.path, route), status, ms });
  if (caller !== undefined) {
    const { project: of, credential } = caller.calls;
    notebook.usage.request(of, isWrite(method, route));
    if (credential.kind === 'api_key') notebook.keyUse.used(credential.keyId, at);
    note({ ...of, ...holderColumns(credential), ...namedBy(caller) });
  } else if (identity !== undefined && project !== undefined) {
    const who = `${identity.issuer} ${identity.subject}`;
    note({ project, environment: null, keyId: null, identity: who });
  }
}

/** Returns the columns that say who called. */
function holderColumns(
  credential: CallerCredential,
): Pick<LoggedRequest, 'keyId' | 'applicationId' | 'identity'> {
  switch (credential.kind) {
    case 'api_key':
      return { keyId: credential.keyId, identity: null };
    case 'client':
    case 'grant':
      return { keyId: null, applicationId: credential.applicationId, identity: null };
    case 'member':
    case 'person':
      return { keyId: null, identity: `${credential.issuer} ${credential.subject}` };
    case 'shared_link':
      return { keyId: null, identity: null };
  }
}

/** Returns the granted record: the path has its pairwise id, and a purge of the real one must find the row. */
function namedBy({ sees: { within } }: Caller): Pick<LoggedRequest, 'named'> {
  return within === undefined ? {} : { named: within.record };
}

/** Returns true if a request may have changed something. */
function isWrite(method: string, route: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && !READS_BY_POST.test(route);
}

/**
 * Returns a path for the log: where the pattern has parameters, only ids that the service generated and
 * resource types are kept; anything else a client typed, and it may be a name or a secret.
 * @param pattern `/fhir/R4/:type/:id` or `/admin/projects/{project_id}`
 */
export function loggedPath(path: string, pattern: string): string {
  const wanted = splitPattern(pattern);
  const segments = path.split('/');
  let kept = true;
  for (const [index, segment] of segments.entries()) {
    if (isKept(segment, wanted[index] ?? '')) continue;
    segments[index] = '…';
    kept = false;
  }
  return kept ? path : segments.join('/');
}

function isKept(segment: string, name: string): boolean {
  return (
    segment === name ||
    segment === '' ||
    OWN_ID.test(segment) ||
    (name === ':vid' && VERSION_ID.test(segment)) ||
    (TYPES.has(name) && isResourceType(segment))
  );
}

/** Patterns, which are few, in parts. */
const parts = new Map<string, readonly string[]>();

function splitPattern(pattern: string): readonly string[] {
  const known = parts.get(pattern);
  if (known !== undefined) return known;
  const made = pattern.split('/');
  parts.set(pattern, made);
  return made;
}
