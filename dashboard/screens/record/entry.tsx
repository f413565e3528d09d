/** An entry of a record: its versions with their authors, two of them side by side, its FHIR JSON, and its proof. */
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { annal, openRecords } from '../../api.ts';
import { pathOf } from '../../here.ts';
import { indent } from '../../indent.ts';
import { justBefore } from '../../just-before.ts';
import { useLoaded } from '../../load.ts';
import { Badge, Button, Code, Head, Shown } from '../../parts/parts.tsx';
import { reasonHeaders } from '../../reason.ts';
import { includesRole } from '../../session.ts';
import { language, say, sayCount, sayMoment } from '../../texts/texts.ts';
import { ChangeText } from './changes.tsx';
import { sayAuthor } from './glance.tsx';
import { type Change, type RecordPlace, useRecord } from './record-place.ts';
import { Compared } from './words.tsx';

/** Returns the screen. */
export function RecordEntry() {
  const place = useRecord();
  const { params } = useRoute();
  const { query } = useLocation();
  const [type, id] = [params.type ?? '', params.entry ?? ''];
  const { keys } = place;
  const asked = query.version === undefined ? undefined : Number(query.version);
  const versions = useLoaded(
    (signal) => readVersions(place, { type, id, downTo: asked }, signal),
    [...keys, type, id],
  );
  return (
    <div class="record">
      <p class="screen">
        <a href={place.path()}>{say('record.back')}</a>
      </p>
      <Shown of={versions}>
        {({ data, total }) => {
          const [newest] = data;
          const shown = data.find(({ version_after }) => version_after === asked) ?? newest;
          if (shown === undefined) return null;
          const isOther = asked !== undefined && shown.version_after !== asked;
          const name = (shown.after ?? shown.before ?? type).split(':')[0] ?? type;
          return (
            <>
              <Head
                title={name}
                about={
                  <>
                    {shown.type_text} · <code>{shown.resource}</code>
                  </>
                }
              />
              {isOther ? (
                <p class="note warned">
                  {say('record.version.none', {
                    version: query.version ?? '',
                    newest: shown.version_after,
                  })}
                </p>
              ) : null}
              {shown === newest ? null : (
                <p class="note warned">
                  {say('record.older', { version: shown.version_after, newest: newest?.version_after ?? 0 })}{' '}
                  <a href={place.entryPath(shown.resource)}>{say('record.newest')}</a>
                </p>
              )}
              <Content change={shown} place={place} />
              <Versions versions={data} total={total} shown={shown} place={place} />
              <Proof key={shown.event_id} change={shown} place={place} />
            </>
          );
        }}
      </Shown>
    </div>
  );
}

/** The number of versions on a page, and the maximum number of pages that a link to an older version loads. */
const [PAGE, MOST_PAGES] = [200, 20];

/** Reads an entry's versions, newest first: a page of them, or as many as it takes to contain an older version. */
async function readVersions(
  { records, ids }: RecordPlace,
  { type, id, downTo }: { readonly type: string; readonly id: string; readonly downTo: number | undefined },
  signal: AbortSignal,
): Promise<{ readonly data: readonly Change[]; readonly total: number }> {
  const data: Change[] = [];
  let [total, cursor]: [number, string | undefined] = [0, undefined];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found: {
      readonly data: readonly Change[];
      readonly total: number;
      readonly next_cursor: string | null;
    } = await records.get(
      '/admin/projects/{project_id}/patients/{patient_id}/versions/{resource_type}/{resource_id}',
      {
        ...ids,
        resource_type: type,
        resource_id: id,
        limit: PAGE,
        language: language.value,
        ...(cursor === undefined ? {} : { cursor }),
      },
      { signal },
    );
    data.push(...found.data);
    total = found.total;
    cursor = found.next_cursor ?? undefined;
    const oldest = data.at(-1)?.version_after ?? 0;
    if (cursor === undefined || downTo === undefined || !(downTo < oldest)) break;
  }
  return { data, total };
}

/** A version, in sentences and as FHIR JSON. */
function Content({ change, place }: { readonly change: Change; readonly place: RecordPlace }) {
  const { resource, version_after: version, after, at, author, source, key } = change;
  const [isOpen, open] = useState(false);
  return (
    <section class="panel">
      <h2>{say('record.version', { version })}</h2>
      {after === null ? <p class="wrong">{say('record.deleted')}</p> : <p>{after}</p>}
      <dl>
        <dt>{say('record.when')}</dt>
        <dd>{sayMoment(at)}</dd>
        <dt>{say('record.author')}</dt>
        <dd>
          {author.type_text}
          {author.name === null ? '' : `: ${author.name}`}{' '}
          {author.type === 'ai' ? <Badge tone="warn">{say('record.unverified')}</Badge> : null}
        </dd>
        {key === null ? null : (
          <>
            <dt>{say('record.keyTitle')}</dt>
            <dd>{key}</dd>
          </>
        )}
        <dt>{say('record.source')}</dt>
        <dd>{source ?? <span class="quiet">{say('record.source.none')}</span>}</dd>
      </dl>
      {after === null ? null : (
        <details open={isOpen} onToggle={({ currentTarget }) => open(currentTarget.open)}>
          <summary>FHIR JSON</summary>
          {isOpen ? <Json resource={resource} version={version} place={place} /> : null}
        </details>
      )}
    </section>
  );
}

/** Reads a version as stored. */
function useJson(place: RecordPlace, resource: string, version: number | null) {
  return useLoaded(
    async (signal) => {
      if (version === null) return '';
      const path = `/fhir/R4/${resource}/_history/${version}`;
      return indent((await openRecords(place.here).send('GET', path, undefined, { signal })).text);
    },
    [resource, version],
  );
}

