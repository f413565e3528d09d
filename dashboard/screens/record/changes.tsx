/** The changes between two points in time, in sentences from the clinical reading. */

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Failure } from '../../api.ts';
import { type Loaded, useAct, useLoaded } from '../../load.ts';
import { toAsked, toLocal } from '../../moment-field.ts';
import { Badge, Button, Empty, Problem, Shown } from '../../parts/parts.tsx';
import { language, say, sayCount, sayMoment } from '../../texts/texts.ts';
import { Origin } from './glance.tsx';
import type { Change, Moments, RecordPlace } from './record-place.ts';
import { Compared } from './words.tsx';

const LIMIT = 100;
const DAY_MS = 86_400_000;
const TONES = { added: 'good', changed: 'plain', removed: 'bad' } as const;

/** Returns the part. */
export function Changes({
  place,
  moments,
}: {
  readonly place: RecordPlace;
  readonly moments: Loaded<Moments>;
}) {
  const { query, route } = useLocation();
  const to = query.to ?? '';
  // The day before the last change, unless an earlier time is shown.
  const last = moments.value?.data.at(-1)?.to;
  const before = last === undefined ? undefined : new Date(Date.parse(last) - DAY_MS).toISOString();
  const from = query.from ?? place.at ?? before;
  if (from === undefined) return <Shown of={moments}>{() => null}</Shown>;
  return (
    <>
      <form
        class="filters screen"
        aria-label={say('record.changes')}
        onSubmit={(event) => {
          event.preventDefault();
          const given = new FormData(event.currentTarget);
          const read = (name: string, asked: string): string =>
            toAsked(String(given.get(name) ?? ''), asked === '' ? '' : toLocal(new Date(asked)), asked);
          route(place.path({ part: 'changes', from: read('from', from) || from, to: read('to', to) }), true);
        }}
      >
        <label>
          {say('record.from')}{' '}
          <input
            key={from}
            name="from"
            type="datetime-local"
            step={1}
            required
            defaultValue={toLocal(new Date(from))}
          />
        </label>
        <label>
          {say('record.to')}{' '}
          <input
            key={to}
            name="to"
            type="datetime-local"
            step={1}
            defaultValue={to === '' ? '' : toLocal(new Date(to))}
          />
        </label>
        <Button type="submit">{say('record.show')}</Button>
      </form>
      <List key={JSON.stringify([from, to, ...place.keys])} place={place} from={from} to={to} />
    </>
  );
}

function List({
  place,
  from,
  to,
}: {
  readonly place: RecordPlace;
  readonly from: string;
  readonly to: string;
}) {
  const { records, ids } = place;
  const [more, setMore] = useState<readonly Change[]>([]);
  const [next, setNext] = useState<string | null>();
  const load = (cursor: string | undefined, signal?: AbortSignal) =>
    records.get(
      '/admin/projects/{project_id}/patients/{patient_id}/changes',
      {
        ...ids,
        from,
        ...(to === '' ? {} : { to }),
        limit: LIMIT,
        language: language.value,
        ...(cursor === undefined ? {} : { cursor }),
      },
      { signal },
    );
  const first = useLoaded((signal) => load(undefined, signal), [from, to]);
  const further = useAct(async (cursor: string) => {
    const { data, next_cursor } = await load(cursor);
    setMore((before) => [...before, ...data]);
    setNext(next_cursor);
  });
  const ends = { from: sayMoment(from), to: to === '' ? say('record.now') : sayMoment(to) };
  return (
    <Shown of={first}>
      {({ data, total, next_cursor }) => {
        const cursor = next === undefined ? next_cursor : next;
        return total === 0 ? (
          <Empty>
            <p>{say('record.changes.none', ends)}</p>
          </Empty>
        ) : (
          <>
            <p role="status">
              {sayCount('record.changes.count', total)}{' '}
              <span class="quiet">{say('record.changes.between', ends)}</span>
            </p>
            <ChangeList changes={[...data, ...more]} place={place} />
            <More cursor={cursor} failure={further.failure} busy={further.isRunning} load={further.run} />
          </>
        );
      }}
    </Shown>
  );
}

function More({
  cursor,
  failure,
  busy,
  load,
}: {
  readonly cursor: string | null;
  readonly failure: Failure | undefined;
  readonly busy: boolean;
  readonly load: (cursor: string) => Promise<unknown>;
}) {
  return (
    <>
      <Problem failure={failure} />
      {cursor === null ? null : (
        <p>
          <Button busy={busy} onClick={() => void load(cursor)}>
            {say('record.more')}
          </Button>
        </p>
      )}
    </>
  );
}

/** A list of changes. */
export function ChangeList({
  changes,
  place,
}: {
  readonly changes: readonly Change[];
  readonly place: RecordPlace;
}) {
  return (
    <ul class="changes panel lines">
      {changes.map((change) => (
        <li key={`${change.resource}/${change.version_after}`}>
          <p>
            <Badge tone={TONES[change.kind]}>{say(`record.change.${change.kind}`)}</Badge>{' '}
            <span class="quiet small">
              {change.type_text} · {sayMoment(change.at)}
            </span>
          </p>
          <ChangeText change={change} />
          {change.versions > 1 ? (
            <p class="small">
              <a href={place.entryPath(change.resource)}>
                {sayCount('record.changes.versions', change.versions)}
              </a>
            </p>
          ) : null}
          <Origin line={{ ...change, version: change.version_after }} place={place} />
        </li>
      ))}
    </ul>
  );
}

/** An entry's sentences before and after a change. */
export function ChangeText({
  change: { before, after, between, elements, kind },
}: {
  readonly change: Change;
}) {
  return (
    <>
      {between !== null ? (
        <p>
          <del>{between}</del>
        </p>
      ) : before === null || before === after ? (
        <p>{after}</p>
      ) : after === null ? (
        <p>
          <del>{before}</del>
        </p>
      ) : (
        <Compared before={before} after={after} />
      )}
      {kind === 'removed' && after === null ? (
        <p class="quiet small">{say(between === null ? 'record.deleted' : 'record.deleted.between')}</p>
      ) : null}
      {elements.length === 0 ? null : (
        <p class="quiet small">{say('record.elements', { elements: elements.join(', ') })}</p>
      )}
    </>
  );
}
