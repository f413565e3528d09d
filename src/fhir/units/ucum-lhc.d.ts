/** The part of the library that is used; it has no types. */
declare module '@lhncbc/ucum-lhc' {
  export interface Unit {
    /** The unit in multiples of the base units. */
    readonly magnitude_: number;
    /** Exponents of the base units; absent if the name is not a unit. */
    readonly dim_?: { readonly dimVec_?: readonly number[] | null } | null;
    /** Name of the function that converts to a ratio scale, for units that are not on one. */
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
