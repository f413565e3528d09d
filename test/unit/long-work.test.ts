/** Work whose size a client determines is done in many short steps. A warm-up, in which the code is compiled, comes first. */
import { expect } from 'chai';
import { timeline } from '#projections/timeline/project.ts';
import { chooseInSteps } from '#src/clinical/summary/choose.ts';
import { writeInSteps } from '#src/clinical/summary/document.ts';
import { recordStream } from '#src/events/streams.ts';
import { validationSteps } from '#src/fhir/profiles/validate.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { created, stored as storedEvents } from '#test/projections/made.ts';
import { stepped } from '#test/support/held.ts';

const PROFILE = 'http://hl7.org/fhir/uv/ips/StructureDefinition/Bundle-uv-ips';
const ID = '01890a5d-ac96-774b-bcce-000000000000';
const code = { coding: [{ system: 'http://loinc.org', code: '2345-7' }] };

describe('long work', () => {
  it('of validating a document by profiles is done an entry and a profile at a time', () => {
    const document = (entries: number): JsonObject => ({
      resourceType: 'Bundle',
      type: 'document',
      entry: Array.from({ length: entries }, (_, n) => ({
        fullUrl: `urn:uuid:${n}`,
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code,
          subject: { reference: `urn:uuid:${n + 1}` },
        },
      })),
    });
    expect(stepped(() => validationSteps(document(2_000), [PROFILE])).longest).to.be.below(1 / 4);
  });

  it('of checking a resource that claims a profile thousands of times is done once', () => {
    const profile = PROFILE.replace('Bundle', 'Patient');
    const claims = (times: number): JsonObject => ({
      resourceType: 'Patient',
      meta: { profile: Array.from({ length: times }, () => profile) },
      name: Array.from({ length: 2_000 }, () => ({ use: 'usual' })),
    });
    const [once, often] = [1, 20_000].map((times) => stepped(() => validationSteps(claims(times))));
    if (once === undefined || often === undefined) throw new Error('nothing was measured');
    expect(often.value).to.deep.equal(once.value);
    // If the value were checked each time it is claimed, this would take thousands of times as long.
    expect(often.ms).to.be.below(200 * once.ms);
  });

  it('of listing the versions of an append is done a version at a time', () => {
    const component = Array.from({ length: 200 }, (_, n) => ({
      code,
      valueQuantity: { value: n, unit: 'mg' },
    }));
    const events = (count: number) =>
      storedEvents(
        recordStream(ID),
        Array.from({ length: count }, (_, n) =>
          created('Observation', ID.replace(/.{4}$/, String(1_000 + n)), {
            status: 'final',
            code,
            component,
          }),
        ),
      );
    const steps = (count: number) => timeline.inSteps?.('timeline', events(count)) ?? expect.fail();
    const { value, longest } = stepped(() => steps(200));
    expect(value[0]?.name).to.equal('timeline.add');
    expect(longest).to.be.below(1 / 4);
  });

  it('of making a summary is done a resource at a time', () => {
    const stored = (type: string, n: number, resource: object) => {
      const id = `01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`;
      return { type, id, body: JSON.stringify({ resourceType: type, id, ...resource }) };
    };
    const patient = stored('Patient', 0, { name: [{ family: 'Long' }] });
    const subject = { reference: `Patient/${patient.id}` };
    const record = (length: number) =>
      Array.from({ length }, (_, n) =>
        stored('Condition', n + 1, {
          code: { text: `Condition ${n}` },
          subject,
          note: [{ text: 'x'.repeat(500) }],
        }),
      );
    const parts = { id: ID, now: 1_700_000_000_000_000, directory: [] };
    const made = (length: number) => {
      const all = record(length);
      const chosen = stepped(() =>
        chooseInSteps({ base: 'http://localhost/fhir/R4/', patient, record: all }),
      );
      return [chosen, stepped(() => writeInSteps(chosen.value, parts))];
    };
    for (const { longest } of made(10_000)) expect(longest).to.be.below(1 / 4);
  });
});
