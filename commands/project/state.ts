/** A project as decisions know it: whether it is open, and its keys. */
import type { DomainEvent } from '#src/events/catalog.ts';
import type { Fold } from '../aggregate.ts';

/** Its state. */
export interface ProjectState {
  status: 'none' | 'open' | 'deleted';
  /** Key id → whether it still works. */
  readonly keys: Map<string, boolean>;
}

/** The fold of `project-` streams; erasures of records in them leave it as it is. */
export const PROJECT: Fold<ProjectState> = {
  initial: () => ({ status: 'none', keys: new Map() }),
  evolve,
  sizeOf: ({ keys }) => 100 + keys.size * 120,
};

function evolve(state: ProjectState, event: DomainEvent): void {
  switch (event.type) {
    case 'ProjectCreated':
      state.status = 'open';
      break;
    case 'ProjectDeleted':
      state.status = 'deleted';
      break;
    case 'ApiKeyCreated':
      state.keys.set(event.data.key_id, true);
      break;
    case 'ApiKeyRevoked':
      state.keys.set(event.data.key_id, false);
      break;
  }
}
