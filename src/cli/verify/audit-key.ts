/** Finds the key that signs checkpoints, and the key that verifies signatures. */
import {
  existingKey,
  KeyFault,
  type PublicKey,
  publicKey,
  type SigningKey,
  signingKey,
} from '#src/audit/key.ts';
import { loadConfig } from '#src/config.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';
import { findDataDir, type ServiceOptions } from '../service.ts';

type Where = Pick<ServiceOptions, 'dataDir'>;

/**
 * Returns the installation's key; creates it on first use.
 * @throws Failure if the key can't be read or created.
 */
export function keyToSign(where: Where): Promise<SigningKey> {
  return reportFaults(() => signingKey(findKeyPlace(where)));
}

/**
 * Returns the public key that must have made signatures: the given key, otherwise the installation's own.
 * @throws Failure if there is neither.
 */
export function keyToTrust(given: string | undefined, where: Where): Promise<PublicKey> {
  return reportFaults(async () => {
    const key = given === undefined ? await existingKey(findKeyPlace(where)) : keyIn(given);
    if (key !== undefined) return key;
    throw new Failure(
      `${findDataDir(where)} has no key to check the signature with; pass the public key with --key`,
    );
  });
}

function keyIn(text: string): PublicKey {
  try {
    return publicKey(text);
  } catch (error) {
    if (error instanceof KeyFault) throw new Failure(error.message, MISUNDERSTOOD);
    throw error;
  }
}

function findKeyPlace(where: Where): { dataDir: string; file: string | undefined } {
  return { dataDir: findDataDir(where), file: loadConfig(process.env).auditKeyFile };
}

async function reportFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyFault) throw new Failure(error.message);
    throw error;
  }
}
