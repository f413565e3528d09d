/** Who read the record: the same list that the patient sees. */
import { useLoaded } from '../../load.ts';
import { Badge, Empty, Shown, Table } from '../../parts/parts.tsx';
import { sayAction } from '../../parts/read-action.ts';
import { say, sayCount, sayMoment } from '../../texts/texts.ts';
import type { RecordPlace } from './record-place.ts';

/** Returns the part. */
export function Reads({ place }: { readonly place: RecordPlace }) {
  const { records, patient, keys } = place;
  const reads = useLoaded(
    (signal) =>
      records.get('/v1/patients/{patient_id}/access-log', { patient_id: patient, limit: 200 }, { signal }),
    keys.slice(0, 3),
  );
  return (
    <Shown of={reads}>
      {({ data, total }) =>
        data.length === 0 ? (
          <Empty>
            <p>{say('record.reads.none')}</p>
          </Empty>
        ) : (
          <>
            <p class="quiet">{say('record.reads.says')}</p>
            <Table
              label={say('record.reads')}
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: say('record.when'), cell: ({ ts }) => <span class="whole">{sayMoment(ts)}</span> },
                {
                  title: say('record.who'),
                  cell: ({ actor, actor_ref }) => actor ?? <code>{actor_ref}</code>,
                },
                {
                  title: say('record.read'),
                  cell: ({ action, resource_type, count, status }) => (
                    <>
                      <span title={action}>{sayAction(action)}</span> {resource_type ?? ''}{' '}
                      {count === null ? null : <span class="quiet">{sayCount('record.entries', count)}</span>}{' '}
                      {status === 'ok' ? null : <Badge tone="warn">{status}</Badge>}
                    </>
                  ),
                },
                { title: say('record.reason'), isWide: true, cell: ({ purpose }) => purpose ?? '' },
              ]}
            />
            {total > data.length ? (
              <p class="quiet">{sayCount('record.reads.more', total - data.length)}</p>
            ) : null}
          </>
        )
      }
    </Shown>
  );
}
