/** The sentences on the consent page: what a patient reads for every scope that can be requested. */
import { expect } from 'chai';
import fc from 'fast-check';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import {
  type Choice,
  findFaultyFields,
  firstChoice,
  keptScopes,
  OFFLINE,
  type Offer,
  readChoice,
} from '#src/http/oauth/authorize/choice.ts';
import { fixedSentences, itemSentences } from '#src/http/oauth/authorize/sentences.ts';
import { LANGUAGES, type Language, texts } from '#src/http/pages/texts.ts';
import { covers, knownScopes, normalise } from '#src/oauth/scopes.ts';
import { randomSeed } from '#test/support/scale.ts';

const of = (text: string) => knownScopes(text.split(' '));
const sentences = (text: string, lang: Language = 'en', own = false) =>
  itemSentences(texts(lang), of(text), own).map(({ sentence }) => sentence);
const languages = Object.keys(LANGUAGES).filter((lang): lang is Language => Object.hasOwn(LANGUAGES, lang));

describe('sentences of the consent page', () => {
  it('name what is asked for, and no more', () => {
    expect(sentences('patient/Observation.rs', 'en', true)).to.deep.equal([
      'Read your laboratory results and vital signs, and other measurements',
    ]);
    expect(
      sentences('patient/Observation.rs?category=laboratory patient/Observation.rs?category=vital-signs'),
    ).to.deep.equal(['Read laboratory results', 'Read vital signs, such as blood pressure and weight']);
    expect(sentences('patient/MedicationRequest.rs')).to.deep.equal(['Read prescriptions']);
    expect(sentences('patient/MedicationRequest.rs patient/MedicationStatement.rs')).to.deep.equal([
      'Read medicines and prescriptions',
    ]);
    expect(sentences('patient/CarePlan.rs patient/Goal.rs')).to.deep.equal([
      'Read care plans and health goals',
    ]);
    expect(sentences('patient/Condition.rs?category=http://x.example|problem-list-item')).to.deep.equal([
      'Read diagnoses and health problems of the category “http://x.example|problem-list-item”',
    ]);
    expect(sentences('patient/Observation.rs?category=unheard')).to.deep.equal([
      'Read laboratory results and vital signs, and other measurements of the category “unheard”',
    ]);
  });

  it('say whether entries are added, changed or deleted', () => {
    const verbs = {
      c: 'Add',
      u: 'Change',
      d: 'Delete',
      cu: 'Add and change',
      cd: 'Add and delete',
      ud: 'Change and delete',
      cud: 'Add, change and delete',
    };
    for (const [letters, verb] of Object.entries(verbs))
      expect(sentences(`patient/Condition.${letters}`)).to.deep.equal([
        `${verb} diagnoses and health problems`,
      ]);
    expect(sentences('patient/*.c patient/Condition.d')).to.include(
      'Add and delete diagnoses and health problems',
    );
    expect(sentences('patient/Patient.u')).to.deep.equal(['Change name, birth date and contact data']);
  });

  it('say that identity is asked for only if it is', () => {
    const say = texts('en');
    expect(fixedSentences(say, of('patient/*.rs launch/patient'), 'Diary')).to.have.length(2);
    for (const scope of ['openid', 'fhirUser', 'profile'])
      expect(fixedSentences(say, of(scope), 'Diary').at(-1)).to.match(/^Diary recognises you/);
  });

  it('are there in every language for every scope, begin with a capital and differ from each other', () => {
    const type = fc.constantFrom('*', ...TYPE_NAMES);
    const letters = fc.subarray([...'cruds'], { minLength: 1 }).map((some) => some.join(''));
    const category = fc.constantFrom('', '?category=laboratory', '?category=x|survey', '?category=other');
    const scope = fc.tuple(type, letters, category).map(([t, l, c]) => `patient/${t}.${l}${c}`);
    fc.assert(
      fc.property(fc.array(scope, { maxLength: 6 }), fc.boolean(), (asked, own) => {
        for (const lang of languages) {
          const found = sentences(asked.join(' '), lang, own);
          expect(new Set(found).size, found.join('; ')).to.equal(found.length);
          for (const sentence of found) {
            expect(sentence).not.to.match(/[{}]|undefined/);
            expect(sentence[0]).to.equal(sentence[0]?.toLocaleUpperCase(lang));
          }
        }
      }),
      { seed: randomSeed(), numRuns: 300 },
    );
  });
});

