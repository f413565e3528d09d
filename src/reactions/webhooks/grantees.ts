/**
 * Decides which applications receive an event in a record: those with a grant that covers the resource
 * (docs/spec/decisions.md, sections 6 and 9). A grant covers what the application can read with it after the event. So it
 * needs the letter `r` for the type, either without a category or for a category of the current version (for a deletion, of
 * the previous version).
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { recordPatient } from '#src/events/streams.ts';
import { parseReference } from '#src/fhir/references/references.ts';
import { readCategories } from '#src/fhir/search/categories.ts';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { type Access, allows, categoriesFor } from '#src/shared/access/access.ts';
import type { Sector } from '#src/shared/access/sector.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { type Given, heldAt, type KnownGrant } from './grants.ts';
import type { Named, TextAsOf } from './text-as-of.ts';
import { isServicesOwn } from './view.ts';

/** The applications in a project and environment that know a record's Patient by the same pairwise id. */
export interface Grantee extends Sector {
  /** The pairwise id. */
  readonly patient: string;
}

/** Provenances may be about Provenances; those at a deeper level count as invisible. */
const DEEPEST = 3;
const VERSION = /^\d{1,9}$/;

/** Finds events' grantees. */
export class Grantees {
  /** Scopes are parsed once per grant. */
  readonly #accesses = new WeakMap<Given, Access>();

  constructor(
    readonly deps: {
      readonly parseAccess: (scopes: readonly string[]) => Access;
      readonly textAsOf: TextAsOf;
    },
  ) {}

  /**
   * Returns an event's grantees, each sector once.
   * @param grants on the event's record, including ended grants
   * @param isAsked returns whether anyone listens to a project and environment; grantees without a listener are left out
   */
  async of(
    stored: StoredEvent,
    grants: Iterable<KnownGrant>,
    isAsked: (tenant: Sector) => boolean,
  ): Promise<Grantee[]> {
    const about = resourceIn(stored);
    if (about === undefined || isServicesOwn(stored.metadata)) return [];
    const at = toMicros(stored.metadata.recorded_at);
    const found = new Map<string, Grantee>();
    let sight: Sight | undefined;
    for (const grant of grants) {
      const given = heldAt(grant, at);
      if (given === undefined || !isAsked(given)) continue;
      const { project, environment, sector, patient } = given;
      const key = `${project}/${environment}/${sector}`;
      if (found.has(key)) continue;
      sight ??= new Sight(this.deps.textAsOf, stored, about);
      if (await sight.covers(this.#readAccess(given), about))
        found.set(key, { project, environment, sector, patient });
    }
    return [...found.values()];
  }

  #readAccess(given: Given): Access {
    const known = this.#accesses.get(given);
    if (known !== undefined) return known;
    const access = this.deps.parseAccess(given.scopes);
    this.#accesses.set(given, access);
    return access;
  }
}

/** A resource that an event is about. */
interface About extends Named {
  /** The resource's JSON after the event; undefined if it isn't in the event. */
  readonly text?: string;
}

/**
 * Returns the resource about which grantees receive webhooks; undefined for events that aren't about such a resource, and for
 * the directory.
 */
function resourceIn({ event, stream }: StoredEvent): About | undefined {
  if (recordPatient(stream) === undefined) return undefined;
  switch (event.type) {
    case 'ResourceCreated':
    case 'ResourceUpdated':
      return { type: event.resourceType, id: event.resourceId, text: event.body };
    case 'ResourceDeleted':
      return { type: event.resourceType, id: event.resourceId };
    case 'DocumentFinalized':
      return { type: 'DocumentReference', id: event.data.id };
    default:
      return undefined;
  }
}

/** A record's resources that can be read right after an event. Nothing is looked up twice or unnecessarily. */
class Sight {
  readonly #texts = new Map<string, Promise<string | undefined>>();

  constructor(
    readonly textAsOf: TextAsOf,
    readonly place: StoredEvent,
    about: About,
  ) {
    if (about.text !== undefined) this.#texts.set(versionKey(about), Promise.resolve(about.text));
  }

  /** Returns whether a grant allows reading one of the record's resources. */
  async covers(access: Access, named: Named, depth = 0): Promise<boolean> {
    const { type } = named;
    const limited = categoriesFor(access, type, 'r');
    if (limited.length === 0) return false;
    if (limited !== 'all') {
      const text = await this.#text(named);
      if (text === undefined || !allows(access, type, 'r', readCategories(type, JSON.parse(text))))
        return false;
    }
    return type !== 'Provenance' || readsAll(access) || this.#coversTargets(access, named, depth);
  }

  /** A Provenance is visible if all of its targets are visible. */
  async #coversTargets(access: Access, named: Named, depth: number): Promise<boolean> {
    const text = depth < DEEPEST ? await this.#text(named) : undefined;
    if (text === undefined) return false;
    for (const { reference } of targetsIn(text))
      if (!(await this.#coversTarget(access, reference ?? '', depth + 1))) return false;
    return true;
  }

  async #coversTarget(access: Access, reference: string, depth: number): Promise<boolean> {
    const target = parseReference(reference);
    // A target outside the service doesn't make the Provenance invisible.
    if (target.kind !== 'local') return true;
    const { type, id, version } = target;
    if (typeEntry(type).home === 'directory') return true;
    if (type === 'Patient') return id === recordPatient(this.place.stream);
    const current = { type, id };
    // A resource in another record has no text here.
    if ((await this.#text(current)) === undefined || !(await this.covers(access, current, depth)))
      return false;
    if (version === undefined) return true;
    return VERSION.test(version) && this.covers(access, { ...current, version: Number(version) }, depth);
  }

  #text(named: Named): Promise<string | undefined> {
    const key = versionKey(named);
    const known = this.#texts.get(key) ?? this.textAsOf(this.place, named);
    this.#texts.set(key, known);
    return known;
  }
}

const versionKey = ({ type, id, version }: Named): string => `${type}/${id}/${version ?? ''}`;

/** Returns whether a grant allows reading everything in a record. */
const readsAll = (access: Access): boolean =>
  TYPE_NAMES.every((type) => categoriesFor(access, type, 'r') === 'all');

/** Returns the targets of a valid Provenance. */
function targetsIn(text: string): readonly { readonly reference?: string }[] {
  const { target } = JSON.parse(text) as { target: readonly { readonly reference?: string }[] };
  return target;
}