function Json({
  resource,
  version,
  place,
}: {
  readonly resource: string;
  readonly version: number;
  readonly place: RecordPlace;
}) {
  const json = useJson(place, resource, version);
  return <Shown of={json}>{(text) => <Code text={text} label={`${resource}/_history/${version}`} />}</Shown>;
}

/** All versions: who changed what. */
function Versions({
  versions,
  total,
  shown,
  place,
}: {
  readonly versions: readonly Change[];
  readonly total: number;
  readonly shown: Change;
  readonly place: RecordPlace;
}) {
  const [compared, compare] = useState<number>();
  return (
    <section class="panel" aria-labelledby="versions">
      <h2 id="versions">
        {say('record.versions')} <span class="quiet number">{total}</span>
      </h2>
      <ol class="lines">
        {versions.map((each) => {
          const {
            version_after: version,
            version_before: previous,
            kind,
            at,
            author,
            source,
            key,
            after,
          } = each;
          const isCompared = compared === version;
          return (
            <li key={version}>
              <p>
                <strong>{say('record.version', { version })}</strong>{' '}
                <Badge tone={kind === 'removed' ? 'bad' : kind === 'added' ? 'good' : 'plain'}>
                  {say(`record.change.${kind}`)}
                </Badge>{' '}
                <span class="quiet small">
                  {[sayMoment(at), sayAuthor(author, key), ...(source === null ? [] : [source])].join(' · ')}
                </span>
              </p>
              <ChangeText change={each} />
              <p class="acts small">
                {version === shown.version_after ? null : (
                  <a href={place.entryPath(each.resource, version)}>{say('record.see')}</a>
                )}
                <a href={place.path({ part: 'overview', at: justBefore(each.at) })}>
                  {say('audit.before.record')}
                </a>
                <a href={place.path({ part: 'overview', at: each.at })}>{say('record.recordThen')}</a>
                {previous === null || after === null ? null : (
                  <Button
                    tone="link"
                    aria-expanded={isCompared}
                    onClick={() => compare(isCompared ? undefined : version)}
                  >
                    {say('record.compare', { before: previous, after: version })}
                  </Button>
                )}
              </p>
              {isCompared && previous !== null ? (
                <Jsons resource={each.resource} before={previous} after={version} place={place} />
              ) : null}
            </li>
          );
        })}
      </ol>
      {total > versions.length ? (
        <p class="quiet">{sayCount('record.versions.more', total - versions.length)}</p>
      ) : null}
    </section>
  );
}

/** Two versions side by side as FHIR JSON. */
function Jsons({
  resource,
  before,
  after,
  place,
}: {
  readonly resource: string;
  readonly before: number;
  readonly after: number;
  readonly place: RecordPlace;
}) {
  const [one, other] = [useJson(place, resource, before), useJson(place, resource, after)];
  return (
    <Shown of={one}>
      {(earlier) => <Shown of={other}>{(later) => <Compared before={earlier} after={later} isCode />}</Shown>}
    </Shown>
  );
}

/** The version's event: its place in the hash chain, and the checkpoint that covers it. */
function Proof({ change, place }: { readonly change: Change; readonly place: RecordPlace }) {
  const { here } = place;
  const [isOpen, open] = useState(false);
  return (
    <details class="panel" open={isOpen} onToggle={({ currentTarget }) => open(currentTarget.open)}>
      <summary>{say('record.proof')}</summary>
      {!isOpen ? null : includesRole(here.role, 'auditor') ? (
        <OpenProof change={change} place={place} />
      ) : (
        <p class="note">{say('record.proof.notYours')}</p>
      )}
    </details>
  );
}

function OpenProof({ change, place }: { readonly change: Change; readonly place: RecordPlace }) {
  const { here } = place;
  const event = useLoaded(
    (signal) =>
      annal.get(
        '/admin/projects/{project_id}/events/{event_id}',
        { project_id: here.project, event_id: change.event_id },
        { signal, headers: here.environment === 'production' ? reasonHeaders(here.project) : {} },
      ),
    [here.project, change.event_id],
  );
  return (
    <Shown of={event}>
      {({ id, stream, revision, position, chain, credential }) => (
        <>
          <p>
            {chain.holds ? (
              <Badge tone="good">{say('record.proof.holds')}</Badge>
            ) : (
              <Badge tone="bad">{say('record.proof.broken')}</Badge>
            )}
          </p>
          <dl>
            <dt>{say('record.proof.event')}</dt>
            <dd>
              <code>{id}</code>
            </dd>
            <dt>{say('record.proof.stream')}</dt>
            <dd>
              <code>{stream}</code>, {say('record.proof.revision', { revision: revision ?? '–' })}
            </dd>
            <dt>{say('record.proof.position')}</dt>
            <dd>
              <code>{position ?? '–'}</code>
            </dd>
            <dt>{say('record.proof.credential')}</dt>
            <dd>
              {credential.kind} {credential.name ?? ''}
            </dd>
            <dt>{say('record.proof.hash')}</dt>
            <dd>
              <code>{chain.hash ?? '–'}</code>
            </dd>
            <dt>{say('record.proof.previous')}</dt>
            <dd>
              <code>{chain.previous ?? '–'}</code>
            </dd>
            <dt>{say('record.proof.checkpoint')}</dt>
            <dd>
              {chain.checkpoint === null ? (
                say('record.proof.none')
              ) : (
                <>
                  <code>{chain.checkpoint.id}</code>, {sayMoment(chain.checkpoint.time)}
                </>
              )}
            </dd>
          </dl>
          <p>
            <a href={pathOf(here, `/audit/events/${id}`)}>{say('record.proof.log')}</a>
          </p>
          <p class="quiet small">{say('record.proof.how')}</p>
        </>
      )}
    </Shown>
  );
}
