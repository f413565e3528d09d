/** Writes as requested, before their targets are known. A single command is a transaction with one entry. */
import type { IfMatch } from '#src/fhir/bundle.ts';
import { type Patch, parsePatchEntry } from '#src/fhir/patch/patch.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Issue } from '#src/shared/issue.ts';
import { methodsOfUrl } from '#src/shared/method-not-allowed.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Located, SubmittedResource } from '../command.ts';
import type { Finalized } from './contents.ts';

/** One requested write. */
export interface WriteRequest {
  /** The request's index in the Bundle; 0 for a single command. */
  readonly index: number;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly type: ResourceType;
  readonly id?: string;
  readonly criteria?: string;
  readonly fullUrl?: string;
  readonly resource?: SubmittedResource;
  readonly patch?: Patch;
  /** A PATCH entry's Parameters or Binary until its links are resolved; then it is replaced by `patch`. */
  readonly patchSource?: SubmittedResource;
  readonly ifMatch?: IfMatch;
  /**
   * The version from which the service made this request; if the current version is different, the request is prepared again.
   */
  readonly basedOn?: number;
  /** Stored bytes that become a document's own with this write. */
  readonly stored?: readonly Finalized[];
  /** The letter that the write needs under a grant, if it isn't the method's usual letter. */
  readonly letter?: 'c' | 'u' | 'd';
  /** The location of a resource that the application created itself, under a grant whose letters may not include reading it. */
  readonly place?: Located;
  /** `Bundle.entry[i]` in a transaction, so that faults name the entry; absent for a single command. */
  readonly at?: string;
}

/** Returns issues with their locations inside the entry: `Observation.code` becomes `Bundle.entry[3].resource.code`. */
export function issuesAt(at: string | undefined, issues: readonly Issue[]): Issue[] {
  if (at === undefined) return [...issues];
  return issues.map((issue) => {
    if (issue.unlisted !== undefined) return issue;
    const { code, diagnostics, expression } = issue;
    return {
      code,
      diagnostics: `${at}: ${diagnostics}`,
      expression: expression === undefined ? at : `${at}.resource${expression.replace(/^[A-Z]\w*/, '')}`,
    };
  });
}

/** Runs work on behalf of an entry, so that a refusal names the entry. */
export function runForEntry<T>(at: string | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? atEntry(at, error) : error;
  }
}

/** Runs asynchronous work like `runForEntry`. */
export async function onBehalfOfAsync<T>(at: string | undefined, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof Refusal ? atEntry(at, error) : error;
  }
}

/** Returns a refusal that names the entry that it refers to. */
export function atEntry(at: string | undefined, refusal: Refusal): Refusal {
  if (at === undefined) return refusal;
  const { Allow } = refusal.headers;
  const end = Allow === undefined ? '' : methodsOfUrl(Allow);
  const issues = refusal.issues.map((issue) => {
    const { code, diagnostics, unlisted } = issue;
    const told = diagnostics.endsWith(end)
      ? diagnostics.slice(0, diagnostics.length - end.length)
      : diagnostics;
    return unlisted === undefined ? { code, diagnostics: `${at}: ${told}`, expression: at } : issue;
  });
  return new Refusal(refusal.kind, issues, refusal.headers);
}

/** Returns a refusal with one issue, located at its entry. */
export function refuse(
  kind: Refusal['kind'],
  request: Pick<WriteRequest, 'at'>,
  code: Issue['code'],
  diagnostics: string,
): Refusal {
  const { at } = request;
  return new Refusal(kind, {
    code,
    diagnostics: at === undefined ? diagnostics : `${at}: ${diagnostics}`,
    ...(at === undefined ? {} : { expression: at }),
  });
}

/** Returns the resources that requests contain. */
export function listResources(requests: readonly WriteRequest[]): SubmittedResource[] {
  return requests.flatMap(({ resource, patchSource }) =>
    [resource, patchSource].filter((one) => one !== undefined),
  );
}

/**
 * Returns the patch in a Bundle's PATCH entry.
 * @throws Refusal 400 422 that names the entry
 */
export function readEntryPatch({ at }: WriteRequest, { value, exact }: SubmittedResource): Patch {
  return runForEntry(at, () => parsePatchEntry(value, exact));
}
