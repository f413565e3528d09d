/**
 * ISO 4217 codes, needed because HL7 doesn't list the codes in the value set `currencies`. Includes codes that were withdrawn
 * after R4 was published, because older bills contain them.
 */
export const CURRENCIES: readonly string[] = [
  ...'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD'.split(
    ' ',
  ),
  ...'CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP'.split(
    ' ',
  ),
  ...'GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW'.split(
    ' ',
  ),
  ...'KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD'.split(
    ' ',
  ),
  ...'NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE'.split(
    ' ',
  ),
  ...'SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED'.split(
    ' ',
  ),
  ...'VEF VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX YER ZAR ZMW'.split(
    ' ',
  ),
  ...'ZWG ZWL'.split(' '),
];
