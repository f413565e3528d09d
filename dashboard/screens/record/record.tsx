/** A patient's record: who the patient is, what the record says now or at any time, and who read it. */
import { withQuery } from '../../api.ts';
import { pathOf } from '../../here.ts';
import { useLoaded } from '../../load.ts';
import { Button, Empty, Head, Shown } from '../../parts/parts.tsx';
import { language, say, sayMoment } from '../../texts/texts.ts';
import { AsOf } from './as-of.tsx';
import { Banner, RunningHead } from './banner.tsx';
import { Changes } from './changes.tsx';
import { Documents } from './documents.tsx';
import { Glance } from './glance.tsx';
import { Reads } from './reads.tsx';
import { PARTS, type RecordPlace, useRecord } from './record-place.ts';
import { Timeline } from './timeline.tsx';

/** The request with which the form for sending any request is first filled. */
const ADDING = { method: 'POST', path: '/v1/patients/{patient_id}/observations' } as const;

/** Returns the screen. */
export function PatientRecord() {
  const place = useRecord();
  const { here, patient, records, ids, asOf, keys, part, at } = place;
  const overview = useLoaded(
    (signal) =>
      records.get(
        '/admin/projects/{project_id}/patients/{patient_id}/overview',
        { ...ids, ...asOf, language: language.value },
        { signal },
      ),
    keys,
  );
  const moments = useLoaded(
    (signal) => records.get('/admin/projects/{project_id}/patients/{patient_id}/moments', ids, { signal }),
    keys.slice(0, 3),
  );
  const { value } = overview;
  const begins = moments.value?.data[0]?.from;
  const isBefore = at !== undefined && begins !== undefined && Date.parse(at) < Date.parse(begins);
  return (
    <div class={`record ${at === undefined ? '' : 'then'}`}>
      <Head title={value?.patient.name ?? say('record.title')}>
        {here.mayUse && here.environment === 'sandbox' && at === undefined ? (
          <a class="button screen" href={withQuery(pathOf(here, '/try'), { ...ADDING, patient_id: patient })}>
            {say('record.add')}
          </a>
        ) : null}
        <Button class="screen" onClick={() => print()}>
          {say('record.print')}
        </Button>
      </Head>
      {value === undefined ? null : <RunningHead overview={value} />}
      {value === undefined ? null : <Banner overview={value} isWhole={part === 'overview'} />}
      {at === undefined ? null : (
        <p class="note warned" role="status">
          <strong>{say('record.then', { at: sayMoment(at) })}</strong>{' '}
          <a class="screen" href={place.path({ part: 'changes', from: at })}>
            {say('record.since')}
          </a>
        </p>
      )}
      <AsOf place={place} moments={moments.value} />
      <Parts place={place} />
      {isBefore ? (
        <Empty>
          <p>{say('record.unborn', { at: sayMoment(begins) })}</p>
          <p>
            <a href={place.path({ at: begins })}>{say('record.unborn.first')}</a>
          </p>
        </Empty>
      ) : null}
      {part === 'overview' && !isBefore ? (
        <Shown of={overview}>{(shown) => <Glance overview={shown} place={place} />}</Shown>
      ) : null}
      {part === 'timeline' && !isBefore ? <Timeline place={place} /> : null}
      {part === 'documents' && !isBefore ? <Documents place={place} /> : null}
      {part === 'changes' ? <Changes place={place} moments={moments} /> : null}
      {part === 'reads' ? <Reads place={place} /> : null}
    </div>
  );
}

function Parts({ place }: { readonly place: RecordPlace }) {
  return (
    <nav class="parts-menu screen" aria-label={say('record.parts')}>
      {PARTS.map((part) => (
        <a key={part} href={place.path({ part })} aria-current={part === place.part ? 'page' : undefined}>
          {say(`record.${part}`)}
        </a>
      ))}
    </nav>
  );
}
