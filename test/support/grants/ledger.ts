/**
 * The content of a world while an application writes to it, and what the application's grant lets it write. Implemented
 * independently of the service (docs/spec/decisions.md, section 9: "Letters", "Categories").
 */
import { coveredBy, covers, type TypeScope } from './scopes.ts';
import type { World, WorldType } from './world.ts';

/** A resource. */
export interface Held {
  readonly type: string;
  readonly isMine: boolean;
  readonly version: number;
  readonly deleted: boolean;
  /** Categories of the last version with a body. */
  readonly categories: readonly string[];
  /** Value of its identifier in `urn:thing`. */
  readonly identifier: string | undefined;
}

/** A write of one resource, as an interaction of the FHIR interface. */
export interface Change {
  readonly interaction: 'create' | 'update' | 'patch' | 'delete';
  readonly type: WorldType | 'Patient';
  /** The id in the request; undefined for a creation and for criteria. */
  readonly id?: string | undefined;
  /** The identifier value that the criteria search for. */
  readonly criterion?: string | undefined;
  /** The new version's categories; undefined if they don't change. */
  readonly categories?: readonly string[] | undefined;
  /** Of the new version. */
  readonly identifier?: string | undefined;
  /** True if the new version is in the granted record. */
  readonly isInRecord: boolean;
  /** True if `If-Match` contains an older version. */
  readonly isStale: boolean;
}

/** The outcome of a change. `unwritten`: nothing is written, whether the change is refused or not. */
export type Verdict =
  | { readonly is: 'refused' | 'unwritten' }
  | {
      readonly is: 'written';
      readonly id?: string | undefined;
      readonly after: Omit<Held, 'version' | 'isMine'>;
    };

const REFUSED: Verdict = { is: 'refused' };
const UNWRITTEN: Verdict = { is: 'unwritten' };
const LETTER = { create: 'c', update: 'u', patch: 'u', delete: 'd' } as const;

/** Keeps what exists. */
export class Ledger {
  readonly held = new Map<string, Held>();

  constructor(
    world: World,
    private readonly scopes: readonly TypeScope[],
  ) {
    for (const [record, versions] of Object.entries(world.records))
      for (const { id, type, version, categories, body } of versions)
        this.held.set(id, {
          ...{ type, version, categories, deleted: body === null, isMine: record === world.mine },
          identifier: identifierIn(body) ?? this.held.get(id)?.identifier,
        });
  }

  /** Returns whether the grant includes a letter for a resource of a type with the given categories. */
  has(letter: string, type: string, categories: readonly string[]): boolean {
    if (type === 'Patient' && 'rs'.includes(letter)) return true;
    return covers(coveredBy(this.scopes, letter), type, categories);
  }

  /** Returns whether the grant includes a letter for some resources of a type. */
  hasAny(letter: string, type: string): boolean {
    return (type === 'Patient' && 'rs'.includes(letter)) || coveredBy(this.scopes, letter).has(type);
  }

  /** Returns whether the application can know that a resource exists. */
  knows(id: string): boolean {
    const held = this.held.get(id);
    return (
      held?.isMine === true && [...'ruds'].some((letter) => this.has(letter, held.type, held.categories))
    );
  }

  /** Returns the required outcome of a change. */
  judge(change: Change): Verdict {
    const { interaction, type, id, criterion } = change;
    const letter = LETTER[interaction];
    if (!this.hasAny(letter, type)) return REFUSED;
    if (criterion === undefined) return id === undefined ? this.#creation(change) : this.#change(id, change);
    if (!this.hasAny('s', type)) return REFUSED;
    const found = [...this.held].find(
      ([, held]) =>
        held.isMine &&
        !held.deleted &&
        held.type === type &&
        held.identifier === criterion &&
        this.has('s', type, held.categories),
    );
    if (found === undefined) {
      if (interaction === 'delete') return UNWRITTEN;
      return interaction === 'patch' || !this.hasAny('c', type) ? REFUSED : this.#creation(change);
    }
    return interaction === 'create' ? UNWRITTEN : this.#change(found[0], change);
  }

  /** Records a write. */
  write(id: string, { after }: Extract<Verdict, { is: 'written' }>): void {
    const version = (this.held.get(id)?.version ?? 0) + 1;
    this.held.set(id, { ...after, version, isMine: true });
  }

  #creation({ type, categories = [], identifier, isInRecord }: Change): Verdict {
    if (!isInRecord || type === 'Patient' || !this.has('c', type, categories)) return REFUSED;
    return { is: 'written', after: { type, categories, identifier, deleted: false } };
  }

  #change(id: string, { interaction, type, categories, identifier, isInRecord, isStale }: Change): Verdict {
    const before = this.held.get(id);
    const letter = LETTER[interaction];
    // DELETE of something that never existed returns 204.
    const nothing = interaction === 'delete' ? UNWRITTEN : REFUSED;
    if (before === undefined || !before.isMine || before.type !== type) return nothing;
    if (before.deleted && interaction !== 'update') return nothing;
    if (!this.has(letter, type, before.categories)) return nothing;
    if (isStale || !isInRecord) return REFUSED;
    const after = categories ?? before.categories;
    if (interaction !== 'delete' && !this.has(letter, type, after)) return REFUSED;
    return {
      is: 'written',
      id,
      after: {
        ...{ type, categories: after, deleted: interaction === 'delete' },
        identifier: identifier ?? before.identifier,
      },
    };
  }
}

function identifierIn(body: Readonly<Record<string, unknown>> | null): string | undefined {
  const [first] = (body?.identifier ?? []) as { readonly system?: string; readonly value?: string }[];
  return first?.system === 'urn:thing' ? first.value : undefined;
}
