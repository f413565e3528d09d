/** A request in the log: who sent it, why it was refused, and the versions that it wrote. */
import { useEffect } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { annal, withQuery } from '../api.ts';
import { useCredentials } from '../credentials.ts';
import { pathOf, useProject } from '../here.ts';
import { useLoaded } from '../load.ts';
import { Head, Shown } from '../parts/parts.tsx';
import { AskReason, useNeedsReason } from '../parts/reason.tsx';
import { PLACE } from '../place.ts';
import { reasonHeaders } from '../reason.ts';
import { say, sayMoment } from '../texts/texts.ts';
import { mayAudit } from './audit/parts.tsx';
import { CalledBy, findLogPath, Status, sayMs } from './requests.tsx';

/** Returns the screen. */
export function RequestDetails() {
  const here = useProject();
  const id = useRoute().params.id ?? '';
  const needsReason = useNeedsReason();
  const { nameOf } = useCredentials();
  const details = useLoaded(
    (signal) =>
      annal.get(
        '/admin/projects/{project_id}/logs/{service_request_id}',
        { project_id: here.project, service_request_id: id },
        { signal, headers: here.environment === 'production' ? reasonHeaders(here.project) : {} },
      ),
    [here.project, id, needsReason],
  );
  const { route } = useLocation();
  const { environment: of = null } = details.value ?? {};
  // A link or a URL may name the other environment: the screen belongs to the environment of the request.
  useEffect(() => {
    if (of !== null && of !== here.environment)
      route(pathOf({ project: here.project, environment: of }, `/requests/${id}`), true);
  }, [of]);
  return (
    <>
      <p>
        <a href={findLogPath(here)}>{say('requests.title')}</a>
      </p>
      <Head title={say('requests.request')} about={<code>{id}</code>} />
      <Shown of={details}>
        {({ events, ...row }) => (
          <section class="panel">
            <dl>
              <dt>{say('requests.request')}</dt>
              <dd>
                <span class="method">{row.method}</span> <code>{row.path}</code>
              </dd>
              <dt>{say('requests.status')}</dt>
              <dd>
                <Status status={row.status} />
              </dd>
              <dt>{say('requests.when')}</dt>
              <dd>{sayMoment(row.ts)}</dd>
              <dt>{say('requests.took')}</dt>
              <dd>{sayMs(row.ms)}</dd>
              <dt>{say('requests.by')}</dt>
              <dd>
                <CalledBy row={row} nameOf={nameOf} />
              </dd>
              {row.error === null ? null : (
                <>
                  <dt>{say('request.error')}</dt>
                  <dd>
                    <code>{row.error.type}</code>
                    {row.error.fields.map(({ field, code }) => (
                      <div key={field}>
                        <code>{field}</code>: <code>{code}</code>
                      </div>
                    ))}
                    <a href={`${PLACE.base}/docs/errors#${row.error.type}`}>{say('request.error.means')}</a>
                  </dd>
                </>
              )}
              <dt>{say('request.wrote')}</dt>
              <dd>
                {events === null
                  ? say(needsReason ? 'request.reason' : 'request.notYours')
                  : events.length === 0
                    ? say('request.nothing')
                    : events.map(({ version, operation, event_id }) => (
                        <div key={version}>
                          {say(`request.${operation}`)}{' '}
                          {operation === 'delete' ? (
                            <code>{version}</code>
                          ) : (
                            <a href={withQuery(pathOf(here, '/try'), { path: `/fhir/R4/${version}` })}>
                              <code>{version}</code>
                            </a>
                          )}{' '}
                          {mayAudit(here) ? (
                            <a href={pathOf(here, `/audit/events/${event_id}`)}>{say('audit.event')}</a>
                          ) : null}
                        </div>
                      ))}
              </dd>
            </dl>
          </section>
        )}
      </Shown>
      {needsReason ? <AskReason /> : null}
    </>
  );
}
