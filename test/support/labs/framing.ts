/** Variants of message parts: segments, delimiters, escapes, character sets; and texts that aren't messages. */
import { type Form, form, GLUCOSE, LF, latin1, msh, OBR, one, oru, PID, results, SWEDISH } from './parts.ts';

/** By name. */
export const FRAMING: readonly Form[] = [
  // The parts of messages.
  form('segments that end with CR', one('NM', '5.6', 'mmol/L|3.9-5.5|H|||F')),
  form('segments that end with LF', LF(one('NM', '5.6', 'mmol/L|3.9-5.5|H|||F'))),
  form('segments that end with CR and LF', one('NM', '5.6', 'mmol/L|||||F').replaceAll('\r', '\r\n')),
  form('a byte order mark', `\uFEFF${one('NM', '5.6', 'mmol/L|||||F')}`),
  form('bytes of UTF-16 with their mark', Buffer.from(`\uFEFF${one('ST', 'blå')}`, 'utf16le')),
  form('an MLLP frame', `\x0b${one('NM', '5.6', 'mmol/L|||||F')}\r\x1c\r`),
  form(
    'other delimiters',
    [
      'MSH$*%!+$LIS$CITYLAB$EHR$CLINIC$20260331093000+0200$$ORU*R01$M1$P$2.4',
      'PID$1$$4711**CLINIC$$Berg*Anna$$19700102$F',
      'OBR$1$$F1$24323-8*Panel*LN$$$20260331080000+0200$$$$$$$$$$$$$$$$$$F',
      'OBX$1$CE$883-9*ABO*LN$$A*Type !S! A*L%B*Type B*L$$$$$$F',
    ].join('\r'),
  ),
  form('escapes', one('ST', 'a\\F\\b\\S\\c\\T\\d\\R\\e\\E\\f')),
  form('hexadecimal escapes', one('ST', '\\X48656C6C6F\\ \\XC3A5\\')),
  form('formatting', one('FT', '\\H\\Gram stain\\N\\\\.br\\many rods\\.sp2\\few cocci\\.in4\\.')),
  form('an escape that nobody knows', one('ST', 'a\\Zxx\\b \\ c')),
  form('a backslash that begins no escape', one('ST', '4\\5 re.')),
  form('escaped escapes', one('ST', '\\E\\R\\E\\')),
  form(
    'times without an offset, which have that of MSH-7',
    results(`OBX|1|DTM|8665-2^LMP^LN||202603011230||||||F|||202603310810`).replace(
      '20260331080000+0200',
      '20260331080000',
    ),
  ),
  form('a line break within a text', one('TX', 'first line\nsecond line')),
  form('a segment that goes on in ADD', results(`OBX|1|TX|${GLUCOSE}||begins `, 'ADD|and ends||||||F')),
  form('blank lines and indentation', `${one('NM', '5.6', 'mmol/L|||||F').replaceAll('\r', '\r\r  ')}\r\r`),
  form(
    'a batch of one message',
    ['FHS|^~\\&|LIS', 'BHS|^~\\&|LIS', one('NM', '5.6', 'mmol/L|||||F'), 'BTS|1', 'FTS|1'].join('\r'),
  ),
  form(
    'two messages on one patient',
    `${one('NM', '5.6', 'mmol/L|||||P')}\r${one('NM', '5.7', 'mmol/L|||||F')}`,
  ),
  form('version 2.3', [msh('2.3'), PID, OBR, `OBX|1|CE|5778-6^Color^LN||YEL^Yellow^L||||||F`].join('\r')),
  form(
    'version 2.8 with a truncation character',
    [msh('2.8').replace('^~\\&', '^~\\&#'), PID, OBR, `OBX|1|ST|${GLUCOSE}||long \\P\\||||||F`].join('\r'),
  ),
  form(
    'a version that is none of these',
    [msh('2.1'), PID, OBR, `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`].join('\r'),
  ),
  form('a message type without an event', one('NM', '5', 'mmol/L|||||F').replace('ORU^R01^ORU_R01', 'ORU')),
  form('a message of training', one('NM', '5', 'mmol/L|||||F').replace('|M1|P|', '|M1|T|')),
  // Character sets.
  form('Latin-1 by MSH-18', latin1(SWEDISH('8859/1', 'blå färg'))),
  form('UTF-8 by MSH-18', Buffer.from(SWEDISH('UNICODE UTF-8', 'blå färg'))),
  form(
    'Cyrillic by MSH-18',
    Buffer.concat([
      Buffer.from(SWEDISH('8859/5', '')).subarray(0, -7),
      Buffer.from([0xba, 0xe0, 0xde, 0xd2, 0xec]),
      Buffer.from('||||||F'),
    ]),
  ),
  form('Latin-1 that says nothing', latin1(one('ST', 'blå'))),
  form('Latin-1 escapes', SWEDISH('8859/1', 'bl\\XE5\\')),
  // Texts that are refused.
  form('nothing', ''),
  form('another text', 'Dear colleague'),
  form('a bare MSH', 'MSH'),
  form('a header without delimiters', 'MSH|'),
  form('one delimiter twice', 'MSH|^^\\&|LIS'),
  form('an admission', one('NM', '5').replace('ORU^R01^ORU_R01', 'ADT^A01')),
  form('no message type', one('NM', '5').replace('ORU^R01^ORU_R01', '')),
  form('a message that goes on in another', `${one('NM', '5')}\rDSC|17|I`),
  form(
    'several patients',
    oru(
      OBR,
      `OBX|1|NM|${GLUCOSE}||5|mmol/L|||||F`,
      'PID|2||9999^^^CLINIC&1.2.3.4&ISO^MR||Lind^Bo||19800101|M',
      OBR,
    ),
  ),
  form('an identifier of somebody else', one('NM', '5').replace('4711', '4712')),
  form('another day of birth', one('NM', '5').replace('19700102', '19700103')),
  form('another sex', one('NM', '5').replace('|F\r', '|M\r')),
  form('bytes of a character set that nobody knows', latin1(SWEDISH('KLINGON', 'blå'))),
];
