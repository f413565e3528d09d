/** A record's documents, opened in place. */
import { useEffect, useState } from 'preact/hooks';
import type { Api } from '../../api.ts';
import { useLoaded } from '../../load.ts';
import { Badge, Button, Empty, Shown } from '../../parts/parts.tsx';
import { say, sayCount, sayDate, type TextKey } from '../../texts/texts.ts';
import type { RecordPlace } from './record-place.ts';

type Document = Api.Document;

/** Returns the part. */
export function Documents({ place }: { readonly place: RecordPlace }) {
  const { records, patient, asOf, keys } = place;
  const [open, setOpen] = useState<string>();
  const documents = useLoaded(
    (signal) =>
      records.get(
        '/v1/patients/{patient_id}/documents',
        { patient_id: patient, limit: 200, ...asOf },
        { signal },
      ),
    keys,
  );
  return (
    <Shown of={documents}>
      {({ data, total }) =>
        total === 0 ? (
          <Empty>
            <p>{say('record.documents.none')}</p>
          </Empty>
        ) : (
          <>
            <ul class="stacked documents">
              {data.map((document) => (
                <li key={document.id} class="panel">
                  <header class="head">
                    <div>
                      <h2>{document.title ?? say('record.documents.untitled')}</h2>
                      <p class="quiet">
                        {say(`record.document.${document.kind}` as TextKey)}
                        {document.date === null ? '' : ` · ${sayDate(document.date)}`}
                        {document.author_type === 'ai' ? (
                          <Badge tone="warn">{say('record.unverified')}</Badge>
                        ) : null}
                      </p>
                      <p class="quiet small">
                        {document.source_system ?? ''}{' '}
                        <a href={place.entryPath(`DocumentReference/${document.id}`, document.version)}>
                          {say('record.version', { version: document.version })}
                        </a>
                      </p>
                    </div>
                    {document.status === 'pending' ? (
                      <Badge tone="warn">{say('record.documents.pending')}</Badge>
                    ) : (
                      <Button
                        aria-expanded={open === document.id}
                        onClick={() => setOpen(open === document.id ? undefined : document.id)}
                      >
                        {say(open === document.id ? 'close' : 'record.documents.open')}
                        <span class="away"> {document.title}</span>
                      </Button>
                    )}
                  </header>
                  {open === document.id ? <Content document={document} place={place} /> : null}
                </li>
              ))}
            </ul>
            {total > data.length ? (
              <p class="quiet">{sayCount('record.documents.more', total - data.length)}</p>
            ) : null}
          </>
        )
      }
    </Shown>
  );
}

/** A document's bytes. */
interface Bytes {
  readonly url: string;
  /** Of texts. */
  readonly text: string | undefined;
}

/** Types to display here; other types could run scripts, or need a program. */
const SHOWN = /^(?:image\/(?:png|jpeg|gif|webp)|application\/pdf)$/;

function Content({ document, place }: { readonly document: Document; readonly place: RecordPlace }) {
  const { id, title, content_type } = document;
  const type = (content_type ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const bytes = useLoaded(
    async (signal): Promise<Bytes> => {
      const blob = await place.records.download(id, { signal });
      const isText = type.startsWith('text/') && type !== 'text/html';
      // The type determines how the browser displays the document: a document whose type isn't displayed here is only saved.
      const typed = blob.slice(0, blob.size, SHOWN.test(type) ? type : 'application/octet-stream');
      return { url: URL.createObjectURL(typed), text: isText ? await blob.text() : undefined };
    },
    [id],
  );
  const url = bytes.value?.url;
  useEffect(() => () => (url === undefined ? undefined : URL.revokeObjectURL(url)), [url]);
  return (
    <Shown of={bytes}>
      {({ url: from, text }) => (
        <div class="content">
          {text === undefined ? null : <pre>{text}</pre>}
          {text === undefined && type === 'application/pdf' ? (
            <iframe src={from} title={title ?? id} />
          ) : null}
          {text === undefined && SHOWN.test(type) && type !== 'application/pdf' ? (
            <img src={from} alt={title ?? id} />
          ) : null}
          {text === undefined && !SHOWN.test(type) ? (
            <p class="quiet">{say('record.documents.type', { type })}</p>
          ) : null}
          <p>
            <a href={from} download={title ?? id}>
              {say('record.documents.save')}
            </a>
          </p>
        </div>
      )}
    </Shown>
  );
}
