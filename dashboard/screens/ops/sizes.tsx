/** How large everything is, and how fast it grows. */
import { useMemo } from 'preact/hooks';
import { type Api, annal } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Chart, sayDate } from '../../parts/chart.tsx';
import { Head, Shown, Table } from '../../parts/parts.tsx';
import { language, say, sayBytes, sayCount, sayNumber, type TextKey, texts } from '../../texts/texts.ts';

type Sizes = Api.Sizes;

/** Growth is measured over this time, in days. */
const GROWTH_DAYS = 30;

/** Returns the screen. */
export function Sizes() {
  const sizes = useLoaded((signal) => annal.get('/admin/operations/sizes', {}, { signal }), []);
  return (
    <>
      <Head title={say('ops.sizes')} about={say('ops.sizes.says')} />
      <Shown of={sizes}>
        {(all) => (
          <>
            <Totals sizes={all} />
            {all.samples.length < 2 ? (
              <p class="note">{say('ops.sizes.young')}</p>
            ) : (
              <Growth samples={all.samples} />
            )}
            <Schemas sizes={all} />
          </>
        )}
      </Shown>
    </>
  );
}

function Totals({ sizes }: { readonly sizes: Sizes }) {
  const { database_bytes, log_bytes, documents, samples } = sizes;
  const before = findEarlier(samples);
  return (
    <section class="panel">
      <h2>{say('ops.sizes.now')}</h2>
      <dl>
        <dt>{say('ops.database')}</dt>
        <dd>
          {sayBytes(database_bytes)}{' '}
          <Grown now={database_bytes} before={before?.database_bytes} since={before?.date} />
        </dd>
        <dt>{say('ops.log')}</dt>
        <dd>{log_bytes === null ? say('ops.log.elsewhere') : sayBytes(log_bytes)}</dd>
        <dt>{say('ops.documents')}</dt>
        <dd>
          {documents === null
            ? say('ops.documents.unknown')
            : `${sayBytes(documents.bytes)} · ${sayCount('ops.documents', documents.count)}`}
        </dd>
      </dl>
    </section>
  );
}

/** How much something has grown since a given day. */
function Grown({
  now,
  before,
  since,
}: {
  readonly now: number;
  readonly before: number | undefined;
  readonly since?: string | undefined;
}) {
  if (before === undefined) return null;
  const grown = now - before;
  const text = `${grown < 0 ? '−' : '+'}${sayBytes(Math.abs(grown))}`;
  return (
    <span class="quiet">
      {since === undefined ? text : say('ops.grown', { bytes: text, date: sayDate(since) })}
    </span>
  );
}

/** Returns the oldest sample from the last 30 days, not counting today; undefined if there is none. */
function findEarlier(samples: Sizes['samples']): Sizes['samples'][number] | undefined {
  const today = new Date().toISOString().slice(0, 10);
  const from = new Date(Date.now() - GROWTH_DAYS * 86_400_000).toISOString().slice(0, 10);
  return samples.find(({ date }) => date >= from && date < today);
}

function Growth({ samples }: { readonly samples: Sizes['samples'] }) {
  const { dates, lines } = useMemo(
    () => ({
      dates: samples.map(({ date }) => date),
      lines: [
        {
          name: say('ops.database'),
          colour: '--accent',
          values: samples.map(({ database_bytes: bytes }) => bytes),
        },
        {
          name: say('ops.documents'),
          colour: '--warn',
          dash: [6, 4],
          values: samples.map(({ documents }) => documents?.bytes ?? null),
        },
      ],
    }),
    [samples, language.value],
  );
  return <Chart title={say('ops.growth')} dates={dates} lines={lines} sayValue={sayBytes} />;
}

/** Explains what a schema's tables are for. */
function SchemaPurpose({ name }: { readonly name: string }) {
  const [, model = name, rest] = /^(.*?)(_next|_old)?$/.exec(name) ?? [];
  const key = [`ops.schema.${model}`, `ops.model.${model}`].find((each) => each in texts.value);
  const text = rest === undefined ? key && say(key as TextKey) : say('ops.schema.rebuild', { name: model });
  return text === undefined ? null : <div class="quiet">{text}</div>;
}

function Schemas({ sizes: { schemas, database_bytes: all, samples } }: { readonly sizes: Sizes }) {
  const before = findEarlier(samples);
  return (
    <section class="stack">
      <h2>{say('ops.sizes.parts')}</h2>
      {schemas.map(({ name, bytes, tables }) => (
        <details key={name} class="delivery">
          <summary>
            <code>{name}</code> · <strong>{sayBytes(bytes)}</strong> ·{' '}
            {(bytes / all).toLocaleString(language.value, { style: 'percent' })}{' '}
            <Grown now={bytes} before={before?.schemas[name]} />
            <SchemaPurpose name={name} />
          </summary>
          <Table
            isStacked
            label={name}
            rows={tables}
            keyOf={(table) => table.name}
            columns={[
              { title: say('ops.table'), cell: (table) => <code>{table.name}</code> },
              { title: say('ops.size'), isNumber: true, cell: (table) => sayBytes(table.bytes) },
              {
                title: say('ops.rows'),
                isNumber: true,
                cell: ({ rows }) => (rows === null ? '–' : sayNumber(rows)),
              },
            ]}
          />
        </details>
      ))}
    </section>
  );
}
