/** Domains of public mail providers; an address in such a domain says nothing about an organization. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { isCompanyDomain } from 'company-email-validator';

/**
 * Matches domains that registries assign only to schools, universities, governments and armed forces. The package lists some
 * of them as mail providers.
 */
const RESTRICTED = /(?:^|\.)(?:edu|gov|mil|(?:ac|edu|gov|mil)\.[a-z]{2})$/;

/** Domains that the package lists, but under which others can register domains; each of those domains has a different owner. */
const SUFFIXES: ReadonlySet<string> = new Set(
  'com.ar msk.ru net.ua nom.za org.ua pp.ua spb.ru web.id za.com zp.ua'.split(' '),
);

/** University domains that the package lists. */
const UNIVERSITIES: ReadonlySet<string> = new Set(
  'bi.no liu.se tcd.ie uco.es ul.ie unican.es uni-miskolc.hu upf.org usask.ca'.split(' '),
);

/** Domains of public mail providers that are missing from the package. */
const MISSING: ReadonlySet<string> = new Set(
  'addy.io anonaddy.com disroot.org mailbox.org privaterelay.appleid.com riseup.net startmail.com systemli.org tuta.com zoho.eu zohomail.com zohomail.eu'.split(
    ' ',
  ),
);

/**
 * Returns whether a domain belongs to a public mail provider, or is a subdomain of such a domain. The list of providers comes
 * from the package company-email-validator, with the corrections in docs/decisions/0019; it contains internationalised names
 * in either form.
 * @param domain in any form and letter case
 */
export function isPublicMailDomain(domain: string): boolean {
  const ascii = domainToASCII(domain).replace(/\.$/, '');
  return [ascii, domainToUnicode(ascii)].some((form) => {
    const labels = form.split('.');
    const names = labels.map((_label, index) => labels.slice(index).join('.'));
    return !names.some((name) => UNIVERSITIES.has(name)) && names.some(isListed);
  });
}

function isListed(name: string): boolean {
  if (MISSING.has(name)) return true;
  return !RESTRICTED.test(name) && !SUFFIXES.has(name) && !isCompanyDomain(name);
}
