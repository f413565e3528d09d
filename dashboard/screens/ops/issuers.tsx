/** The issuers of ID tokens, and the keys that the service has from each issuer. */
import { type Api, annal } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Ago, Badge, Empty, Head, Shown, Table } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';

type Issuer = Api.Issuer;

/** Returns the screen. */
export function Issuers() {
  const issuers = useLoaded(
    async (signal) => (await annal.get('/admin/operations/issuers', {}, { signal })).data,
    [],
  );
  return (
    <>
      <Head title={say('ops.issuers')} about={say('ops.issuers.says')} />
      <Shown of={issuers}>
        {(all) =>
          all.length === 0 ? (
            <Empty>
              <p>{say('ops.issuers.none')}</p>
            </Empty>
          ) : (
            all.map((issuer) => <IssuerPanel key={issuer.issuer} issuer={issuer} />)
          )
        }
      </Shown>
    </>
  );
}

function IssuerPanel({
  issuer: { issuer, audiences, keys, fetched_at, failed_at, failure },
}: {
  readonly issuer: Issuer;
}) {
  return (
    <section class="panel">
      <h2>
        <code>{issuer}</code>{' '}
        <Badge tone={failure === null ? 'good' : 'bad'}>
          {say(failure === null ? 'ops.issuer.answers' : 'ops.issuer.away')}
        </Badge>
      </h2>
      {failure === null ? null : (
        <p class="problem">
          {failure} · <Ago at={failed_at} />
        </p>
      )}
      <dl>
        <dt>{say('ops.issuer.for')}</dt>
        <dd>
          {audiences === null
            ? say('ops.issuer.sso')
            : audiences.map((each) => <code key={each}>{each} </code>)}
        </dd>
        <dt>{say('ops.issuer.fetched')}</dt>
        <dd>
          <Ago at={fetched_at} />
        </dd>
      </dl>
      {keys.length === 0 ? (
        <p class="quiet">{say('ops.issuer.noKeys')}</p>
      ) : (
        <Table
          isStacked
          label={say('ops.issuer.keys')}
          rows={keys}
          keyOf={({ kid, kty, alg }) => `${kid} ${kty} ${alg}`}
          columns={[
            { title: say('ops.issuer.kid'), cell: ({ kid }) => <code>{kid ?? '–'}</code> },
            { title: say('ops.issuer.alg'), cell: ({ alg, kty }) => alg ?? kty },
          ]}
        />
      )}
    </section>
  );
}
