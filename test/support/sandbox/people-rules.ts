/** Rules 29 to 36: references, people, vaccinations, and documents. */
import { COUNTRIES } from '#src/sandbox/countries.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import {
  codesIn,
  DAY_MS,
  eachRecord,
  eachResource,
  nameOf,
  numberOf,
  type Rule,
  textAt,
  walk,
} from './view.ts';

const listOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
const countryOf = (person: JsonObject) =>
  COUNTRIES.find(({ code }) => code === textAt(person, 'address', 'country'));
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  JP: /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u,
  GR: /^\p{Script=Greek}+$/u,
  UA: /^\p{Script=Cyrillic}+$/u,
  EG: /^\p{Script=Arabic}+$/u,
};
const LATIN = /^\p{Script=Latin}+$/u;

/** Age in days at the first dose of childhood vaccines. */
const FIRST_DOSE: Readonly<Record<string, number>> = { J07CA09: 42, J07AL02: 42, J07BD52: 270 };

export const PEOPLE_RULES: readonly Rule[] = [
  eachRecord('references lead to the record or the directory', (record, view) => {
    const own = new Set(record.resources.map(nameOf));
    return record.resources.flatMap((resource) => {
      const faults: string[] = [];
      walk(resource, ({ reference }) => {
        if (typeof reference === 'string' && !own.has(reference) && !view.directory.has(reference))
          faults.push(`${nameOf(resource)}: ${reference} is nowhere`);
      });
      return faults;
    });
  }),
  eachResource('everything is about the patient of the record', undefined, (resource, record) => {
    const { resourceType: type } = resource;
    if (type === 'Patient' || type === 'Provenance') return [];
    const about = textAt(resource, 'subject', 'reference') ?? textAt(resource, 'patient', 'reference');
    return about === nameOf(record.patient) ? [] : [`is about ${about}`];
  }),
  {
    says: 'every id is there once',
    check: ({ all }) => {
      const seen = new Set<string>();
      return all.flatMap(({ id, resource }) => {
        const again = seen.has(id) || id !== resource.id;
        seen.add(id);
        return again ? [`${nameOf(resource)}: its id is there twice, or is another one`] : [];
      });
    },
  },
  eachRecord('names are those of the country, also in its script', ({ patient }) => {
    const country = countryOf(patient);
    if (country === undefined) return ['no country'];
    const names = listOf(patient.name);
    const script = SCRIPTS[country.code];
    const sex = patient.gender === 'female' ? 'female' : 'male';
    const families = sex === 'female' ? (country.familyOfWomen ?? country.family) : country.family;
    const fits = names.every((name) => {
      const given = textAt(name, 'given') ?? '';
      const family = textAt(name, 'family') ?? '';
      return country[sex].some((one) => one.includes(given)) && families.some((one) => one.includes(family));
    });
    const given = names.map((name) => textAt(name, 'given') ?? '');
    const scripts =
      script === undefined
        ? given.every((one) => LATIN.test(one))
        : given.some((one) => script.test(one)) && given.some((one) => LATIN.test(one));
    return fits && scripts ? [] : [`${nameOf(patient)}: ${JSON.stringify(names)} in ${country.code}`];
  }),
  eachRecord('addresses, telephones and languages are those of the country', ({ patient }) => {
    const country = countryOf(patient);
    if (country === undefined) return ['no country'];
    const [address] = listOf(patient.address);
    const city = country.cities.some(([code, name]) => code === address?.postalCode && name === address.city);
    const language = codesIn(listOf(patient.communication)[0]?.language)[0] === country.language;
    const phone = textAt(patient, 'telecom', 'value')?.startsWith(`${country.phone} `) ?? false;
    return city && language && phone
      ? []
      : [`${nameOf(patient)}: address, telephone or language is not of ${country.code}`];
  }),
  eachRecord('a child has a parent among the patients', (record, view) => {
    if (record.age(view.now) >= 18) return [];
    const parents = record
      .of('RelatedPerson')
      .filter(({ relationship }) =>
        codesIn(listOf(relationship)[0]).some((code) => code === 'MTH' || code === 'FTH'),
      );
    const fits = parents.some((related) => {
      const parent = view.records.find(({ number }) => number !== undefined && number === numberOf(related));
      return (
        parent !== undefined &&
        (record.birth - parent.birth) / DAY_MS > 16 * 365 &&
        JSON.stringify(parent.patient.address) === JSON.stringify(record.patient.address) &&
        JSON.stringify(related.name) === JSON.stringify(parent.patient.name) &&
        familyPlace(parent.patient) === familyPlace(record.patient)
      );
    });
    return fits ? [] : [`${nameOf(record.patient)}: no parent of the same family and address`];
  }),
  eachRecord('vaccinations keep their ages, intervals and order of doses', (record) => {
    const doses = record.of('Immunization').map((immunization) => ({
      code: codesIn(immunization.vaccineCode)[0] ?? '',
      at: Date.parse(String(immunization.occurrenceDateTime)),
      dose: Number(listOf(immunization.protocolApplied)[0]?.doseNumberPositiveInt),
      name: nameOf(immunization),
    }));
    return doses.flatMap(({ code, at, dose, name }) => {
      const youngest = FIRST_DOSE[code];
      if (youngest === undefined) return dose === 1 ? [] : [`${name}: dose ${dose}`];
      const before = doses.find((other) => other.code === code && other.dose === dose - 1);
      if (dose > 1 && (before === undefined || at - before.at < 28 * DAY_MS))
        return [`${name}: dose ${dose} too early, or without the one before`];
      return (at - record.birth) / DAY_MS < youngest
        ? [`${name}: at ${(at - record.birth) / DAY_MS} days`]
        : [];
    });
  }),
  eachResource('a document has text of its size, a title and a date', 'DocumentReference', (document) => {
    const [content] = listOf(document.content);
    const attachment = isObject(content?.attachment) ? content.attachment : {};
    const text = Buffer.from(String(attachment.data ?? ''), 'base64');
    return text.length > 40 &&
      text.length === attachment.size &&
      typeof attachment.title === 'string' &&
      typeof document.date === 'string'
      ? []
      : ['no text, title or date'];
  }),
];

/** Returns the index of a family name in its country's lists; the index is the same for both sexes. */
function familyPlace(person: JsonObject): number {
  const country = countryOf(person);
  const family = textAt(listOf(person.name)[0], 'family') ?? '';
  const place = country?.family.findIndex((one) => one.includes(family)) ?? -1;
  return place >= 0 ? place : (country?.familyOfWomen?.findIndex((one) => one.includes(family)) ?? -1);
}
