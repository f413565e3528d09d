/** A webhook endpoint: its deliveries with their bodies and responses, its secret, how to verify a delivery, and replays. */

import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { type AnswerOf, ApiError, annal, filled, openRecords } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { NotFound, useAct, useLoaded } from '../load.ts';
import { Ago, Badge, Button, Code, Confirm, Empty, Head, Problem, Shown, Table } from '../parts/parts.tsx';
import { say, sayCount, sayMoment } from '../texts/texts.ts';
import { type IssuedEndpoint, listEndpoints, Secret, State, sayEvents } from './webhooks.tsx';

/** A delivery, including the body that is sent. */
type Delivery = AnswerOf<'GET', '/admin/webhooks/{endpoint_id}/deliveries'>['data'][number];

const STATUSES = ['pending', 'delivered', 'failed', 'exhausted'] as const;

/** Returns the screen. */
export function Webhook() {
  const here = useProject();
  const { params } = useRoute();
  const { route } = useLocation();
  const id = params.id ?? '';
  const [issued, setIssued] = useState<IssuedEndpoint>();
  const [isDeleting, askDelete] = useState(false);
  const [isRotating, askRotate] = useState(false);
  const endpoint = useLoaded(
    async (signal) => {
      const found = (await listEndpoints(here, signal)).find((each) => each.id === id);
      if (found === undefined) throw new NotFound(say('notFound.says'));
      return found;
    },
    [here.project, here.environment, id],
    5_000,
  );
  const [status, setStatus] = useState<Delivery['status']>();
  const of = { endpoint_id: id };
  const deliveries = useLoaded(
    (signal) =>
      annal.get(
        '/admin/webhooks/{endpoint_id}/deliveries',
        { endpoint_id: id, limit: 50, ...filled({ status }) },
        { signal },
      ),
    [id, status],
    3_000,
  );
  const reload = async (): Promise<void> => {
    await Promise.all([endpoint.reload(), deliveries.reload()]);
  };
  const acting = useAct(async (act: () => Promise<unknown>) => {
    await act();
    await reload();
  });
  const rotating = useAct(async () => {
    const answer = await annal.post('/admin/webhooks/{endpoint_id}/rotate', of);
    await reload();
    return answer;
  });
  const deleting = useAct(async () => {
    await annal.delete('/admin/webhooks/{endpoint_id}', { endpoint_id: id });
    return true;
  });
  const found = endpoint.value;
  return (
    <>
      <p>
        <a href={pathOf(here, '/webhooks')}>{say('webhooks.title')}</a>
      </p>
      <Head
        title={found?.url ?? say('webhooks.one')}
        {...(found === undefined ? {} : { about: say('webhooks.gets', { events: sayEvents(found.events) }) })}
      >
        {found === undefined || !here.mayUse ? null : (
          <>
            <Button
              busy={acting.isRunning}
              onClick={() => void acting.run(() => annal.post('/admin/webhooks/{endpoint_id}/ping', of))}
            >
              {say('webhook.ping')}
            </Button>
            <Button
              busy={acting.isRunning}
              onClick={() =>
                void acting.run(() =>
                  annal.patch('/admin/webhooks/{endpoint_id}', { ...of, body: { active: !found.active } }),
                )
              }
            >
              {say(found.active ? 'webhook.pause' : 'webhook.resume')}
            </Button>
            <Button onClick={() => askRotate(true)}>{say('webhook.rotate')}</Button>
            <Button tone="danger" onClick={() => askDelete(true)}>
              {say('webhook.delete')}
            </Button>
          </>
        )}
      </Head>
      {/* Without the endpoint there are no deliveries either: it may be one of the other environment. */}
      <Shown of={endpoint}>
        {(shown) => (
          <p>
            <State of={shown} />
          </p>
        )}
      </Shown>
      <Problem failure={acting.failure} />
      {found === undefined ? null : (
        <>
          <section class="panel">
            <header class="head">
              <h2>{say('webhook.deliveries')}</h2>
              <label>
                {say('webhooks.state')}{' '}
                <select
                  value={status ?? ''}
                  onChange={({ currentTarget }) =>
                    setStatus(STATUSES.find((each) => each === currentTarget.value))
                  }
                >
                  <option value="">{say('requests.all')}</option>
                  {STATUSES.map((each) => (
                    <option key={each} value={each}>
                      {say(`delivery.${each}`)}
                    </option>
                  ))}
                </select>
              </label>
            </header>
            <Shown of={deliveries}>
              {({ data, total }) =>
                data.length === 0 ? (
                  <Empty>
                    <p>{say('webhook.deliveries.none')}</p>
                  </Empty>
                ) : (
                  <>
                    {data.map((delivery) => (
                      <DeliveryRow
                        key={delivery.id}
                        of={delivery}
                        mayUse={here.mayUse}
                        isBusy={acting.isRunning}
                        onRedeliver={() =>
                          void acting.run(() =>
                            annal.post('/admin/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver', {
                              ...of,
                              delivery_id: delivery.id,
                            }),
                          )
                        }
                      />
                    ))}
                    {total > data.length ? (
                      <p class="quiet">{sayCount('webhook.more', total - data.length)}</p>
                    ) : null}
                  </>
                )
              }
            </Shown>
          </section>
          {here.mayUse ? <Replays id={id} /> : null}
        </>
      )}
      <Verify />
      {isRotating ? (
        <Confirm
          title={say('webhook.rotate')}
          says={<p>{say('webhook.rotate.says')}</p>}
          act={say('webhook.rotate')}
          busy={rotating.isRunning}
          failure={rotating.failure}
          onClose={() => {
            rotating.reset();
            askRotate(false);
          }}
          onConfirm={async () => {
            const answer = await rotating.run(undefined);
            if (answer === undefined) return;
            askRotate(false);
            setIssued(answer);
          }}
        />
      ) : null}
      {isDeleting ? (
        <Confirm
          title={say('webhook.delete')}
          says={<p>{say('webhook.delete.says')}</p>}
          act={say('webhook.delete')}
          busy={deleting.isRunning}
          failure={deleting.failure}
          onClose={() => {
            deleting.reset();
            askDelete(false);
          }}
          onConfirm={async () => {
            if ((await deleting.run(undefined)) === true) route(pathOf(here, '/webhooks'));
          }}
        />
      ) : null}
      {issued === undefined ? null : <Secret of={issued} onClose={() => setIssued(undefined)} />}
    </>
  );
}

