/** Trends and changes in contexts: stated with their values, and with the versions that are the evidence. */
import { expect } from 'chai';
import type { SyntheticRecord } from '#src/sandbox/synthetic.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { contextOf, sandboxRecords } from './records.ts';

describe('patterns in contexts', () => {
  /** Returns a record with additional values for a code. */
  function withValues(
    values: readonly number[],
    author: 'import' | 'ai' = 'import',
    at = (n: number) => Date.UTC(2024, 0, 1 + 30 * n),
  ): SyntheticRecord {
    const record = [...sandboxRecords('annal').values()][0];
    const like = record?.resources.find(({ type }) => type === 'Observation');
    if (record === undefined || like === undefined) throw new Error('no record');
    const further = values.map((value, n) => ({
      ...like,
      id: `01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`,
      author: { ...like.author, type: author },
      resource: {
        resourceType: 'Observation',
        status: 'final',
        category: [{ coding: [{ code: 'laboratory' }] }],
        code: { coding: [{ system: 'http://loinc.org', code: '99999-0' }], text: 'Zinc' },
        effectiveDateTime: new Date(at(n)).toISOString(),
        valueQuantity: { value, unit: 'ug/dL' },
      } as JsonObject,
    }));
    return { ...record, resources: [...record.resources, ...further] };
  }
  const zinc = async (record: SyntheticRecord) => {
    const { text, sections } = await contextOf(record, { needs: ['labs:99999-0'] });
    const item = sections
      .flatMap(({ items }) => items)
      .find(({ fact }) => fact.codes.some(({ code }) => code === '99999-0'));
    const patterns = Array.isArray(item?.fact.members.patterns) ? item.fact.members.patterns : [];
    return { text, patterns: patterns.filter(isObject) };
  };
  const falling = Array.from({ length: 24 }, (_, n) => 120 - 2 * n + (n % 3));

  it('are told with the values that they are about', async () => {
    const { text, patterns } = await zinc(withValues(falling));
    expect(text).to.match(/Zinc 7\d µg\/dL .*; fell by about 4\d(\.\d)? µg\/dL\n/);
    const [trend, ...others] = patterns;
    expect(others).to.deep.equal([]);
    expect(trend).to.include({ kind: 'trend', direction: 'down', evidence_count: 24 });
    const evidence = Array.isArray(trend?.evidence) ? trend.evidence.filter(isObject) : [];
    expect(evidence).to.have.length(20);
    expect(evidence.at(-1)).to.deep.equal({
      fhir: 'Observation/01890a5d-ac96-774b-bcce-000000000023/_history/1',
      role: 'supports',
    });
  });

  it('count no value dated after the day of the context, and copies of a value once', async () => {
    const until = (n: number) => Date.UTC(n < 24 ? 2024 : 2090, 0, 1 + 30 * n);
    const later = await zinc(withValues([...falling, 900, 1_800, 4_000], 'import', until));
    expect(later.patterns.map(({ direction }) => direction)).to.deep.equal(['down']);
    const copies = Array.from({ length: 24 }, (_, n) => 120 - 2 * Math.floor(n / 4));
    const { patterns } = await zinc(
      withValues(copies, 'import', (n) => Date.UTC(2024, 0, 1 + 30 * Math.floor(n / 4))),
    );
    expect(patterns).to.deep.equal([]);
  });

  it('are not claimed of a few values, nor of what an AI wrote', async () => {
    expect((await zinc(withValues(falling.slice(0, 11)))).patterns).to.deep.equal([]);
    const { text, patterns } = await zinc(withValues(falling, 'ai'));
    expect(patterns).to.deep.equal([]);
    expect(text).not.to.contain('fell by');
  });
});
