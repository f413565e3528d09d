/** Rules 1 to 8: the order of events in time. */
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import {
  codesIn,
  DAY_MS,
  datesOf,
  eachRecord,
  eachResource,
  nameOf,
  type Rule,
  textAt,
  walk,
} from './view.ts';

const onsetOf = (condition: JsonObject): number => Date.parse(String(condition.onsetDateTime));

export const TIME_RULES: readonly Rule[] = [
  eachResource('nothing happens before birth', undefined, (resource, record) =>
    datesOf(resource)
      .filter(({ at }) => at < record.birth)
      .map(({ element, text }) => `${element} ${text} lies before birth`),
  ),
  eachResource('nothing lies in the future', undefined, (resource, record, view) => [
    ...datesOf(resource)
      .filter(({ at }) => at >= view.now)
      .map(({ element, text }) => `${element} ${text} lies in the future`),
    ...(record.birth >= view.now ? ['born in the future'] : []),
  ]),
  eachResource('nothing happens after death', undefined, (resource, record) =>
    datesOf(resource)
      .filter(({ at }) => record.death !== undefined && at >= record.death + DAY_MS)
      .map(({ element, text }) => `${element} ${text} lies after death`),
  ),
  eachResource('no period ends before it starts', undefined, (resource) => {
    const faults: string[] = [];
    walk(resource, ({ start, end }) => {
      if (typeof start === 'string' && typeof end === 'string' && Date.parse(end) < Date.parse(start))
        faults.push(`${start} to ${end}`);
    });
    return faults;
  }),
  eachResource('a condition begins before it is recorded and before it ends', 'Condition', (condition) => {
    const onset = onsetOf(condition);
    const { recordedDate: recorded, abatementDateTime: end } = condition;
    return [
      ...(Date.parse(String(recorded)) < onset ? ['recorded before its onset'] : []),
      ...(typeof end === 'string' && Date.parse(end) < onset ? ['over before its onset'] : []),
    ];
  }),
  eachRecord('a condition begins before its medication', (record) =>
    [...record.of('MedicationStatement'), ...record.of('MedicationRequest')].flatMap((medication) => {
      const reason = record.find(textAt(medication, 'reasonReference', 'reference'));
      const start = textAt(medication, 'effectivePeriod', 'start') ?? textAt(medication, 'authoredOn') ?? '';
      if (reason === undefined) return [`${nameOf(medication)}: no reason`];
      return Date.parse(start) < onsetOf(reason)
        ? [`${nameOf(medication)}: begins before its condition`]
        : [];
    }),
  ),
  eachRecord('an encounter covers what was observed in it', (record) =>
    [...record.of('Observation'), ...record.of('Procedure')].flatMap((resource) => {
      const encounter = record.find(textAt(resource, 'encounter', 'reference'));
      if (encounter === undefined) return [];
      const at = Date.parse(
        textAt(resource, 'effectiveDateTime') ?? textAt(resource, 'performedDateTime') ?? '',
      );
      const [start, end] = ['start', 'end'].map((key) => Date.parse(textAt(encounter, 'period', key) ?? ''));
      return start !== undefined && end !== undefined && at >= start && at <= end
        ? []
        : [`${nameOf(resource)}: outside its encounter`];
    }),
  ),
  eachRecord(
    'a result is issued after it was observed, a report with all its results from one specimen',
    (record) =>
      record.resources.flatMap((resource) => {
        const { issued, effectiveDateTime: effective, result } = resource;
        if (typeof issued !== 'string') return [];
        const faults: string[] = [];
        if (Date.parse(issued) < Date.parse(String(effective))) faults.push('issued before it was observed');
        for (const one of Array.isArray(result) ? result.filter(isObject) : []) {
          const observation = record.find(String(one.reference));
          if (observation?.effectiveDateTime !== effective) faults.push('a result of another time');
        }
        const specimen = textAt(resource, 'specimen', 'reference');
        if (specimen !== undefined) {
          const taken = textAt(record.find(specimen), 'collection', 'collectedDateTime');
          if (taken !== effective) faults.push('a specimen of another time');
        }
        return faults.map((fault) => `${nameOf(resource)} ${codesIn(resource.code)[0]}: ${fault}`);
      }),
  ),
];
