/** RATE_LIMIT_PER_MINUTE for tests that aren't about limits: requests are counted but never reach the limit. */
export const NO_LIMIT = '1000000000';
