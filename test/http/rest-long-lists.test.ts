/** REST v1 lists with long items: a page ends early, and no item is missed. docs/limits.md */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Page {
  readonly data: readonly { readonly id: string; readonly display: string; readonly title: string }[];
  readonly total: number;
  readonly next_cursor: string | null;
}

describe('long items of lists', () => {
  const COUNT = 8;
  let service: InProcess;
  let patient: string;
  const ids: string[] = [];

  before(async () => {
    service = await startInProcess();
    const create = async (body: { readonly resourceType: string; readonly [member: string]: unknown }) =>
      String((await service.post(`/${body.resourceType}`, body)).json.id);
    patient = await create({ resourceType: 'Patient', name: [{ family: 'Ek' }] });
    const medication = await create({
      resourceType: 'Medication',
      code: { text: 'Aspirin' },
      extension: Array.from({ length: 5 }, () => ({
        url: 'https://example.org/long',
        valueString: 'x'.repeat(1_000_000),
      })),
    });
    for (let n = 0; n < COUNT; n += 1)
      ids.push(
        await create({
          resourceType: 'MedicationStatement',
          status: 'active',
          subject: { reference: `Patient/${patient}` },
          medicationReference: { reference: `Medication/${medication}` },
        }),
      );
  });
  after(() => service.stop());

  for (const [list, named] of [
    ['medications', 'display'],
    ['timeline', 'title'],
  ] as const) {
    it(`are shown whole, on pages that end early: ${list}`, async () => {
      const seen: string[] = [];
      let pages = 0;
      for (let cursor: string | null = ''; cursor !== null; pages += 1) {
        const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const answer = await service.fhir(`${service.url}/v1/patients/${patient}/${list}?limit=200${query}`);
        expect(answer.status, answer.text).to.equal(200);
        const page = JSON.parse(answer.text) as Page;
        expect(page.total).to.equal(COUNT);
        for (const item of page.data) {
          expect(item[named]).to.equal('Aspirin');
          seen.push(item.id);
        }
        cursor = page.next_cursor;
      }
      expect(seen).to.have.members(ids).and.have.length(COUNT);
      expect(pages).to.equal(2);
    });
  }
});
