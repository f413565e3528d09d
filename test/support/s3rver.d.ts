/** An S3 server for tests; only the parts that the tests use. */
declare module 's3rver' {
  export default class S3rver {
    constructor(options: {
      readonly port: number;
      readonly silent: boolean;
      readonly directory: string;
      readonly configureBuckets: readonly { readonly name: string; readonly configs: readonly string[] }[];
    });
    run(): Promise<unknown>;
    close(): Promise<void>;
  }
}
