/** The newest result of each kind, abnormal results first, each with its chart. */
import { useState } from 'preact/hooks';
import { Badge, Button } from '../../parts/parts.tsx';
import { say, sayCount } from '../../texts/texts.ts';
import { ResultChart } from './chart.tsx';
import { Origin, Unverified } from './glance.tsx';
import type { Overview, RecordPlace, Result } from './record-place.ts';

type All = Overview['results'];

const TONES = { critical: 'bad', out: 'warn', good: 'good' } as const;

/** Results that are abnormal or outside their range, most serious first. */
export function Abnormal({ results, place }: { readonly results: All; readonly place: RecordPlace }) {
  const { abnormal, abnormal_none, unjudged } = results;
  return (
    <section class="panel list abnormal screen" aria-labelledby="abnormal">
      <h2 id="abnormal">
        {say('record.abnormal')}{' '}
        {abnormal.length === 0 ? null : <span class="quiet number">{abnormal.length}</span>}
      </h2>
      {abnormal_none === null ? null : <p class="quiet">{abnormal_none}</p>}
      <ul class="lines">
        {abnormal.map((result) => (
          <li key={result.resource}>
            <p>
              <strong>{result.title}</strong>{' '}
              <span class={result.grade === 'critical' ? 'wrong' : ''}>{result.value}</span>{' '}
              <Judged result={result} />
            </p>
            <p class="details">
              {[
                result.when,
                ...(result.range === null ? [] : [say('record.range', { range: result.range })]),
              ].join(' · ')}
              {result.later === null ? null : ` (${result.later})`}
            </p>
            <Beside result={result} />
            <Origin line={result} place={place} />
          </li>
        ))}
      </ul>
      {unjudged === 0 ? null : <p>{sayCount('record.unjudged', unjudged)}</p>}
    </section>
  );
}

function Judged({ result: { judgement, grade, status } }: { readonly result: Result }) {
  return (
    <>
      {judgement === null ? null : <Badge tone={grade === null ? 'plain' : TONES[grade]}>{judgement}</Badge>}{' '}
      {status === 'preliminary' ? <Badge tone="warn">{say('record.preliminary')}</Badge> : null}
    </>
  );
}

/** Other values from the same time, if it isn't known which one is right, and the changes that a later version made. */
function Beside({ result: { beside, changed } }: { readonly result: Result }) {
  return (
    <>
      {beside === null ? null : (
        <p>
          <Badge tone="warn">{beside}</Badge>
        </p>
      )}
      {changed === null ? null : <p class="small">{changed}</p>}
    </>
  );
}

/** All kinds of results, with abnormal results first. */
export function Results({ results, place }: { readonly results: All; readonly place: RecordPlace }) {
  const { abnormal, latest, unverified, left_out, not_done } = results;
  const first = new Set(abnormal.map(({ resource }) => resource));
  const rows = [...abnormal, ...latest.filter(({ resource }) => !first.has(resource))];
  return (
    <section class="panel results" aria-labelledby="results">
      <h2 id="results">
        {say('record.results')} {rows.length === 0 ? null : <span class="quiet number">{rows.length}</span>}
      </h2>
      {rows.length === 0 ? (
        <p class="quiet">{results.abnormal_none}</p>
      ) : (
        <ResultTable rows={rows} place={place} />
      )}
      {left_out.length === 0 ? null : (
        <p class="note warned">{sayCount('record.leftOut', left_out.length)}</p>
      )}
      {not_done === 0 ? null : <p class="quiet small">{sayCount('record.notDone', not_done)}</p>}
      <Unverified lines={unverified} place={place} />
    </section>
  );
}

/** A reference range. On a phone, where the table has no header, its label is shown too. */
function Range({ range }: { readonly range: string }) {
  return (
    <>
      <span class="narrow quiet">{say('record.rangeTitle')}: </span>
      {range}
    </>
  );
}

function ResultTable({ rows, place }: { readonly rows: readonly Result[]; readonly place: RecordPlace }) {
  const [open, setOpen] = useState<string>();
  return (
    <div class="scroll">
      <table aria-labelledby="results">
        <thead>
          <tr>
            <th scope="col">{say('record.what')}</th>
            <th scope="col">{say('record.value')}</th>
            <th scope="col">{say('record.rangeTitle')}</th>
            <th scope="col">{say('record.day')}</th>
            <th scope="col" class="screen">
              <span class="away">{say('record.chart')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((result) => (
            <Row
              key={result.resource}
              result={result}
              place={place}
              isOpen={open === result.resource}
              open={setOpen}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({
  result,
  place,
  isOpen,
  open,
}: {
  readonly result: Result;
  readonly place: RecordPlace;
  readonly isOpen: boolean;
  readonly open: (resource: string | undefined) => void;
}) {
  const { title, value, range, when, resource, code, grade, later } = result;
  return (
    <>
      <tr>
        <th scope="row">{title}</th>
        <td>
          <span class={grade === 'critical' ? 'wrong' : ''}>{value}</span> <Judged result={result} />
          <Beside result={result} />
        </td>
        <td>{range === null ? <span class="quiet wide">–</span> : <Range range={range} />}</td>
        <td>
          {when}
          {later === null ? null : <span class="quiet small"> ({later})</span>}
          <Origin line={result} place={place} />
        </td>
        <td class="screen">
          {code === null ? null : (
            <Button tone="link" aria-expanded={isOpen} onClick={() => open(isOpen ? undefined : resource)}>
              {say('record.chart')}
              <span class="away"> {title}</span>
            </Button>
          )}
        </td>
      </tr>
      {isOpen && code !== null ? (
        <tr class="screen">
          <td colSpan={5}>
            <ResultChart code={code} title={title} place={place} />
          </td>
        </tr>
      ) : null}
    </>
  );
}
