/** Decisions about webhook endpoints, as given · when · then over events. */
import { change, create, remove, rotate } from '#commands/webhook/decide.ts';
import { WEBHOOK } from '#commands/webhook/state.ts';
import type { PlainEvent } from '#src/events/catalog.ts';
import { given } from '#test/support/given.ts';

const TENANT = { project: 'proj_1', environment: 'sandbox' } as const;
interface Settings {
  url: string;
  events: string[];
  description: string | null;
  active: boolean;
}
const SETTINGS: Settings = { url: 'https://a.example/', events: ['*'], description: null, active: true };
const OF_TENANT = { project_id: 'proj_1', environment: 'sandbox' } as const;

const created: PlainEvent = {
  type: 'WebhookEndpointCreated',
  data: { endpoint_id: 'whe_1', ...OF_TENANT, ...SETTINGS, secret: 'sealed' },
};
const changed = (settings: Partial<Settings>): PlainEvent => ({
  type: 'WebhookEndpointChanged',
  data: { ...OF_TENANT, ...SETTINGS, ...settings },
});
const rotated: PlainEvent = { type: 'WebhookSecretRotated', data: { secret: 'sealed again' } };
const deleted: PlainEvent = {
  type: 'WebhookEndpointDeleted',
  data: { endpoint_id: 'whe_1', project_id: 'proj_1' },
};

describe('deciding on webhook endpoints', () => {
  it('given nothing, when one is made, then once', () => {
    const making = create('whe_1', TENANT, SETTINGS, 'sealed');
    given(WEBHOOK, []).when(making).thenEvents(created);
    given(WEBHOOK, [created])
      .when(making)
      .thenFault(/already exists/);
  });

  it('given settings, when some change, then the event has all of them', () => {
    const changes: Partial<Settings>[] = [
      { url: 'https://b.example/' },
      { events: ['patient.created'] },
      { description: 'b' },
      { active: false },
    ];
    for (const some of changes) {
      given(WEBHOOK, [created]).when(change('whe_1', some)).thenEvents(changed(some));
      given(WEBHOOK, [created, changed(some)])
        .when(change('whe_1', some))
        .thenNothing();
    }
  });

  it('given a description, when it is taken away, then it is gone; when it is not named, then it stays', () => {
    const described = given(WEBHOOK, [created, changed({ description: 'a' })]);
    described.when(change('whe_1', { description: null })).thenEvents(changed({}));
    described
      .when(change('whe_1', { active: false }))
      .thenEvents(changed({ description: 'a', active: false }));
  });

  it('given the same settings, when they come again, then nothing happens', () => {
    for (const same of [{}, SETTINGS]) given(WEBHOOK, [created]).when(change('whe_1', same)).thenNothing();
  });

  it('given an endpoint, when its secret is rotated or it is deleted, then so, also twice for the secret', () => {
    const rotation = rotate('whe_1', 'sealed again');
    given(WEBHOOK, [created]).when(rotation).thenEvents(rotated);
    given(WEBHOOK, [created, rotated]).when(rotation).thenEvents(rotated);
    given(WEBHOOK, [created, rotated]).when(remove('whe_1')).thenEvents(deleted);
  });

  it('given none, or one that is deleted, then 404 whatever is asked', () => {
    for (const decide of [change('whe_1', { active: false }), rotate('whe_1', 'x'), remove('whe_1')]) {
      given(WEBHOOK, []).when(decide).thenRefused('not_found', /whe_1/);
      given(WEBHOOK, [created, deleted]).when(decide).thenRefused('not_found', /whe_1/);
    }
  });
});
