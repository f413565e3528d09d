/**
 * Reads denials in words, which say that the patient has no allergy, medicine or problem: "NKDA", "keine bekannt", "niega
 * alergias". A text is treated as a denial only if it says nothing else. Pure.
 */

/** The lists that an entry may deny. */
export type DeniedList = 'allergies' | 'medicines' | 'problems';

/** A denial in words: the code in absent-unknown-uv-ips with the same meaning, or `denied-in-words` for one substance. */
export interface DenialInWords {
  readonly code: string;
  /** The record's words. */
  readonly words: string;
  /** The substance of a narrower denial, in lower case and without accents. */
  readonly subject: string | undefined;
}

/** The code for a denial of a single substance; code systems have no general code for this. */
export const DENIED_IN_WORDS = 'denied-in-words';

/** Longer texts say more than a denial. */
const LONGEST = 100;

/** Returns a text in lower case, without accents, full stops, quotes and SNOMED CT's semantic tag. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .replace(/[."“”„«»*()[\]]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ (?:situation|context-dependent category|finding|disorder)\s*$/, '')
    .replace(/ ?[!;:,]+\s*$/, '')
    .trim();
}

/** Returns a regular expression that matches only whole texts. */
function whole(...forms: readonly string[]): RegExp {
  return new RegExp(`^(?:${forms.join('|')})$`, 'u');
}

// The patterns match texts that `fold` has returned.
const NONE = [
  ...['none', 'nil', 'no', '(?:none|nil|nothing) (?:known|reported)', 'negative', 'denie[sd]'],
  ...['keine?', 'keine? bekannte?n?', 'nein', 'verneint', 'negativ'],
  ...['aucune?s?', 'aucune? connue?', 'neant', 'non', 'negatif'],
  ...['ningun[ao]', 'ningun[ao] conocid[ao]', 'no conocid[ao]s?', 'niega', 'negativ[ao]'],
  ...['ingen', 'ingen kjente?', 'nei', 'benekter'],
  ...['لا', 'لا يوجد', 'لا توجد', 'لا شيء', 'ينفي'].map(fold),
];
const ANY = NONE.join('|');

const EN_NO =
  '(?:(?:patient|pt|he|she) )?(?:(?:has |reports )?no (?:known |reported )?|denie[sd] (?:any |all )?(?:known )?)';
const EN_END = '(?: known| reported)?(?: (?:and|or) (?:intolerances|sensitivities|adverse reactions))?';
const DE_NO = '(?:(?:patient |patientin )?verneint |keine? (?:bekannten? )?)';
const DE_END = '(?: bekannt| verneint)?(?: (?:und|oder) (?:unvertraglichkeiten|intoleranzen)(?: bekannt)?)?';
const FR_NO = "(?:aucune |pas d'|absence d'|sans |nie (?:toute |une )?)";
const ES_NO = '(?:ninguna |sin |no (?:refiere |presenta |tiene |se conocen )?|niega (?:tener )?)';
const NB_NO = '(?:ingen (?:kjente? )?|benekter )';
const AR_NO = fold('لا').concat(' (?:توجد |يوجد )?');

/** Returns the patterns for denials of one kind of allergy, from its words in each language. */
function allergies(
  en: string,
  de: string,
  fr: string,
  es: string,
  nb: string,
  ar: string,
): readonly string[] {
  return [
    `${EN_NO}${en} allerg(?:y|ies)${EN_END}`,
    `${EN_NO}allerg(?:y|ies) to (?:any )?${en}(?: known)?`,
    `${DE_NO}${de}-?(?:allergien?|unvertraglichkeit(?:en)?)${DE_END}`,
    `${DE_NO}allergien? (?:gegen|auf) ${de}(?: bekannt)?`,
    `${FR_NO}allergies? ${fr}(?: connues?)?`,
    `${ES_NO}alergias? (?:conocidas? )?${es}(?: conocidas?)?`,
    `${NB_NO}${nb}allergi(?:er)?`,
    `${AR_NO}${fold('حساسية')} (?:${fold('معروفة')} )?${ar}`,
  ];
}

