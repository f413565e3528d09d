/** Names and codes that the clinical rules for contexts must recognise, and names and codes that they must not. */
import { expect } from 'chai';
import { CLASSES, DRUGS } from '#src/context/guidance/drugs.ts';
import { findIllnesses, ILLNESSES } from '#src/context/guidance/illnesses.ts';

type Case = readonly [rule: string, matches: readonly string[], passes: readonly string[]];

/** Names of problems, by illness. */
const PROBLEMS: readonly Case[] = [
  [
    'diabetes',
    ['Type 2 diabetes mellitus', 'Diabetic nephropathy', 'Gestational diabetes'],
    [
      'Prediabetes',
      'Pre-diabetes',
      'Diabetes insipidus',
      'Family history of diabetes',
      'At risk of diabetes',
    ],
  ],
  [
    'hypertension',
    ['Essential hypertension', 'Hypertensive disorder', 'High blood pressure'],
    [
      ...['Pulmonary hypertension', 'Pulmonary arterial hypertension', 'Hypertension, pulmonary'],
      ...['Portal hypertension', 'Ocular hypertension', 'Idiopathic intracranial hypertension'],
    ],
  ],
  ['kidney disease', ['Chronic kidney disease stage 3', 'Renal failure'], ['Acute renal failure']],
  [
    'stroke',
    ['Stroke', 'Ischaemic stroke', 'Transient ischemic attack', 'Cerebral infarction'],
    ['Heat stroke', 'Hemorrhagic stroke', 'Haemorrhagic stroke', 'Low stroke volume'],
  ],
  [
    'hypothyroidism',
    ['Hypothyroidism'],
    ['Hyperthyroidism', 'Subclinical hypothyroidism', 'Hypoparathyroidism'],
  ],
  ['hyperthyroidism', ['Hyperthyroidism', 'Thyrotoxicosis', "Graves' disease"], ['Hyperparathyroidism']],
  ['depression', ['Major depressive disorder'], ['Respiratory depression', 'ST depression']],
  [
    'rheumatoid arthritis',
    ['Rheumatoid arthritis', 'Seropositive rheumatoid disease'],
    ['Septic arthritis', 'Psoriatic arthritis', 'Osteoarthritis', 'Rheumatoid factor positive'],
  ],
  [
    'prostate cancer',
    [
      'Prostate cancer',
      'Carcinoma of prostate',
      'Malignant neoplasm of prostate',
      'Prostatic adenocarcinoma',
    ],
    ['Prostatitis', 'Benign prostatic hyperplasia', 'Benign neoplasm of prostate'],
  ],
];

/** ICD-10 codes, by illness. */
const ICD: readonly Case[] = [
  ['COPD', ['J41.0', 'J44.1'], ['J40', 'J45.0']],
  ['stroke', ['I63.9', 'I64', 'G45.9', 'I69.3'], ['I60.9', 'I61.0', 'I62.0', 'I69.1', 'G45.4']],
  ['hypothyroidism', ['E03.9', 'E89.0'], ['E02', 'E05.0']],
  ['hyperthyroidism', ['E05.0'], ['E03.9', 'E06.3']],
  ['rheumatoid arthritis', ['M05.9', 'M06.0'], ['M07.3', 'M00.9', 'M08.0']],
];

/** Names and ATC codes of drugs, by a code or name that selects the rule. */
const TREATMENTS: readonly Case[] = [
  [
    'C10AA01',
    ['Simvastatin', 'pravastatin 40 mg', 'Ezetimibe', 'C10AA05'],
    ['Nystatin', 'Imipenem/cilastatin'],
  ],
  [
    'L04AX03',
    [
      ...[
        'Methotrexate',
        'Azathioprine',
        'Ciclosporin',
        'Cyclosporine',
        'Leflunomide',
        'Mycophenolate mofetil',
      ],
      ...['Tacrolimus', 'L04AX01', 'L04AD01', 'L04AD02', 'L04AA06', 'L04AA13', 'L04AK01'],
    ],
    ['Tacrolimus ointment', 'Cyclosporine ophthalmic emulsion', 'L01BA01', 'L04AB02', 'A07EC01'],
  ],
  ['A07EC01', ['Sulfasalazine'], ['Sulfamethoxazole', 'A07EC02']],
  ['H03BB01', ['Carbimazole', 'Methimazole', 'Propylthiouracil'], ['Metronidazole', 'H03AA01']],
  ['L01XA01', ['Cisplatin', 'Chemotherapy', 'L01BA01'], ['L04AX03', 'L02BA01']],
  ['R03AC02', ['Salbutamol', 'Formoterol', 'Albuterol', 'R03BA02'], ['R01AD05', 'Cholesterol']],
  ['A10BJ06', ['Semaglutide', 'Metformin'], ['Teduglutide']],
];

