/** Rules 37 to 40, about all thirty patients together. */
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { datesOf, eachRecord, nameOf, type RecordView, type Rule, YEAR_MS } from './view.ts';

/** Returns the number of years that a record's data spans, ignoring the patient's date of birth. */
function span(record: RecordView): number {
  const times = record.resources.flatMap((resource) => datesOf(resource).map(({ at }) => at));
  return times.length === 0 ? 0 : (Math.max(...times) - Math.min(...times)) / YEAR_MS;
}

export const WHOLE_RULES: readonly Rule[] = [
  eachRecord('every record has authors of all five types, practitioners of the directory', (record, view) => {
    const there = new Set(record.authored.map(({ author }) => author.type));
    return [
      ...AUTHOR_TYPES.filter((type) => !there.has(type)).map(
        (type) => `${nameOf(record.patient)}: nothing by ${type}`,
      ),
      ...record.authored.flatMap(({ author, resource }) => {
        const named = author.reference !== undefined && view.directory.get(author.reference)?.active === true;
        return (author.type === 'practitioner') === named && author.sourceSystem !== ''
          ? []
          : [`${nameOf(resource)}: its author is wrong`];
      }),
    ];
  }),
  {
    says: 'one patient has data of twenty years, one has almost nothing',
    check: ({ records }) => {
      const long = records.filter((record) => span(record) >= 20).length;
      const short = records.filter(({ resources }) => resources.length <= 5).length;
      return long === 1 && short === 1 ? [] : [`${long} of twenty years, ${short} with almost nothing`];
    },
  },
  {
    says: 'thirty patients, every clinical type, at most 3,000 resources',
    check: ({ records, all }) => {
      const there = new Set<string>(all.map(({ type }) => type));
      const missing = TYPE_NAMES.filter((type) => typeEntry(type).home !== 'terminology' && !there.has(type));
      return [
        ...(records.length === 30 ? [] : [`${records.length} patients`]),
        ...(all.length <= 3_000 ? [] : [`${all.length} resources`]),
        ...missing.map((type) => `no ${type}`),
      ];
    },
  },
  {
    says: 'every resource is valid R4',
    check: ({ all }) =>
      all.flatMap(({ resource, type }) =>
        validateResource(resource, type).map(
          ({ diagnostics, expression }) => `${nameOf(resource)}: ${expression} ${diagnostics}`,
        ),
      ),
  },
];
