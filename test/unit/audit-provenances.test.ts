/** Clients' own Provenances, combined with the versions that they are about. */
import { expect } from 'chai';
import { writeSentence } from '#src/audit/provenances.ts';
import { readHistory } from '#src/audit/versions.ts';
import type { NewEvent } from '#src/events/store.ts';
import { created, deleted, updated } from '#test/projections/made.ts';
import { recorded } from '#test/support/audit-files.ts';

const [PATIENT, OTHER, WHY, THEN] = [1, 2, 3, 4].map((n) => `018f0000-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];

const about = (targets: readonly string[], reason: string) => ({
  target: targets.map((reference) => ({ reference })),
  recorded: '2026-03-01T10:00:00Z',
  reason: [{ text: reason }, { coding: [{ display: 'treatment', code: 'TREAT' }] }],
  activity: { coding: [{ code: 'UPDATE' }] },
  agent: [
    {
      type: { coding: [{ code: 'author' }] },
      who: { reference: 'Practitioner/7' },
      onBehalfOf: { display: 'Clinic' },
    },
    { who: { identifier: { value: 'x-1' } } },
  ],
});

describe('the Provenances of a history', () => {
  /** Returns `Type/id version: reasons` for the versions that a Provenance is about. */
  const said = async (events: readonly NewEvent[], only?: string): Promise<string[]> => {
    const { versions } = await readHistory(recorded(`record-${PATIENT}`, events), only);
    return versions
      .filter(({ provenances }) => provenances.length > 0)
      .map(({ resource, version, provenances }) =>
        [resource.slice(-1), version, ...provenances.map(({ reason }) => reason[0])].join(' '),
      );
  };

  it('say why, what was done, who took part, and when', async () => {
    const { versions } = await readHistory(
      recorded(`record-${PATIENT}`, [
        created('Patient', PATIENT),
        created('Provenance', WHY, about([`Patient/${PATIENT}`], 'asked for')),
      ]),
    );
    const [first] = versions.at(-1)?.provenances ?? [];
    expect(first).to.deep.equal({
      reference: `Provenance/${WHY}`,
      reason: ['asked for', 'treatment'],
      activity: 'UPDATE',
      agents: [
        {
          type: 'author',
          who: 'Practitioner/7',
          who_name: null,
          on_behalf_of: 'Clinic',
          on_behalf_of_name: 'Clinic',
        },
        { type: null, who: 'x-1', who_name: null, on_behalf_of: null, on_behalf_of_name: null },
      ],
      recorded: '2026-03-01T10:00:00Z',
    });
    expect(first && writeSentence(first)).to.equal(
      `asked for, treatment; UPDATE; author Practitioner/7 on behalf of Clinic; x-1 (Provenance/${WHY}, recorded 2026-03-01T10:00:00Z)`,
    );
  });

  it('are about the version that a target names, else the one that it had then', async () => {
    const events = [
      created('Patient', PATIENT),
      created('Observation', OTHER),
      updated('Patient', PATIENT, 2),
      created(
        'Provenance',
        WHY,
        about([`Patient/${PATIENT}/_history/1`, `https://here/fhir/R4/Observation/${OTHER}`], 'both'),
      ),
      created('Provenance', THEN, about([`Patient/${PATIENT}`], 'then')),
      updated('Patient', PATIENT, 3),
      updated('Observation', OTHER, 2),
    ];
    expect(await said(events)).to.deep.equal(['1 2 then', '2 1 both', '1 1 both']);
    expect(await said(events, OTHER)).to.deep.equal(['2 1 both']);
  });

  it('are about what the same append wrote, in whatever order', async () => {
    const whole = about([`Patient/${PATIENT}`], 'together');
    expect(
      await said([
        created('Patient', PATIENT),
        created('Provenance', WHY, whole, { append: [0, 2] }),
        ...[updated('Patient', PATIENT, 2)].map((event) => ({
          ...event,
          metadata: event.metadata.replace('"append":[0,1]', '"append":[1,2]'),
        })),
        updated('Patient', PATIENT, 3),
      ]),
    ).to.deep.equal(['1 2 together']);
  });

  it('count as they were last said, about the version that they were first said of', async () => {
    const events = [
      created('Patient', PATIENT),
      created('Provenance', WHY, about([`Patient/${PATIENT}`], 'before')),
      updated('Patient', PATIENT, 2),
      updated('Provenance', WHY, 2, about([`Patient/${PATIENT}`], 'corrected')),
    ];
    expect(await said(events)).to.deep.equal(['1 1 corrected']);
    expect(await said([...events, deleted('Provenance', WHY, 3)])).to.deep.equal([]);
  });
});