const OF_ALL = whole(
  ...NONE,
  'nka',
  `${EN_NO}allerg(?:y|ies)${EN_END}`,
  '(?:patient is )?not (?:known to be )?allergic(?: to anything)?',
  `${DE_NO}allergien?${DE_END}`,
  'nicht allergisch',
  `${FR_NO}allergies?(?: connues?)?`,
  'non allergique',
  `${ES_NO}alergias?(?: conocidas?)?`,
  'no alergic[oa]',
  `${NB_NO}allergi(?:er)?(?: kjent)?`,
  'ikke allergisk',
  `${AR_NO}${fold('حساسية')}(?: ${fold('معروفة')})?`,
  ...[fold('ينفي وجود حساسية'), fold('ليس لديه حساسية'), fold('ليس لديها حساسية')],
  `(?:allergies|allergy|allergien?|alergias?|allergie|allergier|cave) ?(?:[:-] ?)?(?:${ANY})`,
);

const OF_DRUGS = whole(
  ...['nkda', 'nkma', 'nka to (?:drugs|medications)', 'no known adverse drug reactions', 'namc'],
  ...allergies(
    '(?:drug|medication|medicine|medicinal|med)s?',
    '(?:medikamenten?|arzneimittel)',
    '(?:medicamenteuses?|aux medicaments)',
    '(?:medicamentosas?|farmacologicas?|a (?:los )?(?:medicamentos|farmacos))',
    '(?:legemiddel|medikament|medisin)',
    `(?:${fold('من الأدوية')}|${fold('للأدوية')}|${fold('دوائية')})`,
  ),
);

const OF_FOOD = whole(
  'nkfa',
  ...allergies(
    'foods?',
    '(?:nahrungsmittel|lebensmittel)',
    '(?:alimentaires?|aux aliments)',
    '(?:alimentarias?|a (?:los )?alimentos)',
    'mat(?:vare)?',
    `(?:${fold('غذائية')}|${fold('من الطعام')})`,
  ),
);

const OF_ENVIRONMENT = whole('nkea', `${EN_NO}environmental allerg(?:y|ies)${EN_END}`);

/** Words with which a denial leaves something open: "no other allergies", "no confirmed penicillin allergy". */
const OPEN = [
  ...['other', 'further', 'more', 'longer', 'doubt', 'confirmed', 'proven', 'certain', 'clear', 'severe'],
  ...['serious', 'true', 'real', 'major', 'only', 'new', 'active', 'current', 'additional', 'significant'],
  ...['specific', 'documented', 'definite', 'any', 'anything', 'all', 'known', 'past', 'previous', 'mild'],
  ...['anderes', 'alles', 'tout', 'otra', 'otras', 'otros', 'todo', 'andre', 'annet', 'kreuz', 'kryss'],
].join('|');
const SUBJECT = `(?!(?:${OPEN})(?!\\p{L}))(\\p{L}{3,})`;

const OF_ONE = [
  `${EN_NO}${SUBJECT} allerg(?:y|ies)`,
  `${EN_NO}allerg(?:y|ies) to (?:the )?${SUBJECT}`,
  `(?:is )?not allergic to (?:the )?${SUBJECT}`,
  `${DE_NO}(?!(?:${OPEN})-?allerg)(\\p{L}{3,}?)-?allergien?(?: bekannt)?`,
  `${DE_NO}allergien? (?:gegen|auf) ${SUBJECT}(?: bekannt)?`,
  `nicht allergisch (?:gegen|auf) ${SUBJECT}`,
  `${FR_NO}allergies? (?:connues? )?(?:a la |a l'|aux? |a )${SUBJECT}(?: connue)?`,
  `${ES_NO}alergias? (?:conocidas? )?al? (?:la |los |las )?${SUBJECT}`,
  `no alergic[oa] al? (?:la |los |las )?${SUBJECT}`,
  `${NB_NO}(?!(?:${OPEN})allerg)(\\p{L}{3,}?)allergi`,
  `${NB_NO}allergi mot ${SUBJECT}`,
  `ikke allergisk mot ${SUBJECT}`,
].map((form) => whole(form));

