/** Says what later versions and newer entries changed, and what was refuted (docs/clinical-reading.md). */

import { isRecent } from '../../../clinical/reading/doses/dose-dates.ts';
import { separator } from '../../../clinical/reading/doses/dose-words.ts';
import { translateDoses } from '../../../clinical/reading/doses/english-doses.ts';
import { readChangeText } from '../../../clinical/reading/english.ts';
import { findCodeByWord, findCodeWord } from '../../../clinical/reading/names/code-words.ts';
import { formatDecimal } from '../../../clinical/reading/numbers/decimal.ts';
import { doseChangePhrases } from '../../../clinical/reading/phrases.ts';
import { findWithdrawal } from '../../../clinical/reading/revisions.ts';

/** The words of elements, by their names in FHIR. */
const LABELS = {
  medicationCodeableConcept: 'element.medication',
  dosage: 'element.dosage',
  status: 'element.status',
  clinicalStatus: 'element.status',
  verificationStatus: 'element.certainty',
  criticality: 'element.risk',
  reaction: 'element.reaction',
  code: 'element.description',
  severity: 'element.severity',
  bodySite: 'element.site',
  vaccineCode: 'element.vaccine',
  value: 'element.value',
};

/**
 * Returns the changes of a row as phrases, and the marks of recent ones: those that a summary's narrative tells, else those of
 * the versions and sources that the link has.
 * @param keys of its entries, `Type/id`
 */
export function changesIn({ revisions, doseChange, hasNewDose = false, name }, keys, kind, around) {
  const told = [...new Set(keys.flatMap((key) => around.changes.get(key) ?? []))];
  const { makePhrase } = around;
  const read = told.flatMap((text) => readToldChange(text, kind, around) ?? []);
  const changes =
    told.length > 0
      ? read
      : [
          ...revisions.map((revision) => revisionPhrase(revision, around)),
          ...(doseChange === undefined ? [] : [doseChangePhrase(doseChange, name, around, makePhrase)]),
        ];
  const marks = changes.flatMap(({ mark }) => mark ?? []);
  if (hasNewDose && !changes.some(({ isDose }) => isDose)) marks.push({ key: 'known.dosebeside' });
  const seen = new Set();
  return {
    changes,
    marks: marks.filter((mark) => {
      const text = JSON.stringify(mark);
      return !seen.has(text) && seen.add(text);
    }),
  };
}

function markFor(words, isNew) {
  return isNew ? { mark: { key: 'known.changedlately', words } } : {};
}

function revisionPhrase({ element, at, before, times, isRecent: isNew }, around) {
  const words = { what: LABELS[element] };
  return {
    key: times === 1 ? 'known.revised' : 'known.revisedtimes',
    days: { day: at.slice(0, 10) },
    times,
    words,
    earlier: [statementText(before, around)],
    ...markFor(words, isNew),
  };
}

/** Returns what an element stated. */
function statementText(before, { lang, clean, doses, reactions }) {
  if (before === undefined) return { key: 'known.notsaid' };
  if ('isForbidden' in before) return { key: 'known.forbidden' };
  if ('text' in before) return { text: before.isOwn === true ? before.text : clean(before.text) };
  if ('code' in before) return { text: findCodeWord(lang, before.set, before.code) ?? clean(before.code) };
  if ('reactions' in before) return { text: reactions({ reaction: before.reactions }) };
  return { text: doses(before.doses) };
}

function doseChangePhrase(doseChange, name, around, makePhrase) {
  const { since, before } = doseChangePhrases(doseChange);
  const earlier = before.map(({ source, when }) => {
    const own = around.clean(source.name);
    const isNamed = own === '' || own.toLowerCase() === around.clean(name).toLowerCase();
    const dose = around.doses(source.dosage);
    return {
      text: isNamed ? dose : `${own}: ${dose}`,
      ...(when === undefined ? {} : { when: makePhrase(around, when) }),
    };
  });
  return doseWords(
    doseChange.isCertain ? makePhrase(around, since) : undefined,
    earlier,
    doseChange.isRecent,
  );
}

/** @param when since when the dosage is another one; undefined if that isn't certain */
function doseWords(when, earlier, isNew) {
  const words = { what: 'element.dosage' };
  return {
    key: when === undefined ? 'known.doseearlier' : 'known.dosechanged',
    days: {},
    words,
    ...(when === undefined ? {} : { when }),
    earlier,
    isDose: true,
    ...(!isNew ? {} : { mark: when === undefined ? { key: 'known.dosemaybe' } : markFor(words, true).mark }),
  };
}