/** A collapsed delivery; when opened, it shows the body that was sent and the response. */
function DeliveryRow({
  of,
  mayUse,
  isBusy,
  onRedeliver,
}: {
  readonly of: Delivery;
  readonly mayUse: boolean;
  readonly isBusy: boolean;
  readonly onRedeliver: () => void;
}) {
  const tone = { delivered: 'good', failed: 'warn', exhausted: 'bad', pending: 'plain' } as const;
  return (
    <details class="delivery">
      <summary>
        <Badge tone={tone[of.status]}>{say(`delivery.${of.status}`)}</Badge> <code>{of.event_type}</code>{' '}
        <span class="quiet">
          <Ago at={of.created_at} />
          {of.last_status_code === null ? '' : ` · ${of.last_status_code}`}
          {of.attempts > 1 ? ` · ${sayCount('delivery.attempts', of.attempts)}` : ''}
        </span>
      </summary>
      <p class="quiet">
        <code>{of.event_id}</code> · <code>{of.id}</code>
        {of.next_attempt_at === null
          ? ''
          : ` · ${say('delivery.next', { at: sayMoment(of.next_attempt_at) })}`}
      </p>
      <h3>{say('delivery.body')}</h3>
      <Code text={JSON.stringify(of.payload, null, 2)} label={say('delivery.body')} />
      {of.last_error === null ? null : (
        <>
          <h3>{say('delivery.error')}</h3>
          <Code text={of.last_error} label={say('delivery.error')} />
        </>
      )}
      {mayUse ? (
        <p>
          <Button busy={isBusy} onClick={onRedeliver}>
            {say('delivery.redeliver')}
          </Button>
        </p>
      ) : null}
    </details>
  );
}