const NO_ALLERGY_INFO = whole(
  '(?:none|no allergies) (?:recorded|documented|on file)',
  'no allergy (?:information|data)(?: available)?',
  ...['keine angaben?(?: zu allergien)?', 'non renseignee?', 'sin datos(?: de alergias)?'],
);

const NO_MEDICINES = whole(
  ...NONE,
  `${EN_NO}(?:current |regular )?(?:medications?|medicines?|meds)`,
  `${DE_NO}(?:medikamente|dauermedikation|medikation|dauermedikamente)(?: bekannt)?`,
  '(?:aucun medicament|aucun traitement|pas de (?:traitement|medicament)s?)',
  `(?:sin|niega|no toma) (?:medicacion|medicamentos|tratamiento)`,
  '(?:ingen|bruker ingen) (?:faste )?(?:medisiner|medikamenter|legemidler)',
  `${AR_NO}${fold('أدوية')}`,
);

const NO_PROBLEMS = whole(
  ...NONE,
  `${EN_NO}(?:current |active )?(?:medical )?(?:problems?|conditions?)`,
  `${DE_NO}(?:vorerkrankungen|erkrankungen|probleme)(?: bekannt)?`,
  "(?:aucun antecedent|pas d'antecedents?)",
  '(?:sin|niega) antecedentes',
  'ingen (?:kjente )?(?:sykdommer|problemer)',
  `${AR_NO}${fold('أمراض')}`,
);

const TESTS: Readonly<Record<DeniedList, readonly (readonly [code: string, form: RegExp])[]>> = {
  allergies: [
    ['no-known-medication-allergies', OF_DRUGS],
    ['no-known-food-allergies', OF_FOOD],
    ['no-known-environmental-allergies', OF_ENVIRONMENT],
    ['no-known-allergies', OF_ALL],
    ['no-allergy-info', NO_ALLERGY_INFO],
  ],
  medicines: [['no-known-medications', NO_MEDICINES]],
  problems: [['no-known-problems', NO_PROBLEMS]],
};

/** How denials begin. Most texts begin differently and needn't be checked further. */
const BEGINNING =
  /^[^\p{L}]*(?:n|kein|verneint|patient|pt|s?he |has |reports|denie|is not|aucun|pas |absence|sans |sin |ingen|benekter|ikke|bruker|al+erg|cave|لا|ينفي|ليس)/iu;

/** Reads a text from an entry of a list; undefined unless the whole text is a denial. */
export function readDenial(list: DeniedList, text: string): DenialInWords | undefined {
  if (text.length > LONGEST || !BEGINNING.test(text)) return undefined;
  const folded = fold(text);
  // After folding, `N.K.D.A.` contains spaces.
  const said = /^(?:\p{L} )+\p{L}$/u.test(folded) ? folded.replaceAll(' ', '') : folded;
  const words = text.trim();
  for (const [code, form] of TESTS[list]) if (form.test(said)) return { code, words, subject: undefined };
  if (list !== 'allergies') return undefined;
  for (const form of OF_ONE) {
    const subject = form
      .exec(said)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (subject !== undefined) return { code: DENIED_IN_WORDS, words, subject };
  }
  return undefined;
}

/** Returns whether a name contains the substance of a narrower denial. */
export function isDenied(name: string, subject: string): boolean {
  const stem = subject.length > 5 ? subject.replace(/(?:es|s|e|en|n)$/, '') : subject;
  return fold(name).includes(stem);
}
