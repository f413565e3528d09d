/** Declares the types for the part of the library that is used, because the library has none. */
declare module '@lhncbc/ucum-lhc' {
  export interface Unit {
    /** The unit as a multiple of the base units. */
    readonly magnitude_: number;
    /** Exponents of the base units; absent if the name is not a unit. */
    readonly dim_?: { readonly dimVec_?: readonly number[] | null } | null;
    /** Name of the function that converts the unit to a ratio scale; only for units that aren't on one. */
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