/** Sends past events again, and shows the progress. */
function Replays({ id }: { readonly id: string }) {
  const here = useProject();
  // Loaded only on demand: without a replay, the request returns 404 and appears in the project's own log.
  const [isShown, show] = useState(false);
  const replay = useLoaded(
    async (signal) => {
      if (!isShown) return null;
      try {
        return await openRecords(here).get(
          '/v1/webhooks/{endpoint_id}/replay',
          { endpoint_id: id },
          { signal },
        );
      } catch (error) {
        // There was none yet.
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    [id, isShown],
    isShown ? 3_000 : undefined,
  );
  const beginning = useAct(async (from: string) => {
    await openRecords(here).post('/v1/webhooks/{endpoint_id}/replay', {
      endpoint_id: id,
      body: { from: new Date(from).toISOString() },
    });
    show(true);
    await replay.reload();
  });
  return (
    <section class="panel">
      <h2>{say('replay.title')}</h2>
      <p class="quiet">{say('replay.says')}</p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void beginning.run(String(new FormData(event.currentTarget).get('from')));
        }}
      >
        <label>
          {say('replay.from')} <input type="datetime-local" name="from" required />
        </label>
        <Button type="submit" busy={beginning.isRunning}>
          {say('replay.begin')}
        </Button>
      </form>
      <Problem failure={beginning.failure} />
      {isShown ? null : (
        <p>
          <Button tone="link" onClick={() => show(true)}>
            {say('replay.last')}
          </Button>
        </p>
      )}
      {!isShown ? null : (
        <Shown of={replay}>
          {(newest) =>
            newest === null ? (
              <p class="quiet">{say('replay.none')}</p>
            ) : (
              <Table
                label={say('replay.title')}
                rows={[newest]}
                keyOf={({ status }) => status}
                columns={[
                  { title: say('webhooks.state'), cell: ({ status }) => say(`replay.${status}`) },
                  { title: say('replay.queued'), isNumber: true, cell: ({ queued }) => queued },
                  { title: say('delivery.delivered'), isNumber: true, cell: ({ delivered }) => delivered },
                  { title: say('delivery.exhausted'), isNumber: true, cell: ({ exhausted }) => exhausted },
                ]}
              />
            )
          }
        </Shown>
      )}
    </section>
  );
}

const CHECKS = {
  TypeScript: `import { Webhook } from 'standardwebhooks';

// Throws if the signature is wrong or older than five minutes. \`body\` are the bytes as they came.
new Webhook(process.env.ANNAL_WEBHOOK_SECRET!).verify(body, headers);`,
  Python: `import base64, hashlib, hmac, time

def is_genuine(secret: str, headers, body: bytes) -> bool:
    id, at = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(at)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    return hmac.compare_digest("v1," + base64.b64encode(digest).decode(), headers["webhook-signature"])`,
  'C#': `static bool IsGenuine(string secret, string id, string at, string signature, byte[] body)
{
    if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(at)) > 300) return false;
    using var hmac = new HMACSHA256(Convert.FromBase64String(secret["whsec_".Length..]));
    byte[] head = Encoding.UTF8.GetBytes($"{id}.{at}.");
    byte[] expected = Encoding.ASCII.GetBytes("v1," + Convert.ToBase64String(hmac.ComputeHash([.. head, .. body])));
    return CryptographicOperations.FixedTimeEquals(expected, Encoding.ASCII.GetBytes(signature));
}`,
  Shell: `# WEBHOOK_ID, WEBHOOK_TIMESTAMP: headers; body.json: the bytes as they came
KEY=$(printf %s "\${ANNAL_WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -vtx1 | tr -d ' \\n')
{ printf '%s.%s.' "$WEBHOOK_ID" "$WEBHOOK_TIMESTAMP"; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64 | sed 's/^/v1,/'`,
} as const;

/** Shows how a receiver checks that a delivery is genuine. */
function Verify() {
  const [chosen, choose] = useState<keyof typeof CHECKS>('TypeScript');
  return (
    <section class="panel">
      <h2>{say('verify.title')}</h2>
      <p>{say('verify.says')}</p>
      <div class="acts">
        {(Object.keys(CHECKS) as (keyof typeof CHECKS)[]).map((name) => (
          <Button key={name} aria-pressed={name === chosen} onClick={() => choose(name)}>
            {name}
          </Button>
        ))}
      </div>
      <Code text={CHECKS[chosen]} label={say('verify.title')} />
    </section>
  );
}