describe('a choice on the consent page', () => {
  const offerOf = (text: string): Offer => ({
    records: [
      {
        id: '01890000-0000-7000-8000-000000000001',
        record: '01890000-0000-7000-8000-000000000001',
        linkId: undefined,
        environment: 'sandbox',
        relationship: 'self',
        via: 'invitation',
        given: 'Mira',
        family: 'Sand',
        birth_date: '1957-03-14',
        keeper: 'Clinic',
        died: undefined,
        isMeant: false,
      },
    ],
    asksOther: false,
    mayStart: true,
    items: itemSentences(texts('en'), of(text), true),
    days: [30, 90, 180, 365],
    scopes: of(text),
  });
  const form = (choice: Choice, decision = 'allow'): URLSearchParams =>
    new URLSearchParams([
      ...(choice.record === undefined ? [] : [['record', choice.record]]),
      ...[...choice.kept].map((id) => ['item', id]),
      ...(choice.days === undefined ? [] : [['days', String(choice.days)]]),
      ['decision', decision],
    ]);

  it('begins with everything that is asked for, the own record and 30 days', () => {
    const offer = offerOf('offline_access patient/*.rs');
    const first = firstChoice(offer, 'Mira Lou Sand');
    expect(first.record).to.equal(offer.records[0]?.id);
    expect(first.days).to.equal(30);
    expect(first.details).to.include({ given: 'Mira Lou', family: 'Sand' });
    expect(normalise(keptScopes(first, offer))).to.deep.equal(['offline_access', 'patient/*.rs']);
    expect(findFaultyFields(first, offer, '2026-01-01')).to.deep.equal([]);
    expect(readChoice(form(first), offer)).to.deep.equal({
      ...first,
      details: { given: '', family: '', birth_date: '' },
    });
    expect(firstChoice({ ...offer, records: [] }, undefined).record).to.equal('new');
    expect(firstChoice({ ...offer, records: [], mayStart: false }, undefined).record).to.equal(undefined);
  });

  it('leaves no more than was asked for, whatever the form says', () => {
    const scope = fc.constantFrom(
      'offline_access',
      'openid',
      'patient/*.rs',
      'patient/*.cruds',
      'patient/Condition.c',
    );
    const id = fc.oneof(
      fc.constantFrom(OFFLINE, 'read:results', 'write:conditions', 'read:demographics'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(scope, { minLength: 1 }), fc.array(id), (asked, items) => {
        const offer = offerOf(asked.join(' '));
        const sent = new URLSearchParams(items.map((item) => ['item', item]));
        const choice = readChoice(sent, offer);
        expect(covers(offer.scopes, keptScopes(choice, offer))).to.equal(true);
        const isOffline = keptScopes(choice, offer).includes('offline_access');
        expect(isOffline).to.equal(asked.includes('offline_access') && items.includes(OFFLINE));
      }),
      { seed: randomSeed() },
    );
  });

  it('needs an item only if there are any', () => {
    const none = new URLSearchParams([
      ['record', offerOf('openid').records[0]?.id ?? ''],
      ['days', '90'],
    ]);
    expect(
      findFaultyFields(readChoice(none, offerOf('openid')), offerOf('openid'), '2026-01-01'),
    ).to.deep.equal([]);
    const offer = offerOf('patient/*.rs');
    expect(findFaultyFields(readChoice(none, offer), offer, '2026-01-01')).to.deep.equal(['items']);
  });
});
