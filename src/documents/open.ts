/** Opens the document store that the settings name. */
import { join } from 'node:path';
import { DiskStore } from './disk.ts';
import type { S3Settings } from './s3.ts';
import type { DocumentStore } from './store.ts';

/** Opens the bucket if one is configured, otherwise the folder `documents` in DATA_DIR. */
export async function openDocumentStore(
  dataDir: string,
  bucket: S3Settings | undefined,
): Promise<DocumentStore> {
  if (bucket === undefined) return new DiskStore(join(dataDir, 'documents'));
  // Loaded on demand, because the module is large.
  const { S3Store } = await import('./s3.ts');
  return new S3Store(bucket);
}
