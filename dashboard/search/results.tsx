/** A page of results: a table, with the JSON below it. */
import { type Answer, withQuery } from '../api.ts';
import { pathOf, useProject } from '../here.ts';
import { Badge, Button, type Column, Empty, Table } from '../parts/parts.tsx';
import { Answered } from '../parts/program.tsx';
import { PLACE } from '../place.ts';
import { say, sayCount, sayMoment } from '../texts/texts.ts';
import { type Found, type Row, readFound } from './answer.ts';

/** Values of up to this number of characters stay on one line. */
const SHORT = 16;

/** Shows a response as a table if it is a page of results, and otherwise only as received. */
export function Results({
  answer,
  isBusy,
  onPage,
}: {
  readonly answer: Answer;
  readonly isBusy: boolean;
  readonly onPage: (path: string) => void;
}) {
  if (answer.status !== 200) return <Answered answer={answer} />;
  const found = readFound(answer.text);
  return (
    <div class="stacked">
      <section class="panel">
        <h2 aria-live="polite">
          {say('search.results')}{' '}
          {found.total === undefined ? null : (
            <span class="quiet">{sayCount('search.matches', Number(found.total))}</span>
          )}
        </h2>
        {found.notes.map((note) => (
          <p key={note} class="note">
            {note}
          </p>
        ))}
        <Rows found={found} />
        <div class="acts">
          {(['previous', 'next'] as const).map((relation) => {
            const url = found[relation];
            return url === undefined ? null : (
              <Button key={relation} busy={isBusy} onClick={() => onPage(pathIn(url))}>
                {say(`search.${relation}`)}
              </Button>
            );
          })}
        </div>
      </section>
      <Answered answer={answer} />
    </div>
  );
}

/** Returns the path of a link that the interfaces returned, for use with the gateway. */
function pathIn(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname.slice(PLACE.base.length) + search;
}

function Rows({ found: { rows, total } }: { readonly found: Found }) {
  const here = useProject();
  if (rows.length === 0)
    return total === undefined || total === '0' ? <Empty>{say('search.none')}</Empty> : null;
  const several = new Set(rows.map(({ type }) => type)).size > 1;
  const texts = (['status', 'date', 'value'] as const).filter((name) => rows.some((row) => row[name] !== ''));
  const columns: Column<Row>[] = [
    {
      title: say('search.what'),
      cell: ({ type, id, what, isIncluded }) => (
        <>
          {several ? <span class="quiet">{type} </span> : null}
          <a href={withQuery(pathOf(here, '/try'), { path: `/fhir/R4/${type}/${id}` })}>{what || id}</a>{' '}
          {isIncluded ? <Badge>{say('search.included')}</Badge> : null}
        </>
      ),
    },
    ...texts.map((name) => ({
      title: say(`search.${name}`),
      cell: (row: Row) => (
        <span class={name === 'date' || row[name].length <= SHORT ? 'whole' : ''}>{row[name]}</span>
      ),
    })),
    {
      title: say('search.lastUpdated'),
      isWide: true,
      cell: ({ lastUpdated }) =>
        lastUpdated === '' ? '' : <time dateTime={lastUpdated}>{sayMoment(lastUpdated)}</time>,
    },
    { title: 'Id', cell: ({ id }) => <code class="whole">{id}</code> },
  ];
  return (
    <Table
      label={say('search.results')}
      rows={rows}
      keyOf={({ type, id, lastUpdated }) => `${type}/${id} ${lastUpdated}`}
      columns={columns}
    />
  );
}
