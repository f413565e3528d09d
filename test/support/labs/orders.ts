/** Variants of the parts around results: orders, notes, specimens, statuses, times, patients. */
import { type Form, form, GLUCOSE, msh, OBR, one, oru, PID, results } from './parts.ts';

/** By name. */
export const ORDERS: readonly Form[] = [
  form(
    'notes on patient, order and result',
    oru(
      'NTE|1||fasting',
      OBR,
      'NTE|1|L|order note~second',
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`,
      'NTE|1|L|first',
      'NTE|2|L|second',
    ),
  ),
  form(
    'who, how and where',
    results(
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F|||202603310815+0200|CL1^City Lab|77^Lund^Eva^^^Dr|ENZ^enzymatic^L|ANALYZER7||LA^left arm^L|INST-9||City Lab AB`,
    ),
  ),
  form(
    'specimens in SPM',
    oru(
      OBR,
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`,
      'SPM|1|P9&LIS^S900&LIS||SER^Serum^HL70487||||LA^Left arm^L|||||||||20260331075500+0200^20260331075900+0200|20260331083000+0200|||HEM^haemolysed^L',
    ),
  ),
  form('two specimens', oru(OBR, `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`, 'SPM|1|^S1||SER', 'SPM|2|^S2||UR')),
  form(
    'a specimen in OBR-15',
    oru(
      'OBR|1||F7|600-7^Blood culture^LN|||20260331080000+0200|||||||20260331083000+0200|BLD&Blood^^^LA&Left arm|||||||||MB|P',
      'OBX|1|ST|600-7^Culture^LN||growth||||||P',
    ),
  ),
  form(
    'several orders',
    oru(
      OBR,
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`,
      'OBR|2|P101|F101|57021-8^CBC^LN|||20260331080000+0200||||||||||||||||||F',
      'OBX|1|NM|718-7^Hb^LN||140|g/L|||||F',
      'OBX|2|NM|718-7^Hb^LN||141|g/L|||||F',
    ),
  ),
  form(
    'an organism and what it is resistant to',
    oru(
      'OBR|1||F7|600-7^Blood culture^LN|||20260331080000+0200|||||||||||||||||MB|F',
      'OBX|1|CWE|600-7^Culture^LN|1|112283007^Escherichia coli^SCT||||||F',
      'OBR|2||F8|29576-6^Susceptibility^LN|||20260331080000+0200|||||||||||||||||MB|F|600-7&Culture&LN^1|||F7',
      'OBX|1|SN|18862-3^Ampicillin^LN||>=^32|ug/mL||R|||F',
    ),
  ),
  form(
    'the filler in ORC alone',
    oru(
      'ORC|RE|P55|F55',
      'OBR|1|||24323-8^Panel^LN|||20260331080000+0200||||||||||||||||||F',
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`,
    ),
  ),
  form('no order', oru(`OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F|||20260331080000+0200`)),
  form(
    'segments that are not read',
    oru('PD1|1', 'PV1|1|I', OBR, `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`, 'ZLR|1|something', 'DG1|1||E11'),
  ),
  form(
    'every status',
    results(
      ...'C A D W X P R S I O U F N Z'
        .split(' ')
        .map(
          (status, at) =>
            `OBX|${at + 1}|NM|${GLUCOSE}|${at + 1}|${status === 'N' ? '' : '5'}|mmol/L|||||${status}`,
        ),
    ),
  ),
  form(
    'no status of its own',
    oru(
      'OBR|1||F1|24323-8^Panel^LN|||20260331080000+0200||||||||||||||||||A',
      `OBX|1|NM|${GLUCOSE}||5|mmol/L`,
    ),
  ),
  form(
    'no status at all',
    oru('OBR|1||F1|24323-8^Panel^LN|||20260331080000+0200', `OBX|1|NM|${GLUCOSE}||5|mmol/L`),
  ),
  form(
    'times without an offset',
    [
      msh().replace('+0200', ''),
      PID,
      'OBR|1||F1|24323-8^Panel^LN|||202603310800||||||||||||||||||F',
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`,
    ].join('\r'),
  ),
  form(
    'times that are less than a day',
    oru('OBR|1||F1|24323-8^Panel^LN|||202603||||||||||||||||||F', `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`),
  ),
  form(
    'no time',
    oru('OBR|1||F1|24323-8^Panel^LN|||||||||||||||||||||F', `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`),
  ),
  form('no patient', [msh(), OBR, `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`].join('\r')),
  form(
    'the patient twice',
    oru(
      OBR,
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`,
      PID,
      OBR.replace('F100', 'F200'),
      `OBX|1|NM|${GLUCOSE}||6|mmol/L|||||F`,
    ),
  ),
  form('another name of the patient', one('NM', '5', 'mmol/L|||||F').replace('Berg^Anna', 'Lind^Anna')),
  form('no results', oru()),
  form('an empty OBX', results('OBX|1|NM|||||||||F')),
];
