/** Assembles the write side: `Commands` over an event store and the ports in `command.ts`. */

import { projectStream } from '#src/events/streams.ts';
import { bareCriteria, type IfMatch, type WriteEntry } from '#src/fhir/bundle.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { runBatch } from './batch.ts';
import type { CommandContext, SubmittedResource, WriteResult, Written } from './command.ts';
import type { Commands } from './commands.ts';
import { completeCarried } from './directory/carry.ts';
import { finalizeDocument } from './document/finalize.ts';
import { withContents } from './document/put.ts';
import { settleAttachments } from './document/settle.ts';
import type { Streams } from './kernel/streams.ts';
import type { ProjectState } from './project/state.ts';
import { type Erasure, requestErasure, requestPersonalErasure } from './record/request-erasure.ts';
import { checkAuthorship } from './resource/authorship.ts';
import type { WriteDeps } from './resource/deps.ts';
import { writeDecided, writeOnce } from './resource/once.ts';
import { rehearse } from './resource/rehearse.ts';
import type { WriteRequest } from './resource/request.ts';
import { locateKnown } from './resource/resolve.ts';
import { writeFirst } from './resource/write.ts';

/** Dependencies of `openCommands`, in addition to the dependencies of writing. */
export interface CommandsDeps
  extends Omit<WriteDeps, 'attachments' | 'completeCarried' | 'locate' | 'isPersonal'> {
  readonly projects: Streams<ProjectState>;
  readonly erasure: Erasure;
}

/** Completes the given parts with the parts that the write side creates itself. */
export function makeWriteSide(handedIn: CommandsDeps): CommandsDeps & WriteDeps {
  const { resources, lookup, contents } = handedIn;
  return {
    ...handedIn,
    attachments: {
      settle: settleAttachments,
      store: (ctx, writes, append) => withContents(contents, ctx, writes, append),
    },
    completeCarried: (carrying, now) => completeCarried(resources, carrying, now),
    isPersonal: async ({ project, environment }) =>
      (await handedIn.projects.read(projectStream(project))).state.personal.has(environment),
    locate: (...asked) => locateKnown(resources, lookup, ...asked),
  };
}

/** Creates the write side. */
export function openCommands(handedIn: CommandsDeps): Commands {
  const deps = makeWriteSide(handedIn);
  const one = async (
    ctx: CommandContext,
    request: Omit<WriteRequest, 'index'>,
  ): Promise<Written<WriteResult | undefined>> => {
    const write = ctx.retry === undefined ? writeFirst : writeOnce;
    const { result, position } = await write(deps, ctx, [{ index: 0, ...request }], false);
    return { result: result.get(0), position };
  };
  const definite = async (
    ctx: CommandContext,
    request: Omit<WriteRequest, 'index'>,
  ): Promise<Written<WriteResult>> => {
    const { result, position } = await one(ctx, request);
    if (result === undefined) throw notFound(request.type, request.id ?? '?');
    return { result, position };
  };
  return {
    create: (ctx, type, resource, ifNoneExist) =>
      definite(ctx, {
        method: 'POST',
        type,
        resource,
        ...(ifNoneExist === undefined ? {} : { criteria: bareCriteria(ifNoneExist, type, deps.bases) }),
      }),
    update: (ctx, type, target, resource, ifMatch) =>
      definite(ctx, { method: 'PUT', type, resource, ...target, ...versioned(ifMatch) }),
    patch: (ctx, type, target, patch, ifMatch) =>
      definite(ctx, { method: 'PATCH', type, patch, ...target, ...versioned(ifMatch) }),
    async remove(ctx, type, target, ifMatch) {
      try {
        return await one(ctx, { method: 'DELETE', type, ...target, ...versioned(ifMatch) });
      } catch (error) {
        // A purge removed the resource between the lookup and the append.
        if (!(error instanceof Refusal) || error.kind !== 'not_found' || ifMatch !== undefined) throw error;
        return { result: undefined, position: undefined };
      }
    },
    async transaction(ctx, writes, exact) {
      return writeOnce(
        deps,
        ctx,
        writes.map((entry) => toWriteRequest(entry, exact)),
        true,
      );
    },
    decided: (ctx, key, decide) =>
      writeDecided(deps, ctx, key, async () => (await decide()).map((entry) => toWriteRequest(entry, true))),
    async batch(ctx, writes, exact, keep) {
      // Malformed headers fail all entries at once. An earlier attempt's result is returned even if the author has become
      // inactive since.
      if ((ctx.retry?.earlier.size ?? 0) === 0) await checkAuthorship(ctx, deps);
      const one = (own: CommandContext, entry: WriteEntry) =>
        writeOnce(deps, own, [toWriteRequest(entry, exact, 0)], false);
      return runBatch(ctx, writes, one, keep);
    },
    finalizeDocument: (ctx, id, bytes) => finalizeDocument(deps, ctx, id, bytes),
    rehearse: (ctx, method, type, id, resource) =>
      rehearse(deps, ctx, {
        index: 0,
        method,
        type,
        ...(id === undefined ? {} : { id }),
        ...(resource === undefined ? {} : { resource }),
      }),
    async purge(ctx, patientId) {
      await checkAuthorship(ctx, deps);
      return requestErasure(deps, ctx, patientId);
    },
    purgePersonal: (by, person, patientId) => requestPersonalErasure(deps, by, person, patientId),
  };
}

const versioned = (ifMatch: IfMatch | undefined): { ifMatch?: IfMatch } =>
  ifMatch === undefined ? {} : { ifMatch };

/** Returns a Bundle entry as a request. A batch entry is number 0 in its own command. */
function toWriteRequest(entry: WriteEntry, exact: boolean, index = entry.index): WriteRequest {
  const { method, type, id, criteria, fullUrl, ifMatch } = entry;
  const at = `Bundle.entry[${entry.index}]`;
  const value = entry.resource;
  const madeOf = entry.madeOf === undefined ? {} : { madeOf: entry.madeOf };
  const resource: SubmittedResource | undefined =
    value === undefined ? undefined : { value, exact, ...madeOf };
  return {
    index,
    method,
    type,
    at,
    ...(id === undefined ? {} : { id }),
    ...(criteria === undefined ? {} : { criteria }),
    ...(fullUrl === undefined ? {} : { fullUrl }),
    ...versioned(ifMatch),
    ...(resource === undefined || method === 'DELETE'
      ? {}
      : method === 'PATCH'
        ? { patchSource: resource }
        : { resource }),
  };
}
