/** Who may have read the data that is taken back, as far as the service knows. */
import type { Api, Of } from '../../api.ts';
import { pathOf } from '../../here.ts';
import { useLoaded } from '../../load.ts';
import { say, sayCount } from '../../texts/texts.ts';
import { listEndpoints } from '../webhooks.tsx';

type TakebackTold = NonNullable<Api.Takeback['plan']>['told'];

/** Returns this part of the screen. */
export function Told({ told, of }: { readonly told: TakebackTold; readonly of: Of }) {
  const { deliveries, endpoints } = told.webhooks;
  const listed = useLoaded(
    (signal) => (endpoints.length === 0 ? Promise.resolve([]) : listEndpoints(of, signal)),
    [of.project, of.environment, endpoints.length],
  );
  const urls = new Map(listed.value?.map(({ id, url }) => [id, url]));
  const lines = (
    [
      [told.exports, 'takeback.told.exports'],
      [told.shared_links, 'takeback.told.links'],
      [told.contexts, 'takeback.told.contexts'],
      [told.receipts ?? 0, 'takeback.told.answers'],
      [deliveries, 'takeback.told.webhooks'],
    ] as const
  ).filter(([count]) => count > 0);
  return (
    <section class="panel">
      <h2>{say('takeback.told')}</h2>
      {lines.length === 0 ? (
        <p>{say('takeback.told.none')}</p>
      ) : (
        <>
          <ul class="bullets">
            {lines.map(([count, key]) => (
              <li key={key}>
                {sayCount(key, count)}
                {key !== 'takeback.told.webhooks'
                  ? null
                  : endpoints.map((id) => (
                      <div key={id}>
                        <a href={pathOf(of, `/webhooks/${id}`)}>{urls.get(id) ?? id}</a>
                      </div>
                    ))}
              </li>
            ))}
          </ul>
          <p class="quiet">{say('takeback.told.says')}</p>
        </>
      )}
    </section>
  );
}
