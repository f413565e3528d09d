/** Signed files: a record, a resource's history, or search results. */
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { useProject } from '../../here.ts';
import { Button, Field, Problem } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';
import { AuditHead, type Exported, FindPatient, HowToCheck, useExport, useSaved } from './parts.tsx';

const KINDS = ['record', 'history', 'search'] as const;
type Kind = (typeof KINDS)[number];

/** The member of the request that specifies the export's subject. */
const MEMBER = { record: 'patient', history: 'resource', search: 'query' } as const;

/** Returns the screen. */
export function Exports() {
  const here = useProject();
  const { query } = useLocation();
  const [kind, setKind] = useState<Kind>(KINDS.find((each) => each === query.kind) ?? 'record');
  const exporting = useExport();
  const saved = useSaved(exporting);
  const member = MEMBER[kind];
  return (
    <>
      <AuditHead title="audit.exports" about="audit.exports.says" />
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const of = String(form.get(member)).trim();
          const at = String(form.get('as_of')).trim();
          void saved.run(toExport(kind, of, at === '' ? undefined : at, here.environment));
        }}
      >
        <fieldset>
          <legend>{say('audit.kind')}</legend>
          {KINDS.map((each) => (
            <label key={each} class="tick">
              <input
                type="radio"
                name="kind"
                value={each}
                checked={each === kind}
                onChange={() => setKind(each)}
              />
              <span>
                <strong>{say(`audit.kind.${each}`)}</strong>
                <span class="quiet">{say(`audit.kind.${each}.says`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Field
          key={member}
          name={member}
          label={say(`audit.export.${kind}`)}
          hint={
            <>
              {say(`audit.export.${kind}.hint`)} {kind === 'history' ? null : <FindPatient />}
            </>
          }
          failure={exporting.failure}
        >
          {(attributes) => (
            <input {...attributes} required autocomplete="off" defaultValue={query[member] ?? ''} />
          )}
        </Field>
        <Field
          name="as_of"
          label={say('audit.asOf')}
          hint={say('audit.asOf.hint')}
          failure={exporting.failure}
        >
          {(attributes) => <input {...attributes} autocomplete="off" placeholder="2026-11-21T09:30:00Z" />}
        </Field>
        <Problem failure={exporting.failure} />
        <p>
          <Button type="submit" tone="primary" busy={exporting.isRunning}>
            {say('audit.export')}
          </Button>
        </p>
        {saved.value === undefined ? null : <HowToCheck saved={saved.value} />}
      </form>
    </>
  );
}

function toExport(
  kind: Kind,
  of: string,
  asOf: string | undefined,
  environment: 'sandbox' | 'production',
): Exported {
  const at = asOf === undefined ? {} : { as_of: asOf };
  if (kind === 'record') return { kind, patient: of.replace(/^Patient\//, ''), ...at };
  if (kind === 'history') return { kind, resource: of, ...at };
  return { kind, query: of, environment, ...at };
}
