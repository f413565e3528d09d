/** Statements that a person has none: no view counts such a statement as an allergy, medicine, problem or vaccination. */
import { expect } from 'chai';
import { absenceText } from '#src/clinical/reading/english.ts';
import { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { readRecord, type Statements } from '#src/clinical/reading/reading.ts';
import type { Told } from '#src/clinical/reading/told.ts';
import { texts } from '#src/http/pages/texts.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Version } from '#test/reading/raw.ts';
import { composeContext, summarize, view } from '#test/reading/views.ts';

const TODAY = '2026-11-01';
const SNOMED = 'http://snomed.info/sct';
const IPS = 'http://hl7.org/fhir/uv/ips/CodeSystem/absent-unknown-uv-ips';
const AROUND = { today: TODAY, look: () => undefined, name: nameConcept };

const coded = (system: string, code: string) => ({ coding: [{ system, code }] });
const state = (code: string) => ({ coding: [{ code }] });
const allergy = (code: object, more: JsonObject = {}): JsonObject =>
  Object.assign({ resourceType: 'AllergyIntolerance', clinicalStatus: state('active'), code }, more);
const problem = (code: object, more: JsonObject = {}): JsonObject =>
  Object.assign({ resourceType: 'Condition', clinicalStatus: state('active'), code }, more);
const taken = (medicationCodeableConcept: object, more: JsonObject = {}): JsonObject =>
  Object.assign({ resourceType: 'MedicationStatement', status: 'active', medicationCodeableConcept }, more);

const versionsOf = (values: readonly JsonObject[]): Version[] =>
  values.map((value, n) => {
    const id = `01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`;
    return { type: String(value.resourceType), id, version: 1, resource: { id, ...value }, byAi: false };
  });

function read(...values: readonly JsonObject[]): Statements<Told> {
  const entries = values.map((value, n) => ({
    ...{ type: String(value.resourceType), id: String(n), partOfAi: 'no' as const },
    value,
  }));
  return readRecord({}, entries, AROUND).facts;
}

const NONE: readonly (readonly [
  JsonObject,
  'allergies' | 'medicines' | 'problems' | 'vaccinations',
  string,
])[] = [
  [allergy(coded(SNOMED, '716186003')), 'allergies', 'no known allergies'],
  [allergy(coded(SNOMED, '409137002')), 'allergies', 'no known allergies to medicines'],
  [allergy(coded(SNOMED, '429625007')), 'allergies', 'no known allergies to food'],
  [allergy(coded(SNOMED, '428607008')), 'allergies', 'no known allergies to the environment'],
  [allergy(coded(IPS, 'no-known-allergies')), 'allergies', 'no known allergies'],
  [allergy(coded(IPS, 'no-allergy-info')), 'allergies', 'nothing is known about allergies'],
  [problem(coded(SNOMED, '160245001')), 'problems', 'no known problems'],
  [problem(coded(IPS, 'no-known-problems')), 'problems', 'no known problems'],
  [taken(coded(SNOMED, '787481004')), 'medicines', 'no known medicines'],
  [taken(coded(IPS, 'no-known-medications')), 'medicines', 'no known medicines'],
  [
    { resourceType: 'Immunization', status: 'completed', vaccineCode: coded(IPS, 'no-known-immunizations') },
    'vaccinations',
    'no known vaccinations',
  ],
];

describe('statements that there is none', () => {
  it('are in no list', () => {
    for (const [value, list, said] of NONE) {
      const facts = read(value);
      expect(facts[list], said).to.deep.equal([]);
      expect(facts.absences[list].map(absenceText)).to.deep.equal([said]);
    }
  });

  it('are told with their date and author, and with what is recorded in spite of them', () => {
    const none = allergy(coded(SNOMED, '716186003'), {
      ...{ recordedDate: '2024-05-01', asserter: { display: 'Dr Sand' } },
    });
    const penicillin = allergy({ text: 'Penicillin' }, { category: ['medication'] });
    const said = 'no known allergies; recorded 2024-05-01; stated by Dr Sand; also recorded: Penicillin';
    const facts = read(none, penicillin, allergy({ text: 'Milk' }, { clinicalStatus: state('resolved') }));
    expect(facts.absences.allergies.map(absenceText)).to.deep.equal([said]);
    expect(facts.allergies.map(({ name }) => name)).to.deep.equal(['Penicillin', 'Milk']);
    const food = read(allergy(coded(SNOMED, '429625007')), penicillin);
    expect(food.absences.allergies[0]?.against).to.deep.equal([]);
    expect(
      read(taken(coded(SNOMED, '787481004')), taken({ text: 'Metformin' })).absences.medicines[0]?.against,
    ).to.deep.equal(['Metformin']);
    const past = taken({ text: 'Metformin' }, { status: 'stopped' });
    expect(read(taken(coded(SNOMED, '787481004')), past).absences.medicines[0]?.against).to.deep.equal([]);
  });

  it('are contradicted by an allergy that only its reaction’s substance names, in each view', async () => {
    const reaction = [{ substance: { text: 'Amoxicillin' }, manifestation: [{ text: 'anaphylaxis' }] }];
    const nameless = { resourceType: 'AllergyIntolerance', clinicalStatus: state('active'), reaction };
    const none = allergy(coded(SNOMED, '716186003'));
    const facts = read(none, nameless);
    expect(facts.allergies.map(({ name }) => name)).to.deep.equal(['Amoxicillin']);
    expect(facts.absences.allergies[0]?.against).to.deep.equal(['Amoxicillin']);
    const [patient, ...versions] = versionsOf([{ resourceType: 'Patient' }, none, nameless]);
    if (patient === undefined) throw new Error('no patient');
    const record = { name: '', patient, versions: [patient, ...versions], directory: new Map() };
    const { bundle } = summarize(record, TODAY);
    const div = JSON.stringify(bundle);
    expect(div).to.contain('<td>Amoxicillin</td>').and.to.contain('also recorded: Amoxicillin');
    const seen = (await view([bundle], TODAY)).sections.get('allergies');
    expect(seen?.map(({ name }) => name)).to.include('Amoxicillin');
  });

  it('are told once for each code, by the newest, unless they are over', () => {
    const { absences } = read(
      allergy(coded(SNOMED, '716186003'), { recordedDate: '2020-01-01' }),
      allergy(coded(SNOMED, '716186003'), { recordedDate: '2024-01-01' }),
      allergy(coded(SNOMED, '409137002'), { clinicalStatus: state('inactive') }),
    );
    expect(absences.allergies.map(absenceText)).to.deep.equal(['no known allergies; recorded 2024-01-01']);
  });

  const IN_WORDS: readonly (readonly [code: string, ...texts: readonly string[]])[] = [
    [
      'no known allergies',
      ...[
        'None',
        'none known',
        'NKA',
        'N.K.A.',
        'No known allergies',
        'No Known Allergies.',
        'Denies allergies',
      ],
      ...['Patient denies any allergies', 'Allergies: none', 'No known allergy (situation)', 'nil known'],
      ...[
        'Keine',
        'keine bekannt',
        'Keine Allergien bekannt',
        'keine bekannten Allergien',
        'Allergien: keine',
      ],
      ...[
        'aucune allergie connue',
        'Aucune',
        'Pas d’allergie connue',
        'niega alergias',
        'Sin alergias conocidas',
      ],
      ...['ninguna alergia conocida', 'No se conocen alergias', 'Ingen kjente allergier', 'ingen'],
      ...['لا توجد حساسية معروفة', 'لا حساسية'],
    ],
    [
      'no known allergies to medicines',
      ...['NKDA', 'No known drug allergies', 'no known allergies to medications', 'N.K.D.A.'],
      ...[
        'Keine Medikamentenallergien bekannt',
        'keine Arzneimittelallergie',
        'keine Allergien gegen Medikamente',
      ],
      ...[
        'pas d’allergie médicamenteuse connue',
        'niega alergias medicamentosas',
        'sin alergia a medicamentos',
      ],
      ...['ingen kjente legemiddelallergier', 'لا توجد حساسية من الأدوية'],
    ],
    ['no known allergies to food', 'no known food allergies', 'keine Nahrungsmittelallergien'],
    [
      'denied allergy',
      ...[
        'Keine Penicillinallergie',
        'No penicillin allergy',
        'not allergic to latex',
        'no known allergy to eggs',
      ],
      ...['pas d’allergie à la pénicilline', 'niega alergia a la penicilina', 'ingen penicillinallergi'],
    ],
    ['nothing is known about allergies', 'None recorded', 'keine Angaben'],
  ];

  it('are also read in words, if these say nothing else', () => {
    for (const [said, ...all] of IN_WORDS)
      for (const text of all) {
        const { allergies, absences } = read(allergy({ text }));
        expect(allergies, text).to.deep.equal([]);
        expect(absences.allergies.map(absenceText), text).to.deep.equal([
          `${said}; recorded in words: “${text}”`,
        ]);
      }
    const elsewhere = [
      allergy({ coding: [{ system: 'urn:local', code: 'X1', display: 'No known drug allergies' }] }),
      allergy({ coding: [{ system: 'urn:local', code: 'X1' }], text: 'NKDA' }),
      { resourceType: 'AllergyIntolerance', note: [{ text: 'NKDA' }] },
      { resourceType: 'AllergyIntolerance', reaction: [{ substance: { text: 'NKDA' } }] },
    ];
    for (const value of elsewhere) expect(read(value).allergies, JSON.stringify(value)).to.deep.equal([]);
    expect(read(taken({ text: 'No medications' })).absences.medicines.map(absenceText)).to.deep.equal([
      'no known medicines; recorded in words: “No medications”',
    ]);
    expect(read(problem({ text: 'Keine Vorerkrankungen' })).problems).to.deep.equal([]);
  });

  it('aren’t read in words that say more, or beside a code or a reaction of something', () => {
    const rash = [{ manifestation: [{ text: 'rash' }] }];
    const real = [
      ...[
        ...['No reaction to penicillin except rash', 'None except penicillin', 'No allergies except latex'],
        ...['NKDA, but penicillin', 'No confirmed penicillin allergy', 'No other allergies', 'Nonoxynol-9'],
        ...[
          'No known allergies; penicillin rash in 1990',
          'Keine Allergie außer Penicillin',
          'Nickel',
          'Nuts',
        ],
        ...[
          'No known allergy to anything but penicillin',
          'sin alergias salvo penicilina',
          'Kein Penicillin',
        ],
        ...[
          'aucune allergie sauf pénicilline',
          'Noni juice',
          'Penicillin: no',
          'Ingenol',
          'No longer allergic',
        ],
      ].map((text) => allergy({ text })),
      allergy({ coding: [{ system: SNOMED, code: '764146007' }], text: 'None' }),
      allergy({ coding: [{ system: 'urn:local', code: '1', display: 'Penicillin' }], text: 'None' }),
      allergy({ text: 'None' }, { reaction: rash }),
      allergy({ text: 'None' }, { criticality: 'high' }),
      { resourceType: 'AllergyIntolerance', reaction: rash, note: [{ text: 'None' }] },
    ];
    for (const value of real) {
      const { allergies, absences } = read(value);
      expect(allergies.length, JSON.stringify(value)).to.equal(1);
      expect(absences.allergies, JSON.stringify(value)).to.deep.equal([]);
    }
    expect(read(taken({ text: 'None' }, { dosage: [{ text: '1 a day' }] })).medicines.length).to.equal(1);
  });

  it('in words are contradicted as those of codes are, and one of a substance by that substance', async () => {
    const [patient, ...versions] = versionsOf([
      { resourceType: 'Patient' },
      allergy({ text: 'NKDA' }),
      allergy({ text: 'Keine Penicillinallergie' }),
      allergy({ text: 'Penicillin V' }, { category: ['medication'] }),
      taken({ text: 'Penicillin V' }),
    ]);
    if (patient === undefined) throw new Error('no patient');
    const record = { name: '', patient, versions: [patient, ...versions], directory: new Map() };
    const { text } = await composeContext(record, TODAY, 5_000);
    expect(text).to.contain(
      '- no known allergies to medicines; recorded in words: “NKDA”; also recorded: Penicillin V',
    );
    expect(text).to.contain(
      '“no known allergies to medicines” is recorded in words (“NKDA”), and also Penicillin V',
    );
    expect(text).to.contain(
      '“denied allergy” is recorded in words (“Keine Penicillinallergie”), and also Penicillin V',
    );
    const { sections, bundle } = summarize(record, TODAY);
    expect(sections.get('48765-2')?.rows.map(({ Substance }) => Substance)).to.deep.equal(['Penicillin V']);
    const seen = (await view([bundle], TODAY)).sections.get('allergies');
    expect(seen?.flatMap(({ says }) => says.map(({ key }) => key))).to.include.members([
      'known.inwords',
      'known.alsorecorded',
    ]);
    // The denial of one substance isn't contradicted by a different substance.
    const other = read(allergy({ text: 'Keine Penicillinallergie' }), allergy({ text: 'Latex' }));
    expect(other.absences.allergies[0]?.against).to.deep.equal([]);
    // Contexts don't warn about any drug because of a denied substance.
    const alone = [patient, ...versions.filter((_, n) => n === 1 || n === 3)];
    const { text: free } = await composeContext({ ...record, versions: alone }, TODAY, 5_000);
    expect(free).to.not.contain('but there is');
  });

  it('are contradicted by an entry without any name', async () => {
    const [patient, ...versions] = versionsOf([
      { resourceType: 'Patient' },
      allergy(coded(SNOMED, '716186003')),
      { resourceType: 'AllergyIntolerance', clinicalStatus: state('active'), criticality: 'high' },
    ]);
    if (patient === undefined) throw new Error('no patient');
    const record = { name: '', patient, versions: [patient, ...versions], directory: new Map() };
    const { text } = await composeContext(record, TODAY, 5_000);
    expect(text).to.contain('- no known allergies; also recorded: an entry without a name');
    expect(text).to.contain('“no known allergies” is recorded, and also an entry without a name');
    const { bundle } = summarize(record, TODAY);
    expect(JSON.stringify(bundle)).to.contain('No known allergies; also recorded: an entry without a name.');
    const [row] = (await view([bundle], TODAY)).sections.get('allergies') ?? [];
    expect(row?.says.map(({ key }) => key)).to.deep.equal(['known.alsounnamed']);
    expect(texts('de')('known.alsounnamed')).to.equal('auch eingetragen: ein Eintrag ohne Namen');
  });

  it('have words in each language', () => {
    for (const lang of ['en', 'de', 'fr', 'es', 'nb', 'ar'] as const)
      for (const code of ['716186003', '160245001', '787481004', 'no-immunization-info'])
        expect(findCodeWord(lang, 'absence', code), `${lang} ${code}`).to.be.a('string');
    expect(texts('de')('known.alsorecorded', { text: 'Penicillin' })).to.equal(
      'auch eingetragen: Penicillin',
    );
  });

  it('are no entry of contexts, summaries and the page of shared links, and are said there', async () => {
    const [patient, ...versions] = versionsOf([
      { resourceType: 'Patient' },
      allergy(coded(SNOMED, '716186003'), { recordedDate: '2024-05-01' }),
      allergy({ text: 'Penicillin' }),
      problem(coded(SNOMED, '160245001')),
      taken(coded(IPS, 'no-known-medications')),
    ]);
    if (patient === undefined) throw new Error('no patient');
    const record = { name: '', patient, versions: [patient, ...versions], directory: new Map() };
    const { text } = await composeContext(record, TODAY, 5_000);
    expect(text).to.contain('- no known allergies; recorded 2024-05-01; also recorded: Penicillin');
    expect(text).to.contain('“no known allergies” is recorded, and also Penicillin');
    expect(text).to.contain('- no known problems').and.to.contain('- no known medicines');
    const { sections, bundle } = summarize(record, TODAY);
    const div = JSON.stringify(bundle);
    expect(div).to.contain('<p>No known allergies; recorded 2024-05-01; also recorded: Penicillin.</p>');
    expect(div).to.contain('<p>No known problems.</p>').and.to.contain('<p>No known medicines.</p>');
    expect(div).to.not.contain('That does not mean that there are none');
    const rows = ['48765-2', '11450-4', '10160-0'].map((code) => sections.get(code)?.rows.length);
    expect(rows).to.deep.equal([1, 0, 0]);
    const seen = await view([bundle], TODAY);
    expect(seen.sections.get('allergies')?.map(({ name }) => name)).to.deep.equal([
      'No known allergies',
      'Penicillin',
    ]);
    expect(seen.sections.get('problems')?.map(({ name }) => name)).to.deep.equal(['No known problems']);
  });
});
