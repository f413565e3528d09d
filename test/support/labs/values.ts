/** Variants of result values: values, codes, ranges, flags, units. */
import { type Form, form, GLUCOSE, one, results } from './parts.ts';

/** By name. */
export const VALUES: readonly Form[] = [
  form('NM', one('NM', '5.60', 'mmol/L|||||F')),
  form('NM with a comma', one('NM', '5,6', 'mmol/l|||||F')),
  form('NM with a leading zero', one('NM', '065.88', 'g/L|||||F')),
  form('NM that is two numbers', one('NM', '1,234', 'mmol/L|||||F')),
  form('NM below a limit', one('NM', '<0.1', 'mmol/L|||||F')),
  form('NM that is none', one('NM', 'haemolysed', 'mmol/L|||||F')),
  form(
    'NM with sign, zeros and exponent',
    results(
      `OBX|1|NM|${GLUCOSE}||+05.5|||||F`,
      'OBX|2|NM|2160-0^Creatinine^LN||-1.2E3||||||F',
      'OBX|3|NM|718-7^Hb^LN||.5||||||F',
    ),
  ),
  form('SN with a comparator', one('SN', '<=^10', 'mg/L|||||F')),
  form('SN that is a range', one('SN', '^10^-^20', 'mg/L|||||F')),
  form('SN that is a ratio', one('SN', '^1^:^128')),
  form('SN that is a grade', one('SN', '^2^+')),
  form('ST with a unit', one('ST', '> 90', 'mL/min/1.73m2|||||F')),
  form(
    'numbers with a flag behind them, as ST and NM',
    results(
      'OBX|1|ST|2823-3^Potassium^LN||7.2!|mmol/L|||||F',
      'OBX|2|ST|2951-2^Sodium^LN||120 L|mmol/L|||||F',
      'OBX|3|NM|2345-7^Glucose^LN||>5,6H|mmol/L||H|||F',
      'OBX|4|NM|2160-0^Creatinine^LN||7.2*|mg/dL|||||F',
      'OBX|5|ST|718-7^Hb^LN||7.2 (LL)|g/dL|||||F',
      'OBX|6|ST|19868-9^FVC^LN||4.5 L|L|||||F',
      'OBX|7|ST|2075-0^Chloride^LN||105 mmol/L H|mmol/L|||||F',
    ),
  ),
  form(
    'numbers that are none, with a unit, as ST, NM and SN',
    results(
      'OBX|1|ST|5821-4^Leukocytes^LN||0-2|/HPF|||||F',
      'OBX|2|NM|2345-7^Glucose^LN||7.2?|mmol/L|||||F',
      'OBX|3|SN|2887-8^Protein^LN||^2^+|mg/dL|||||F',
      'OBX|4|ST|2350-7^Glucose^LN||negative|mmol/L|||||F',
    ),
  ),
  form('ST without a unit', one('ST', '<5')),
  form('FT and TX in repetitions', one('TX', 'first line~second line~~fourth')),
  form(
    'TX, an OBX for each line',
    results(
      'OBX|1|TX|22634-0^Pathology^LN|1|line one||||||F',
      'OBX|2|TX|22634-0^Pathology^LN|1|line two||||||F',
      'OBX|3|TX|22634-0^Pathology^LN|2|another||||||F',
    ),
  ),
  form(
    'TX lines that OBX-4 numbers, without code or status after the first',
    results(
      'OBX|1|TX|22634-0^Pathology^LN|1|line one||||||F',
      'OBX|2|TX|22634-0^Pathology^LN|2|line two||||||F',
      'OBX|3|TX||3|line three||||||',
    ),
  ),
  form(
    'LOINC by other names of its system, and without one',
    results(
      'OBX|1|NM|2345-7^Glucose^LNC||5|mg/dL|||||F',
      'OBX|2|NM|2823-3^Potassium^2.16.840.1.113883.6.1||5|mmol/L|||||F',
      'OBX|3|NM|2951-2^Sodium||140|mmol/L|||||F',
      'OBX|4|NM|2951-3^Sodium||140|mmol/L|||||F',
      'OBX|5|NM|X1^x^L||5|xx^local^L^umol/L/h^micromole per litre and hour^UCUM|||||F',
    ),
  ),
  form('CE', one('CE', 'YEL^Yellow^L')),
  form('CQ in another unit than OBX-6', one('CQ', '5^mg/dL', 'mmol/L|4-6||||F')),
  form('CWE of LOINC’s answers', one('CWE', 'LA6576-8^Positive^LN')),
  form(
    'CWE with an alternate and its own text',
    one('CWE', '112283007^Escherichia coli^SCT^ECO^E. coli^L^^^E. coli, many'),
  ),
  form('CWE in repetitions', one('CWE', 'A^Alpha^L~B^Beta^L')),
  form('IS and ID', results(`OBX|1|IS|${GLUCOSE}||POS||||||F`, 'OBX|2|ID|5778-6^Color^LN||Y||||||F')),
  form(
    'DT, DTM, TS and TM',
    results(
      'OBX|1|DT|8665-2^LMP^LN||20260301||||||F',
      'OBX|2|DTM|8665-2^LMP^LN|2|202603011230||||||F',
      'OBX|3|TS|8665-2^LMP^LN|3|20260301123005.25-0500||||||F',
      'OBX|4|TM|8665-2^LMP^LN|4|0830||||||F',
    ),
  ),
  form(
    'times that are none',
    results('OBX|1|DT|8665-2^LMP^LN||20260231||||||F', 'OBX|2|NM|2160-0^Crea^LN||70|umol/L|||||F|||20269931'),
  ),
  form('ED of base64', one('ED', '^application^PDF^Base64^JVBERi0xLjQK')),
  form(
    'ED of 90 kB',
    one('ED', `^application^PDF^Base64^${Buffer.from(`%PDF-1.4\n${'x'.repeat(90_000)}`).toString('base64')}`),
  ),
  form('ED of plain text', one('ED', '^TEXT^plain^A^hello \\F\\ you')),
  form('ED that is not what it says', one('ED', '^IM^JPEG^Base64^###')),
  form('RP to an address', one('RP', 'https://lab.example/r/1.pdf^^application^pdf')),
  form('RP to something else', one('RP', 'file-17^PACS')),
  form('a value type that has no element', one('XPN', 'Berg^Anna')),
  form('a value without a type', one('', '5.6', 'mmol/L|||||F')),
  form('a value that is taken back by two quotes', one('NM', '""', 'mmol/L|||||F')),
  form(
    'a local code with LOINC beside it',
    results('OBX|1|NM|GLU^Glukos^L^2345-7^Glucose^LN||5|mmol/L|||||F'),
  ),
  form('a local code alone', results('OBX|1|NM|GLU^P-Glukos^L||5|mmol/L|||||F')),
  form('a local code of a named system', results('OBX|1|NM|NPU02192^P-Glucose^NPU||5|mmol/L|||||F')),
  form('what says it is LOINC and is not', results('OBX|1|NM|2345-8^Glucose^LN||5|mmol/L|||||F')),
  form('a text for a code', results('OBX|1|NM|^Glukos||5|mmol/L|||||F')),
  form('no code', results('OBX|1|NM|||5|mmol/L|||||F')),
  // Ranges, flags, units.
  form(
    'ranges in local spellings',
    results(
      ...[
        '4,0 - 5,6',
        '4.0–5.6',
        '[4 - 6]',
        '< 5',
        '>=60',
        'neg',
        'M: 13-17; F: 12-15',
        '5.6-4.0',
        '-2 - +2',
        '3.5-5.1 mmol/L',
        '≤ 7',
        'up to 40',
        '1,000-2,000',
      ].map((range, at) => `OBX|${at + 1}|NM|${GLUCOSE}|${at + 1}|5|mmol/L|${range}||||F`),
    ),
  ),
  form(
    'flags',
    results(
      ...['H', 'LL', 'N', 'A~H', '*', 'high', '<', 'POS^Positive^HL70078', 'R'].map(
        (flag, at) => `OBX|${at + 1}|NM|${GLUCOSE}|${at + 1}|5|mmol/L||${flag}|||F`,
      ),
    ),
  ),
  form(
    'units in local spellings',
    results(
      ...[
        'mg/dl',
        'µmol/l',
        '10^9/L',
        'x10E3/uL',
        'G/l',
        'mmHg',
        'IU/L',
        'ml/min/1,73m²',
        '%',
        'E9/L',
        'mcg/dL',
        'arb.units',
        'g/L^gram per litre^UCUM',
        'mm/h',
      ].map((unit, at) => `OBX|${at + 1}|NM|${GLUCOSE}|${at + 1}|5|${unit}|||||F`),
    ),
  ),
];
