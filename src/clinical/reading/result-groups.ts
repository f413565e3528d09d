/**
 * The groups in which results are shown, as plain data: LOINC codes in the order in which the group lists them. Each group
 * names its source. Codes in no group are grouped by their category.
 */

interface ResultGroupRule {
  /** LOINC codes, separated by spaces. */
  readonly codes: string;
  readonly source: string;
}

/** The groups, in the order in which a page shows them. */
export const RESULT_GROUPS = {
  vitalSigns: {
    codes:
      '85354-9 55284-4 8480-6 8462-4 8478-0 8867-4 8310-5 8331-1 8332-9 8333-7 8328-7 9279-1 59408-5 2708-6 29463-7 3141-9 8302-2 39156-5 8287-5',
    source:
      'LOINC panel 85353-1, Vital signs, weight, height, head circumference, oxygen saturation and BMI panel',
  },
  diabetes: {
    codes: [
      '2345-7 2339-0 27353-2 2340-8 14749-6 15074-8 53553-4 4548-4 17856-6 59261-8 1986-9 14633-2 20448-7',
      '1558-6 14743-9 41653-7',
    ].join(' '),
    source: 'American Diabetes Association, Standards of Care in Diabetes: diagnosis and glycemic targets',
  },
  kidney: {
    codes: [
      '2160-0 14682-9 38483-4 59826-8 3094-0 6299-2 3095-7 3096-5 22664-7 22700-9 72903-8 3092-4 33914-3',
      '48642-3 48643-1 50210-4 62238-1 98979-8 77147-7 69405-9 3097-3 33863-2 3084-1 14933-6 3087-4 3086-6',
      '88293-6 14935-1 14934-4 35591-7 14959-1 9318-7 14958-3 30000-4 32294-1 14957-5 58448-2 1754-1 14956-7 30003-8',
      '2161-8 35674-1 14683-7 2162-6 2164-2 55593-8 14684-5 12195-4 5804-0 2888-6 2889-4 35663-4 21482-5',
      '24362-6',
    ].join(' '),
    source:
      'LOINC panels 24362-6, Renal function 2000, without electrolytes, and 45066-8; albumin and protein in urine: KDIGO 2024 guideline on chronic kidney disease',
  },
  electrolytes: {
    codes: [
      '2951-2 2947-0 2823-3 6298-4 2075-0 2069-3 2028-9 1959-6 20565-8 1963-8 1960-4 34728-6 48391-7 14627-4',
      '17861-6 2000-8 29265-6 1996-8 49765-1 1994-3 1995-0 17864-0 12180-6 17863-2 38230-9 2601-3 19123-9',
      '2593-2 2597-3 26746-8 2777-1 14879-1 24519-1 10466-1 33037-3 1863-0 2692-2 18182-6 24326-1',
    ].join(' '),
    source: 'LOINC panel 24326-1, Electrolytes 1998, and the minerals of 24362-6, Renal function 2000',
  },
  bloodCount: {
    codes: [
      '718-7 30313-1 20509-6 30350-3 789-8 26453-1 6690-2 26464-8 12227-5 804-5 33256-9 777-3 26515-7 778-1',
      '4544-3 20570-8 31100-1 4545-0 48703-3 787-2 30428-7 785-6 28539-5 786-4 59467-1 788-0 21000-5 30385-9',
      '32623-1 28542-9 4679-7 14196-0 17849-1 40665-2 60474-4 31112-6 751-8 26499-4 753-4 770-8 26511-6 23761-0',
      '731-0 26474-7 736-9 26478-8 737-7 742-7 26484-6 743-5 26485-3 5905-5 744-3 711-2 26449-9 713-8 26450-7',
      '714-6 704-7 26444-0 706-2 30180-4 707-0 38518-7 30395-8 30394-1 26508-2 26507-4 57021-8',
    ].join(' '),
    source: 'LOINC panel 57021-8, CBC W Auto Differential panel - Blood, with other methods of its members',
  },
  lipids: {
    codes: [
      '2093-3 14647-2 13457-7 2089-1 22748-8 39469-2 18262-6 69419-0 2085-9 14646-4 2095-8 2571-8 14927-8',
      '70218-3 3043-7 43396-1 70204-3 13458-5 2091-7 66126-4 25371-6 46986-6 70203-5 1884-6 1871-3 1869-7',
      '10835-7 43583-4 9830-1 32309-7 24331-1',
    ].join(' '),
    source:
      'LOINC panel 24331-1, Lipid 1996; apolipoproteins and lipoprotein(a): Mach et al. (ESC/EAS), Eur Heart J 2020;41:111-188',
  },
  liver: {
    codes: [
      '1742-6 1743-4 1744-2 76625-3 1920-8 30239-8 6768-6 1783-0 1777-2 1779-8 17838-4 2324-2 1975-2 14631-6',
      '54363-7 42719-5 1968-7 14629-0 29760-6 15152-2 1971-1 14630-8 1751-7 61151-7 2885-2 10834-0 2336-6 1759-0 1841-6',
      '16362-6 22763-7 1839-0 24325-3',
    ].join(' '),
    source: 'LOINC panel 24325-3, Hepatic function 2000; Kwo et al. (ACG), Am J Gastroenterol 2017;112:18-35',
  },
  thyroid: {
    codes: [
      '11579-0 3016-3 11580-8 3015-5 29575-8 3024-7 32215-6 14920-3 3026-2 14921-1 31144-9 3053-6 14930-2',
      '3013-0 14918-7 3051-0 14928-6 8099-4 24348-5',
    ].join(' '),
    source: 'LOINC panel 24348-5, Free T4 and TSH; Ross et al. (ATA), Thyroid 2016;26:1343-1421',
  },
  inflammation: {
    codes: '1988-5 30522-7 76485-2 71426-1 4537-7 30341-2 33959-8 75241-0',
    source: 'Gabay and Kushner, acute-phase proteins, N Engl J Med 1999;340:448-454',
  },
  coagulation: {
    codes: [
      '6301-6 34714-6 38875-1 46418-0 5902-2 5894-1 5964-2 3173-2 14979-9 3255-7 48065-7 48066-5 91556-1',
      '48058-2 27811-9 3174-0 3289-6 34528-0',
    ].join(' '),
    source: 'LOINC panel 34528-0, PT panel, and the tests beside it in LOINC’s class COAG',
  },
  heart: {
    codes: [
      '10839-9 6598-7 67151-1 89579-7 49563-0 42757-5 48425-3 30934-4 42637-9 47092-2 33762-6 33763-4 71425-3',
      '83107-3 2157-6 13969-1 49136-5 20569-0 32673-6 49551-5 2639-3 56887-3 53833-0',
    ].join(' '),
    source:
      'Byrne et al. (ESC), Eur Heart J 2023;44:3720-3826; McDonagh et al. (ESC), Eur Heart J 2021;42:3599-3726',
  },
  ironVitamins: {
    codes: [
      '2276-4 14723-1 20567-4 24373-3 2498-4 14798-3 2500-7 2501-5 14800-7 22753-8 3034-6 22674-6 2502-3',
      '14801-5 2132-9 14685-2 16695-9 2284-8 14732-2 2283-0 25415-1 14731-4 2282-2 1989-3 14635-7 62292-8',
      '50190-8',
    ].join(' '),
    source:
      'LOINC panel 50190-8, Iron and Iron binding capacity; folate and vitamins: WHO, Nutritional anaemias, 2017',
  },
} as const satisfies Readonly<Record<string, ResultGroupRule>>;

/** A group's name. */
export type ResultGroup = keyof typeof RESULT_GROUPS;

/** A code's place in the groups. */
interface Place {
  readonly group: ResultGroup;
  /** The code's position in the group. */
  readonly at: number;
}

const PLACES: ReadonlyMap<string, Place> = new Map(
  (Object.keys(RESULT_GROUPS) as ResultGroup[]).flatMap((group) =>
    RESULT_GROUPS[group].codes.split(' ').map((code, at): [string, Place] => [code, { group, at }]),
  ),
);

/** Returns a LOINC code's group and the code's position in it; undefined if the code is in no group. */
export function findResultGroup(code: string): Place | undefined {
  return PLACES.get(code);
}