/** Returns what a narrative says of a change, in the language of the page as far as its words are those of the service. */
function readToldChange(text, kind, around) {
  const said = readChangeText(text);
  if (said === undefined) return undefined;
  const { clean, today, makePhrase } = around;
  if ('doses' in said) {
    const since = said.isCertain && said.since !== undefined ? makePhrase(around, said.since) : undefined;
    const [day] = Object.values(said.since?.days ?? {});
    const earlier = said.doses.map(({ dose, when }) => ({
      text: doseInLanguage(clean(dose), around),
      ...(when === undefined ? {} : { when: makePhrase(around, when) }),
    }));
    return doseWords(since, earlier, day !== undefined && isRecent(day, today));
  }
  const { element, day, times, before } = said;
  const words = { what: LABELS[element] ?? 'element.description' };
  return {
    key: times === 1 ? 'known.revised' : 'known.revisedtimes',
    days: { day },
    times,
    words,
    earlier: [readStatement(element, clean(before), kind, around)],
    ...markFor(words, isRecent(day, today)),
  };
}

const NONE = { 'not recorded': 'known.notsaid', 'not to be given': 'known.forbidden' };

function readStatement(element, before, kind, around) {
  if (Object.hasOwn(NONE, before)) return { key: NONE[before] };
  const sets = {
    // Both are `status` in English.
    medicationCodeableConcept: undefined,
    clinicalStatus: kind === 'medications' ? 'medicationStatus' : 'clinicalStatus',
    verificationStatus: 'verificationStatus',
    criticality: 'criticality',
  };
  const set = sets[element];
  if (set !== undefined) return { text: inLanguage(set, before, around) };
  const write = { dosage: doseInLanguage, value: valueInLanguage, reaction: reactionsInLanguage }[element];
  return { text: write === undefined ? before : write(before, around) };
}

/** Returns a dosage of a narrative; the name of another medicine in front of it stays. */
function doseInLanguage(dose, { lang, day }) {
  const own = translateDoses(dose, { lang, day });
  if (own !== undefined) return own;
  const [, name, rest = ''] = /^(.+?): (.+)$/.exec(dose) ?? [];
  const said = translateDoses(rest, { lang, day });
  return said === undefined ? dose : `${name}: ${said}`;
}

/** Returns a value of a narrative with its number as the language writes it. */
function valueInLanguage(value, { lang }) {
  const [, sign = '', number = '', unit = ''] =
    /^([<>≤≥]?)(\d[\d,]*(?:\.\d+)?)( [^\d].*)?$/.exec(value) ?? [];
  const plain = number.replaceAll(',', '');
  return [plain, formatDecimal(plain, 'en')].includes(number)
    ? `${sign}${formatDecimal(plain, lang)}${unit}`
    : value;
}

/** Returns reactions of a narrative with their severities in the language. */
function reactionsInLanguage(reactions, around) {
  return reactions.replace(/ \(([a-z]+)\)/g, (_, word) => ` – ${inLanguage('severity', word, around)}`);
}

/** Returns an English word of a code in the language of the page; other words as they are. */
function inLanguage(set, word, { lang }) {
  const code = set === 'medicationStatus' && word === 'active' ? word : findCodeByWord('en', set, word);
  return code === undefined ? word : (findCodeWord(lang, set, code) ?? word);
}

/** Returns the row of an allergy that was refuted, by its versions. */
export function refutedRow({ told, name }, around) {
  const withdrawal = findWithdrawal(told);
  const { clinicalStatus, verificationStatus, criticality } = withdrawal?.before ?? {};
  const word = (set, concept) =>
    around
      .codes(concept)
      .map((code) => findCodeWord(around.lang, set, code) ?? code)
      .slice(0, 1);
  return makeRefuted(
    {
      name: around.clean(name),
      day: (withdrawal?.at ?? around.clean(told.value.recordedDate)).slice(0, 10),
      isRecorded: withdrawal === undefined,
      before: [
        ...word('clinicalStatus', clinicalStatus),
        ...word('verificationStatus', verificationStatus),
        ...(criticality === undefined
          ? []
          : [findCodeWord(around.lang, 'criticality', around.clean(criticality)) ?? '']),
      ],
    },
    around,
  );
}

/** Returns the row of an entry that was refuted, as a summary's narrative tells it. */
export function toldRefutedRow({ name, day = '', isRecorded, before }, around) {
  const sets = ['clinicalStatus', 'verificationStatus', 'criticality'];
  const inWords = before.map((word) => {
    const set = sets.find((each) => findCodeByWord('en', each, word) !== undefined);
    return around.clean(set === undefined ? word : inLanguage(set, word, around));
  });
  return makeRefuted({ name: around.clean(name), day, isRecorded, before: inWords }, around);
}

function makeRefuted({ name, day, isRecorded, before }, { lang }) {
  const comma = separator({ lang }, ',');
  const said = before.filter((word) => word !== '').join(comma);
  return {
    name,
    state: findCodeWord(lang, 'verificationStatus', 'refuted'),
    ...(day === '' ? {} : { since: { key: isRecorded ? 'known.recorded' : 'known.since', days: { day } } }),
    // A day of recording is apart from the state; that since when it is so isn't.
    by: isRecorded ? comma : ' ',
    ...(said === '' ? {} : { before: { key: 'known.wasbefore', values: { text: said } } }),
  };
}
