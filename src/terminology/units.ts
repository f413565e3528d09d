/** UCUM, whose units are without end: a grammar says which exist. https://ucum.org/ucum */
import ucum from '@lhncbc/ucum-lhc';

/** UCUM's system. */
export const UCUM = 'http://unitsofmeasure.org';

/** Whether a code of a system is a unit of UCUM. */
export function isUnit(system: string, code: string): boolean {
  if (system !== UCUM || code.length > 100) return false;
  return ucum.UcumLhcUtils.getInstance().validateUnitString(code).status === 'valid';
}
