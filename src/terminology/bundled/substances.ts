/** Annal's own properties for ATC codes: other names for substances, and whether the substances act throughout the body. */
import { type Properties, RANK, SYNONYM } from './own.ts';

/** ATC's name → names that people use: British and American names, but no brands. */
const NAMES: Readonly<Record<string, string>> = {
  'acetylsalicylic acid': 'aspirin|ASA',
  aciclovir: 'acyclovir',
  'alendronic acid': 'alendronate',
  amoxicillin: 'amoxycillin',
  'amoxicillin and beta-lactamase inhibitor':
    'co-amoxiclav|amoxicillin clavulanate|amoxicillin and clavulanic acid',
  beclometasone: 'beclomethasone',
  bendroflumethiazide: 'bendrofluazide',
  benzylpenicillin: 'penicillin G',
  cefalexin: 'cephalexin',
  chlorphenamine: 'chlorpheniramine',
  chlortalidone: 'chlorthalidone',
  ciclosporin: 'cyclosporine|cyclosporin',
  colecalciferol: 'cholecalciferol|vitamin D3',
  cyanocobalamin: 'vitamin B12',
  'dabigatran etexilate': 'dabigatran',
  dexamfetamine: 'dextroamphetamine',
  epinephrine: 'adrenaline',
  estradiol: 'oestradiol',
  'folic acid': 'folate|vitamin B9',
  furosemide: 'frusemide',
  glibenclamide: 'glyburide',
  'glyceryl trinitrate': 'nitroglycerin|nitroglycerine|GTN',
  'ipratropium bromide': 'ipratropium',
  isoprenaline: 'isoproterenol',
  'levodopa and decarboxylase inhibitor': 'carbidopa levodopa|co-careldopa|co-beneldopa',
  'levothyroxine sodium': 'levothyroxine|thyroxine',
  lidocaine: 'lignocaine',
  macrogol: 'polyethylene glycol|PEG',
  mesalazine: 'mesalamine',
  norepinephrine: 'noradrenaline',
  orciprenaline: 'metaproterenol',
  paracetamol: 'acetaminophen|APAP',
  pethidine: 'meperidine',
  phenobarbital: 'phenobarbitone',
  phenoxymethylpenicillin: 'penicillin V|penicillin VK',
  rifampicin: 'rifampin',
  salbutamol: 'albuterol',
  'sulfamethoxazole and trimethoprim': 'co-trimoxazole|cotrimoxazole|trimethoprim sulfamethoxazole|TMP-SMX',
  thiamazole: 'methimazole',
  'tiotropium bromide': 'tiotropium',
  torasemide: 'torsemide',
  'valproic acid': 'valproate|divalproex|sodium valproate',
};

/**
 * Groups of substances that act only where they are applied: in the mouth, gut, vagina, nose, throat, ears or eyes, or on the
 * skin.
 */
const LOCAL = /^(?:A01|A07|B02BC|C05A|D|G01|M02|N01B|R01|R02|S)/;

/**
 * Returns Annal's own properties of an ATC code.
 * @param display ATC's name
 */
export function substanceProperties(code: string, display: string): Properties {
  const names = NAMES[display.toLowerCase()]?.split('|');
  return {
    ...(LOCAL.test(code) ? { [RANK]: '2' } : { [RANK]: '1' }),
    ...(names === undefined ? {} : { [SYNONYM]: names }),
  };
}