/** Names and ATC codes of drugs, by the name of the drug class that a person is allergic to. */
const ALLERGIES: readonly Case[] = [
  ['Penizilline', ['Amoxicilline', 'amoxicilina', 'Amoxizillin', 'J01CA04'], ['Cefalexin', 'Vancomycin']],
  ['pénicilline', ['Amoxicillin'], ['Clindamycin']],
  ['penicilina', ['Flucloxacillin'], ['Gentamicina']],
  ['céphalosporine', ['Cefuroxim', 'Céfazoline'], ['Amoxicillin']],
  ['sulfamides', ['Sulfametoxazol', 'J01EE01'], ['Sulfat', 'Glimepirid']],
  ['Makrolide', ['Eritromicina', 'Érythromycine', 'Azitromicina', 'J01FA10'], ['Clindamycin']],
  ['Chinolone', ['Ciprofloxacin', 'J01MA02'], ['Chinin']],
  ['Tetrazykline', ['Doxycyclin', 'Doxiciclina', 'J01AA02'], ['Nortriptylin']],
  [
    'NSAR',
    ['Ibuprofène', 'Diklofenak', 'ASS 100', 'ácido acetilsalicílico', 'M01AE01'],
    ['Metamizol', 'Mesalazin'],
  ],
  ['Opiate', ['Morphin', 'morfina', 'Kodein', 'N02AA01'], ['Apomorphin', 'Naloxon']],
  ['ACE-Hemmer', ['Ramipril', 'enalaprilo', 'C09AA05'], ['Losartan', 'Prilocain']],
  ['Statine', ['Simvastatin', 'C10AA01'], ['Nystatin']],
  ['héparine', ['Heparin', 'B01AB05'], ['Apixaban']],
  ['Penicillin', ['Flucloxacillin', 'Piperacillin', 'Co-amoxiclav', 'J01CR02'], ['Cefalexin', 'J01DB01']],
  [
    'Cephalosporin',
    ['Cefuroxime', 'Cephalexin', 'J01DB01', 'J01DC02', 'J01DD04', 'J01DE01', 'J01DI02'],
    ['Aztreonam', 'J01DF01', 'Meropenem', 'J01DH02', 'J01DI03'],
  ],
  ['Sulfonamides', ['Co-trimoxazole', 'Sulfamethoxazole', 'J01EE01'], ['Trimethoprim', 'J01EA01']],
  [
    'Ibuprofen',
    ['Aspirin', 'Naproxen', 'M01AE01', 'N02BA01', 'B01AC06'],
    ['Glucosamine', 'M01AX05', 'N02BE01'],
  ],
  ['NSAID', ['Aspirin', 'Diclofenac', 'B01AC06'], ['Paracetamol']],
  ['Aspirin', ['Ibuprofen', 'M01AB05', 'N02BA01'], ['Clopidogrel', 'B01AC04']],
  ['Morphine', ['Codeine', 'Opioid', 'N02AA01'], ['Apomorphine', 'N04BC07']],
  [
    'Statins',
    ['Simvastatin', 'Atorvastatin', 'Pravastatin', 'C10AA05'],
    ['Nystatin', 'Cilastatin', 'A07AA02'],
  ],
  ['Doxycycline', ['Minocycline', 'Tetracycline', 'J01AA08'], ['Cycloserine']],
];

const isCode = (name: string): boolean => /^[A-Z]\d\d[A-Z.\d]*$/.test(name);

/** Checks a rule against names and codes. */
function check(has: (name: string) => boolean, [rule, matches, passes]: Case): void {
  expect(
    matches.filter((name) => !has(name)),
    `${rule} misses`,
  ).to.deep.equal([]);
  expect(passes.filter(has), `${rule} wrongly has`).to.deep.equal([]);
}

describe('clinical rules recognise', () => {
  for (const each of PROBLEMS)
    it(`${each[0]} by name`, () =>
      check((name) => findIllnesses(name).some((i) => i.name === each[0]), each));
  for (const each of ICD)
    it(`${each[0]} by ICD-10 code`, () =>
      check((code) => findIllnesses('', [code]).some((i) => i.name === each[0]), each));
  for (const each of TREATMENTS)
    it(`drugs like ${each[0]}`, () => {
      const rules = DRUGS.filter(({ codes }) => codes.test(each[0]));
      expect(rules).not.to.be.empty;
      check((name) => rules.some(({ codes, words }) => (isCode(name) ? codes : words).test(name)), each);
    });
  for (const each of ALLERGIES)
    it(`drugs of the class of ${each[0]}`, () => {
      const classes = CLASSES.filter(({ words }) => words.test(each[0]));
      expect(classes).not.to.be.empty;
      check((name) => classes.some(({ codes, words }) => (isCode(name) ? codes : words).test(name)), each);
    });

  it('an illness in tasks by the same words', () => {
    const named = ILLNESSES.filter(({ words }) =>
      words.test('follow-up: diabetes; family history of stroke'),
    );
    expect(named.map(({ name }) => name)).to.include('diabetes');
  });
});
