/** Declares the part of the library that is used, because the library has no types. */
declare module '@lhncbc/ucum-lhc' {
  export interface Unit {
    /** The unit as a multiple of the base units. */
    readonly magnitude_: number;
    /** Exponents of the base units; absent if the name is not a unit. */
    readonly dim_?: { readonly dimVec_?: readonly number[] | null } | null;
    /** Name of the function that converts to a ratio scale, for units that aren't on a ratio scale. */
    readonly cnv_: string | null;
    readonly cnvPfx_: number;
    readonly isArbitrary_: boolean;
  }
  export const UcumLhcUtils: {
    getInstance(): {
      validateUnitString(code: string): { readonly status: 'valid' | 'invalid' | 'error' };
      getSpecifiedUnit(
        code: string,
        operation: 'validate',
      ): { readonly status: string; readonly unit?: Unit | null };
    };
  };
}
