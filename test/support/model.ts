/**
 * A plain in-memory model of the responses that clients received: the content of each version of each resource. It accepts
 * responses that a race can explain, notes responses that nothing can explain, and is finally compared with the history.
 */
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { without } from '#src/shared/json/json-value.ts';

/** The operation that created a version. */
export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** A version as the service shows it in a history. */
export interface ShownVersion {
  readonly version: number;
  readonly operation: Operation;
  /** Absent for a deletion. */
  readonly body?: JsonObject;
}

/** A write without a response, whose outcome is unknown. */
interface Unknown {
  readonly operation: 'UPDATE' | 'DELETE';
  readonly content?: string;
  /** The number shared by all writes in one transaction: either all of them happened, or none did. */
  readonly transaction: number | undefined;
}

/** A create without a response. Its marker reveals whether it happened. */
export interface LostCreate {
  readonly type: string;
  readonly marker: string;
  readonly patient: string;
  readonly content: string;
  readonly transaction: number | undefined;
}

/** A resource and the acknowledged writes to it. */
export interface ModelResource {
  readonly type: string;
  readonly id: string;
  /** The id of the Patient in the resource's record. */
  readonly patient: string;
  /** Maps a version to the acknowledged write that created it. */
  readonly versions: Map<number, { readonly operation: Operation; readonly content?: string }>;
  readonly unknown: Unknown[];
  /** The highest version reported to any client; only a hint while writes are running. */
  latest: number;
  deleted: boolean;
  /** Content for restoring the resource after a deletion, and for building updates. */
  body: JsonObject;
}

/**
 * Returns the exact text of a resource without the members that the service sets. Decimals are kept as written, and members in
 * order.
 */
export function contentOf(body: JsonObject): string {
  const { meta } = body;
  const kept = typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? (meta as JsonObject) : {};
  const others = without(kept, 'versionId', 'lastUpdated');
  return printJson({ ...without(body, 'resourceType', 'id', 'meta'), meta: others });
}

/** The model for all records. */
export class Model {
  readonly resources = new Map<string, ModelResource>();
  readonly lostCreates: LostCreate[] = [];
  /** Records in which a write was refused because the Patient was deleted. */
  readonly refusedRecords = new Set<string>();
  /** Responses that no order of events could explain. */
  readonly faults: string[] = [];
  /**
   * Writes that got 412 although `If-Match` was the version that the client had just been told. Version `expected` must have
   * become outdated.
   */
  readonly #refusedMatches: { readonly resource: ModelResource; readonly expected: number }[] = [];

  /** Records an acknowledged create. */
  created(
    type: string,
    id: string,
    patient: string,
    version: number | undefined,
    body: JsonObject,
  ): ModelResource {
    if (version !== 1) this.faults.push(`${type}/${id} was created as version ${version}`);
    const known = this.resources.get(id);
    if (known !== undefined) this.faults.push(`${type}/${id} was created twice`);
    const resource: ModelResource = known ?? {
      type,
      id,
      patient,
      versions: new Map(),
      unknown: [],
      latest: 1,
      deleted: false,
      body,
    };
    this.resources.set(id, resource);
    resource.versions.set(1, { operation: 'CREATE', content: contentOf(body) });
    return resource;
  }

  /**
   * Records an update acknowledged as `version`.
   * @param ifMatch the version in its `If-Match`
   */
  updated(resource: ModelResource, version: number | undefined, body: JsonObject, ifMatch?: number): void {
    const name = `${resource.type}/${resource.id}`;
    if (version === undefined) {
      this.faults.push(`an update of ${name} was answered without a version`);
      return;
    }
    if (ifMatch !== undefined && version !== ifMatch + 1) {
      this.faults.push(`an update of ${name} with If-Match ${ifMatch} became version ${version}`);
    }
    if (resource.versions.has(version))
      this.faults.push(`two writes of ${name} were told to be version ${version}`);
    resource.versions.set(version, { operation: 'UPDATE', content: contentOf(body) });
    if (version >= resource.latest) Object.assign(resource, { latest: version, deleted: false, body });
  }

  /** Records an acknowledged delete. Of several concurrent deletes, only one writes, but all may be told its version. */
  deleted(resource: ModelResource, version: number | undefined): void {
    if (version === undefined) {
      this.faults.push(`a delete of ${resource.type}/${resource.id} was answered without a version`);
      return;
    }
    const known = resource.versions.get(version);
    if (known !== undefined && known.operation !== 'DELETE') {
      this.faults.push(
        `a delete of ${resource.type}/${resource.id} was told version ${version}, a ${known.operation}`,
      );
    }
    resource.versions.set(version, { operation: 'DELETE' });
    if (version >= resource.latest) Object.assign(resource, { latest: version, deleted: true });
  }

  /** Records a 412 for a write whose `If-Match` had been correct, so another client must have been faster. */
  refusedMatch(resource: ModelResource, expected: number): void {
    this.#refusedMatches.push({ resource, expected });
  }

  /** Records a write to a known resource that wasn't answered. */
  lost(
    resource: ModelResource,
    operation: 'UPDATE' | 'DELETE',
    body?: JsonObject,
    transaction?: number,
  ): void {
    const content = body === undefined ? {} : { content: contentOf(body) };
    resource.unknown.push({ operation, ...content, transaction });
  }

  /**
   * Compares a resource with its whole history, oldest version first.
   * @returns the faults, and for each transaction, how many of its lost updates actually happened (each counted once)
   */
  compare(
    resource: ModelResource,
    history: readonly ShownVersion[],
  ): { faults: string[]; happened: number[] } {
    const name = `${resource.type}/${resource.id}`;
    const faults: string[] = [];
    const happened: number[] = [];
    const lost = [...resource.unknown];
    history.forEach((shown, index) => {
      if (shown.version !== index + 1)
        faults.push(`${name}: version ${shown.version} stands at place ${index + 1}`);
      const expected = resource.versions.get(shown.version);
      const content = shown.body === undefined ? undefined : contentOf(shown.body);
      if (expected === undefined) {
        const at = lost.findIndex(
          (write) => write.operation === shown.operation && write.content === content,
        );
        const [found] = at < 0 ? [] : lost.splice(at, 1);
        if (found === undefined)
          faults.push(`${name}: nobody was told of version ${shown.version} (${shown.operation})`);
        // A deletion proves nothing: it may be another client's, and a delete finds nothing to delete if another client was
        // faster.
        else if (found.transaction !== undefined && found.operation === 'UPDATE')
          happened.push(found.transaction);
      } else if (expected.operation !== shown.operation) {
        faults.push(
          `${name}: version ${shown.version} is ${shown.operation}, acknowledged was ${expected.operation}`,
        );
      } else if (expected.content !== content) {
        faults.push(
          `${name}: version ${shown.version} holds ${content}, acknowledged was ${expected.content}`,
        );
      }
    });
    for (const version of resource.versions.keys()) {
      if (version > history.length) faults.push(`${name}: acknowledged version ${version} is lost`);
    }
    for (const { resource: refused, expected } of this.#refusedMatches) {
      if (refused === resource && history.length <= expected) {
        faults.push(`${name}: If-Match ${expected} got 412 although no later version exists`);
      }
    }
    return { faults, happened };
  }
}
