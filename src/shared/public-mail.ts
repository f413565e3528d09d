/** Domains of public mail providers, where an address says nothing about an organization. */
import { domainToASCII, domainToUnicode } from 'node:url';
import { isCompanyDomain } from 'company-email-validator';

/**
 * Tells whether a domain is of a public mail provider, or below such a domain. The list of providers is that of the
 * package company-email-validator; it has internationalised names in either form.
 * @param domain in any form and letter case
 */
export function isPublicMailDomain(domain: string): boolean {
  const ascii = domainToASCII(domain).replace(/\.$/, '');
  return [ascii, domainToUnicode(ascii)].some((form) => {
    const labels = form.split('.');
    return labels.some((_label, index) => !isCompanyDomain(labels.slice(index).join('.')));
  });
}
