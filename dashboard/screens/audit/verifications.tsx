/** Verifications of the project and its records, and the installation's checkpoints. */
import { useLocation, useRoute } from 'preact-iso';
import { annal } from '../../api.ts';
import { pathOf, useProject } from '../../here.ts';
import { useAct } from '../../load.ts';
import { Button, Field, Head, Problem } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';
import { Checkpoints } from './checkpoints.tsx';
import { AuditHead, FindPatient } from './parts.tsx';
import { useVerifications, VerificationList, VerificationView } from './verifying.tsx';

/** Returns the screen. */
export function Verifications() {
  const here = useProject();
  const { query } = useLocation();
  const verifications = useVerifications(here.project);
  const starting = useAct(async (patient: string) => {
    const { project } = here;
    await annal.post('/admin/operations/verifications', {
      body: { scope: patient === '' ? { project } : { project, patient } },
    });
    await verifications.reload();
    return true;
  });
  return (
    <>
      <AuditHead title="audit.verifications" about="audit.verifications.says" />
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          const given = String(new FormData(event.currentTarget).get('patient')).trim();
          void starting.run(given.replace(/^Patient\//, ''));
        }}
      >
        <Field
          name="patient"
          label={say('audit.verify.patient')}
          hint={
            <>
              {say('audit.verify.patient.hint')} <FindPatient />
            </>
          }
          failure={starting.failure}
        >
          {(attributes) => <input {...attributes} autocomplete="off" defaultValue={query.patient ?? ''} />}
        </Field>
        <Problem failure={starting.failure} />
        <p>
          <Button type="submit" tone="primary" busy={starting.isRunning}>
            {say('audit.verify.start')}
          </Button>
        </p>
      </form>
      <VerificationList
        verifications={verifications}
        pathTo={(id) => pathOf(here, `/audit/verifications/${id}`)}
      />
      <Checkpoints project={here.project} />
    </>
  );
}

/** Returns the screen of one verification. */
export function VerificationDetails() {
  const here = useProject();
  const id = useRoute().params.job ?? '';
  return (
    <>
      <p>
        <a href={pathOf(here, '/audit/verifications')}>{say('audit.verifications')}</a>
      </p>
      <Head title={say('audit.verification')} about={<code>{id}</code>} />
      <VerificationView id={id} eventPath={(event) => pathOf(here, `/audit/events/${event}`)} />
    </>
  );
}
