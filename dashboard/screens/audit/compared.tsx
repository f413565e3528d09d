/** The part of a report that says what a verification compared and what it left out (docs/audit.md, "annal verify"). */
import type { Api } from '../../api.ts';
import { PLACE } from '../../place.ts';
import { say, sayNumber, type TextKey } from '../../texts/texts.ts';

type Verification = Api.Verification;
type Report = NonNullable<Verification['report']>;

/**
 * The checks that each kind of verification leaves out: some are made only by a full verification, and some by no
 * verification.
 */
const LEFT_OUT: Readonly<Record<Verification['scope']['kind'], readonly TextKey[]>> = {
  all: ['audit.leaves.order'],
  project: ['audit.leaves.models', 'audit.leaves.counts', 'audit.leaves.streams', 'audit.leaves.order'],
  record: ['audit.leaves.models', 'audit.leaves.counts', 'audit.leaves.streams', 'audit.leaves.order'],
};

/** Returns this part of the report. */
export function Compared({ job, report }: { readonly job: Verification; readonly report: Report }) {
  const { events, streams, compared, lagging } = report;
  const { kind } = job.scope;
  const others: readonly (readonly [TextKey, string])[] =
    compared === null
      ? [['audit.compared.documents', say('audit.compared.unknown')]]
      : [
          ['audit.compared.documents', sayNumber(compared.documents)],
          [
            'audit.compared.logs',
            say('audit.compared.logs.count', {
              entries: compared.access_entries,
              patients: compared.access_logs,
            }),
          ],
          ['audit.compared.models', compared.read_models.join(', ')],
        ];
  const facts: readonly (readonly [TextKey, string])[] = [
    ['audit.compared.environments', say(`audit.compared.environments.${kind}`)],
    ['audit.compared.chains', say('audit.compared.chains.count', { events, streams })],
    ...others,
    ['audit.compared.checkpoint', say('audit.compared.checkpoint.none')],
  ];
  return (
    <section class="panel">
      <h2>{say('audit.compared')}</h2>
      <dl>
        {facts.map(([name, value]) => (
          <>
            <dt>{say(name)}</dt>
            <dd>{value}</dd>
          </>
        ))}
        <dt>{say('audit.leaves')}</dt>
        <dd>
          <ul class="bullets">
            {LEFT_OUT[kind].map((name) => (
              <li key={name}>{say(name)}</li>
            ))}
            {lagging.map(({ read_model, behind }) => (
              <li key={read_model}>{say('audit.leaves.lagging', { model: read_model, count: behind })}</li>
            ))}
          </ul>
        </dd>
      </dl>
      <p class="quiet">
        {kind === 'all' ? null : say('audit.leaves.whole')}{' '}
        <a href={`${PLACE.base}/docs/guides/audit#annal-verify`}>{say('audit.leaves.guide')}</a>
      </p>
    </section>
  );
}
