/** The last value of each kind in contexts, in `$summary` and on the shared-links page matches a second reading. */
import { expect } from 'chai';
import { TODAY } from '#test/context/records.ts';
import { eachRecord } from './cases.ts';
import { EVERYDAY } from './everyday-names.ts';
import type { Json } from './raw.ts';
import type { SecondReading } from './second-reading.ts';
import { isSaid, type ToldValue } from './second-values.ts';
import { composeContext, summarize, view } from './views.ts';

/** More than any record needs. */
const ROOM = 100_000;
const FINDINGS = ['vitals', 'labs', 'observations', 'social_history'];
/** The sections of a summary that contain Observations. */
const SECTIONS = ['30954-2', '8716-3', '29762-2', '10162-6'];

describe('last values', () => {
  eachRecord('contexts tell the newest of each kind', async (record, again) => {
    const { sections } = await composeContext(record, TODAY, ROOM);
    const facts = sections
      .filter(({ kind }) => FINDINGS.includes(kind))
      .flatMap(({ items }) => items.map(({ fact }) => fact));
    const told = new Map(
      facts.map(({ entry: { type, id, version }, text }) => [`${type}/${id}/_history/${version}`, text]),
    );
    expect(told.size, record.name).to.equal(again.newest.size);
    eachKind(again, (values) => {
      const value = values.find(({ source }) => told.has(source));
      const [text = ''] = told.get(value?.source ?? '')?.split('; before') ?? [];
      const where = `${record.name}: ${JSON.stringify(values)} in ${text}`;
      expect(value !== undefined && isSaid(value, text), where).to.equal(true);
      const day = value?.measured?.slice(0, 10) ?? `reported ${value?.reported?.slice(0, 10)}`;
      expect(text, where).to.contain((value?.measured ?? value?.reported) ? `(${day}` : '(no date');
    });
  });

  eachRecord('summaries have the newest of each kind', (record, again) => {
    const { sections } = summarize(record, TODAY);
    const rows = new Map(
      SECTIONS.flatMap((code) => {
        const { entries = [], rows = [] } = sections.get(code) ?? {};
        return entries.map((entry, n) => [entry, rows[n] ?? {}] as const);
      }),
    );
    eachKind(again, (values) => {
      const value = values.find(({ source }) => rows.has(source));
      const { Value: said = '', Date: date = '' } = rows.get(value?.source ?? '') ?? {};
      const where = `${record.name}: ${JSON.stringify(values)} in ${said}, ${date}`;
      expect(value !== undefined && isSaid(value, said), where).to.equal(true);
      const day = value?.measured?.slice(0, 10) ?? `reported ${value?.reported?.slice(0, 10)}`;
      expect(date, where).to.contain((value?.measured ?? value?.reported) ? day : '');
    });
  });

  eachRecord('the page of shared links shows the newest of each kind first', async (record, again) => {
    const facts = record.versions.filter(({ byAi }) => !byAi).map(({ resource }) => resource);
    await expectInLink([...facts, ...record.directory.values()], again, record.name);
    await expectInLink([summarize(record, TODAY).bundle], again, record.name);
  });
});

function eachKind({ newest }: SecondReading, check: (values: readonly ToldValue[]) => void): void {
  for (const values of newest.values()) check(values);
}

async function expectInLink(resources: readonly Json[], again: SecondReading, name: string): Promise<void> {
  const { sections } = view(resources, TODAY);
  const rows = [...sections.values()].flat();
  for (const [code, values] of again.newest) {
    // A failed measurement may come before the value.
    const first = rows.find(
      ({ key, value, parts = [] }) => key === `http://loinc.org|${code}` && value + parts.join('') !== '',
    );
    const said = [first?.value ?? '', ...(first?.parts ?? []).map((part) => part.value)].join(' ');
    const where = `${name}: ${JSON.stringify(values)} in ${JSON.stringify(first)}`;
    expect(
      values.some((value) => isSaid(value, said)),
      where,
    ).to.equal(true);
    const dates = values.map(
      ({ measured, reported = '' }) => measured ?? (reported === '' ? '' : `reported ${reported}`),
    );
    const { date = '', means = '' } = first ?? {};
    const named = EVERYDAY[code] ?? values.map((value) => value.name).find((each) => each === first?.name);
    expect(first?.name, where).to.equal(named);
    expect(dates, where).to.include(date === '' ? '' : `${means} ${date}`.trim());
  }
}
