/** What is used of the library, which brings no types. */
declare module '@lhncbc/ucum-lhc' {
  export interface Unit {
    /** How many base units it is. */
    readonly magnitude_: number;
    /** Exponents of the base units; absent of names that are no units. */
    readonly dim_?: { readonly dimVec_?: readonly number[] | null } | null;
    /** Name of the function that leads to the ratio scale, for units that are none. */
    readonly cnv_: string | null;
    readonly cnvPfx_: number;
    readonly isArbitrary_: boolean;
  }
  export const UcumLhcUtils: {
    getInstance(): {
      getSpecifiedUnit(
        code: string,
        operation: 'validate',
      ): { readonly status: string; readonly unit?: Unit | null };
    };
  };
}
