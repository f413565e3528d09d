/** RATE_LIMIT_PER_MINUTE of tests that are not about limits: they count all the same, and never meet the edge. */
export const NO_LIMIT = '1000000000';
