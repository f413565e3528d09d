/** Decisions about sandboxes, as given · when · then over events. */
import { expect } from 'chai';
import { type Asked, isResetting, provisioned, reset } from '#commands/sandbox/decide.ts';
import { SANDBOX } from '#commands/sandbox/state.ts';
import type { PlainEvent } from '#src/events/catalog.ts';
import { given } from '#test/support/given.ts';

const asked = (reset_id: string): Asked => ({ reset_id, seed: 's', patients: 3, today: '2026-09-01' });
const opened: PlainEvent = {
  type: 'ProjectCreated',
  data: { project_id: 'proj_1', organization_id: 'org_1', name: 'Pilot' },
};
const closed: PlainEvent = { type: 'ProjectDeleted', data: { project_id: 'proj_1' } };
const filling: PlainEvent = { type: 'SandboxProvisioningRequested', data: asked('one') };
const resetting = (id: string): PlainEvent => ({ type: 'SandboxResetRequested', data: asked(id) });
const filled = (reset_id: string): PlainEvent => ({
  type: 'SandboxProvisioned',
  data: { reset_id, patients: 3, resources: 40 },
});
const sandbox = (...events: PlainEvent[]) => given(SANDBOX, [opened, ...events]);

describe('deciding on sandboxes', () => {
  it('given a sandbox, when a reset is asked for, then it is, also while it is filled for the first time', () => {
    for (const before of [[], [filling], [filling, filled('one')], [resetting('one'), filled('one')]])
      sandbox(...before)
        .when(reset('proj_1', asked('two')))
        .thenEvents(resetting('two'));
  });

  it('given a reset that is not over, when another is asked for, then nothing happens', () => {
    const { when, state } = sandbox(filling, filled('one'), resetting('two'));
    expect(isResetting(state)).to.equal(true);
    when(reset('proj_1', asked('three'))).thenNothing();
  });

  it('given no project, or one that is closed, when a reset is asked for, then 404', () => {
    for (const events of [[], [opened, closed]])
      given(SANDBOX, events)
        .when(reset('proj_1', asked('two')))
        .thenRefused('not_found', /proj_1/);
  });

  it('given a filling, when it is done, then that is noted once', () => {
    const done = provisioned(asked('one'), 40);
    sandbox(filling).when(done).thenEvents(filled('one'));
    sandbox(filling, filled('one')).when(done).thenNothing();
  });

  it('given a newer request, when an older filling is done, then nothing happens', () => {
    sandbox(filling, resetting('two'))
      .when(provisioned(asked('one'), 40))
      .thenNothing();
    sandbox()
      .when(provisioned(asked('one'), 40))
      .thenNothing();
  });

  it('counts resets, and other events of the project leave it as it is', () => {
    const allowed: PlainEvent = { type: 'ProductionAccessAllowed', data: { project_id: 'proj_1' } };
    const { state } = sandbox(resetting('one'), allowed, filled('one'), resetting('two'));
    expect(state).to.deep.include({ resets: 2, project: 'open' });
    expect(state.current).to.deep.include({ resetId: 'two', done: false });
  });
});
