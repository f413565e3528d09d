/** Words for codes: all codes that R4 fixes for people's entries have one, in every language. */
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import {
  findCodeSet,
  findCodeWord,
  findCodingWord,
  listCodeWords,
  type WordLanguage,
} from '#src/clinical/reading/code-words.ts';
import { typeDefinition, valueSet } from '#src/fhir/definitions/tables.ts';
import { LANGUAGES } from '#src/http/pages/texts.ts';

const FOLDER = new URL('../../src/clinical/reading/code-texts/', import.meta.url);

const TYPES = [
  'AllergyIntolerance CarePlan CareTeam Condition Device DiagnosticReport DocumentReference Encounter Goal',
  'Immunization MedicationRequest MedicationStatement Observation Procedure',
].flatMap((line) => line.split(' '));

async function textsOf(language: string): Promise<Readonly<Record<string, string>>> {
  const module: Record<string, Record<string, string>> = await import(new URL(`${language}.ts`, FOLDER).href);
  return module[language] ?? {};
}

describe('words for codes', () => {
  it('has one for every code of a required binding that a reader meets', () => {
    let codes = 0;
    for (const type of TYPES)
      for (const { name, binding } of typeDefinition(type)?.elements ?? []) {
        const set = findCodeSet(type, name);
        if (binding === undefined || set === undefined) continue;
        for (const [system, all] of Object.entries(valueSet(binding)))
          for (const code of all) {
            codes += 1;
            expect(findCodeWord('en', set, code), `${type}.${name} ${system} ${code}`).to.be.a('string');
          }
      }
    expect(codes).to.be.greaterThan(100);
  });

  it('leaves no state of these types without a set', () => {
    const states = [
      'status',
      'clinicalStatus',
      'verificationStatus',
      'lifecycleStatus',
      'docStatus',
      'intent',
    ];
    for (const type of TYPES)
      for (const { name } of typeDefinition(type)?.elements ?? [])
        if (states.includes(name)) expect(findCodeSet(type, name), `${type}.${name}`).to.be.a('string');
  });

  it('has all words in all languages of the pages, with no space too many', async () => {
    const languages = readdirSync(FOLDER)
      .map((name) => name.replace(/\.ts$/, ''))
      .filter((name) => name !== 'code-texts');
    expect(languages.sort()).to.deep.equal(Object.keys(LANGUAGES).sort());
    const english = await textsOf('en');
    const used = new Set(Object.values(listCodeWords('en')).flatMap((set) => Object.values(set)));
    expect(Object.values(english).filter((text) => !used.has(text))).to.deep.equal([]);
    for (const language of languages) {
      const texts = await textsOf(language);
      expect(Object.keys(texts), language).to.deep.equal(Object.keys(english));
      for (const [key, text] of Object.entries(texts)) expect(text, key).to.match(/^\S(?:.*\S)?$/);
      if (language === 'en') continue;
      const alike = Object.keys(texts).filter((key) => texts[key] === english[key]);
      expect(alike.length, `${language}: ${alike}`).to.be.lessThan(20);
    }
  });

  it('tells codes of different sets apart, and knows codes by their system', () => {
    const word = (lang: WordLanguage) => [
      findCodeWord(lang, 'interpretation', 'HH'),
      findCodeWord(lang, 'encounterClass', 'HH'),
      findCodingWord(lang, 'http://terminology.hl7.org/CodeSystem/v3-ActCode', 'AMB'),
      findCodeWord(lang, 'medicationStatus', 'active'),
      findCodeWord(lang, 'clinicalStatus', 'active'),
    ];
    expect(word('en')).to.deep.equal([
      'critically high',
      'home visit',
      'outpatient visit',
      'current',
      'active',
    ]);
    expect(word('de')).to.deep.equal([
      'kritisch hoch',
      'Hausbesuch',
      'ambulanter Besuch',
      'aktuell',
      'aktiv',
    ]);
    expect(findCodeWord('en', 'interpretation', 'constructor')).to.equal(undefined);
    expect(findCodingWord('en', 'http://example.org/states', 'active')).to.equal(undefined);
  });
});
