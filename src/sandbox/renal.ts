/** Computes kidney function with CKD-EPI 2021, without race (Inker et al., N Engl J Med 2021;385:1737). */
import type { Sex } from './people.ts';

/**
 * Returns the estimated glomerular filtration rate in mL/min/1.73 m².
 * @param creatinine in mg/dL
 * @param age in years; adults only
 */
export function estimatedFiltration(creatinine: number, age: number, sex: Sex): number {
  const [kappa, alpha, factor] = sex === 'female' ? [0.7, -0.241, 1.012] : [0.9, -0.302, 1];
  const ratio = creatinine / kappa;
  return 142 * Math.min(ratio, 1) ** alpha * Math.max(ratio, 1) ** -1.2 * 0.9938 ** age * factor;
}
