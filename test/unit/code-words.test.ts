/** Words for codes: all codes that R4 fixes for entries made by people have words in every language. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  findCodeSet,
  findCodeWord,
  findCodingWord,
  type WordLanguage,
} from '#src/clinical/reading/names/code-words.ts';
import { typeDefinition, valueSet } from '#src/fhir/definitions/tables.ts';
import { LANGUAGES, type Language, texts } from '#src/http/pages/texts.ts';
import { splitStates, titleText } from '#src/http/reading/summary-words.ts';

const FOLDER = new URL('../../src/clinical/reading/names/code-texts/', import.meta.url);

const TYPES = [
  'AllergyIntolerance CarePlan CareTeam Condition Device DiagnosticReport DocumentReference Encounter Goal',
  'Immunization MedicationRequest MedicationStatement Observation Procedure',
].flatMap((line) => line.split(' '));

async function textsOf(language: string): Promise<Readonly<Record<string, string>>> {
  const module: Record<string, Record<string, string>> = await import(new URL(`${language}.ts`, FOLDER).href);
  return module[language] ?? {};
}

describe('entries of the timeline on the pages', () => {
  const said = (lang: Language, kind: string, summary: string) => {
    const { states, rest } = splitStates(texts(lang), kind, summary);
    return [...states.map(({ label }) => label), ...(rest === null ? [] : [`… ${rest}`])];
  };

  it('say their states in the reader’s words, and leave the rest as it is', () => {
    expect(said('de', 'medication', 'on-hold, 1 Tablette, täglich')).to.deep.equal([
      'Pausiert',
      '… 1 Tablette, täglich',
    ]);
    expect(said('fr', 'care_plan', 'revoked, order')).to.deep.equal(['Retiré', 'Prescription']);
    expect(said('ar', 'encounter', 'in-progress')).to.deep.equal(['جارٍ']);
    expect(said('en', 'allergy', 'active, unconfirmed, Hives')).to.deep.equal([
      'Active',
      'Not confirmed',
      '… Hives',
    ]);
    expect(said('en', 'document', 'superseded, preliminary, Letter')).to.deep.equal([
      'Replaced by a newer one',
      'Preliminary',
      '… Letter',
    ]);
  });

  it('take no word of a value for a state', () => {
    expect(said('de', 'observation', '5 mmol/L, final')).to.deep.equal(['… 5 mmol/L, final']);
    expect(said('de', 'observation', 'unknown')).to.deep.equal(['… unknown']);
    expect(said('de', 'condition', 'confirmed, active')).to.deep.equal(['Bestätigt', '… active']);
    expect(said('de', 'observation', 'constructor')).to.deep.equal(['… constructor']);
  });

  it('name the class of a visit, and no other title', () => {
    const title = (text: string, kind = 'encounter') => titleText(texts('de'), kind, text);
    expect([
      title('AMB'),
      title('inpatient encounter'),
      title('Check-up'),
      title('AMB', 'report'),
    ]).to.deep.equal(['Ambulanter Besuch', 'Krankenhausaufenthalt', 'Check-up', 'AMB']);
  });
});

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
    const table = readFileSync(new URL('../code-words.ts', FOLDER), 'utf8');
    expect(Object.keys(english).filter((key) => !table.includes(`'${key}'`))).to.deep.equal([]);
    for (const language of languages) {
      const own = await textsOf(language);
      expect(Object.keys(own), language).to.deep.equal(Object.keys(english));
      for (const [key, text] of Object.entries(own)) expect(text, key).to.match(/^\S(?:.*\S)?$/);
      if (language === 'en') continue;
      const alike = Object.keys(own).filter((key) => own[key] === english[key]);
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
