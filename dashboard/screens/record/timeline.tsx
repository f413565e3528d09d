/** A record's events, newest first, as a list that can scroll through decades. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Api } from '../../api.ts';
import { useAct } from '../../load.ts';
import { LongTable } from '../../parts/long-table.tsx';
import { Button, type Column, Empty, Problem } from '../../parts/parts.tsx';
import { language, say, sayCount, type TextKey } from '../../texts/texts.ts';
import { sayAuthor } from './glance.tsx';
import type { RecordPlace } from './record-place.ts';

type Entry = Api.RecordEvent;

const KINDS = [
  ...([
    'document',
    'observation',
    'medication',
    'prescription',
    'condition',
    'allergy',
    'encounter',
  ] as const),
  ...(['procedure', 'immunization', 'report', 'care_plan', 'goal'] as const),
];
type Kind = (typeof KINDS)[number];

/** Number of entries per page: drawing a longer page on a slow processor would make scrolling stutter. */
const LIMIT = 30;

/** Returns the part. */
export function Timeline({ place }: { readonly place: RecordPlace }) {
  const { query } = useLocation();
  const [kind, choose] = useState<Kind | undefined>(KINDS.find((each) => each === query.kind));
  const [year, jump] = useState<string>();
  return (
    <>
      <form
        class="filters screen"
        aria-label={say('record.timeline')}
        onSubmit={(event) => {
          event.preventDefault();
          const given = String(new FormData(event.currentTarget).get('year'));
          jump(/^\d{4}$/.test(given) ? given : undefined);
        }}
      >
        <label>
          {say('record.kind')}{' '}
          <select
            onChange={({ currentTarget }) => choose(KINDS.find((each) => each === currentTarget.value))}
            value={kind ?? ''}
          >
            <option value="">{say('record.kind.all')}</option>
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {say(`record.kind.${each}` as TextKey)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {say('record.year')} <input name="year" inputMode="numeric" pattern="\d{4}" size={6} />
        </label>
        <Button type="submit">{say('record.show')}</Button>
      </form>
      <Events key={JSON.stringify([kind, year, ...place.keys])} place={place} kind={kind} year={year} />
    </>
  );
}

function Events({
  place,
  kind,
  year,
}: {
  readonly place: RecordPlace;
  readonly kind: Kind | undefined;
  readonly year: string | undefined;
}) {
  const [pages, setPages] = useState<readonly (readonly Entry[])[]>([]);
  const [end, setEnd] = useState<{ readonly total: number; readonly next: string | null }>();
  const isLoading = useRef(false);
  const { records, ids, asOf } = place;
  const loading = useAct(async (cursor: string | undefined) => {
    const { data, total, next_cursor } = await records.get(
      '/admin/projects/{project_id}/patients/{patient_id}/timeline',
      {
        ...ids,
        ...asOf,
        limit: LIMIT,
        language: language.value,
        kinds: kind === undefined ? [...KINDS] : [kind],
        ...(year === undefined ? {} : { to: `${year}-12-31` }),
        ...(cursor === undefined ? {} : { cursor }),
      },
    );
    setPages((before) => [...before, data]);
    setEnd({ total, next: next_cursor });
  });
  const ask = async (cursor: string | undefined): Promise<void> => {
    if (isLoading.current) return;
    isLoading.current = true;
    await loading.run(cursor);
    isLoading.current = false;
  };
  useEffect(() => void ask(undefined), []);
  const columns = useMemo(() => makeColumns(place), []);
  const next = end?.next ?? undefined;
  return (
    <>
      {end === undefined ? (
        loading.failure === undefined ? (
          <p class="loading quiet">{say('loading')}</p>
        ) : null
      ) : end.total === 0 ? (
        <Empty>
          <p>{say('record.timeline.none')}</p>
        </Empty>
      ) : (
        <>
          <p class="quiet" role="status">
            {sayCount('record.entries', end.total)}
          </p>
          <LongTable
            label={say('record.timeline')}
            pages={pages}
            columns={columns}
            keyOf={keyOf}
            onEnd={next === undefined ? undefined : () => void ask(next)}
          />
        </>
      )}
      {/* Below the entries: there the person is when a further page can't be loaded. */}
      <Problem failure={loading.failure} />
      {loading.failure === undefined ? null : (
        <p>
          <Button onClick={() => void ask(next)}>{say('again')}</Button>
        </p>
      )}
    </>
  );
}

const keyOf = ({ resource }: Entry): string => resource;

function makeColumns(place: RecordPlace): readonly Column<Entry>[] {
  return [
    {
      title: say('record.day'),
      cell: ({ when, resource, version }) => <a href={place.entryPath(resource, version)}>{when}</a>,
    },
    {
      title: say('record.what'),
      cell: ({ text, kind_text, author }) => (
        <>
          {text}
          <div class="quiet small">
            {kind_text}
            {author.type === 'ai' ? ` · ${say('record.unverified')}` : ''}
          </div>
        </>
      ),
    },
    { title: say('record.author'), isWide: true, cell: ({ author, key }) => sayAuthor(author, key) },
    { title: say('record.source'), isWide: true, cell: ({ source }) => source ?? '' },
    { title: say('record.versionTitle'), isNumber: true, isWide: true, cell: ({ version }) => version },
  ];
}
