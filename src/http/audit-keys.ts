/**
 * `/.well-known/audit-keys`: the public key that signs exports and checkpoints, as a JWK Set (RFC 7517, RFC 8037), so that
 * anyone can record it before they get a signed file (docs/audit.md, "The key").
 */
import { z } from 'zod';
import { answerJson, openRoute } from './api/open-route.ts';

const keys = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      kid: z.string().describe('`key_id` of signed files: the JWK thumbprint (RFC 7638).'),
      x: z.string().describe('`public_key` of signed files: the 32 bytes of the key, base64url.'),
      use: z.literal('sig'),
      alg: z.literal('EdDSA'),
    }),
  ),
});

/** The route, which pages from any origin may call. */
export const AUDIT_KEY_ROUTES = [
  openRoute({
    method: 'GET',
    path: '/.well-known/audit-keys',
    operationId: 'getAuditKeys',
    summary: 'The public key that signs exports and checkpoints',
    description:
      'A JWK Set with one Ed25519 key. Note the key once, and use it to check signed files: `--key` takes its `x`. If you don’t trust this service, get the key from its operator in another way.',
    tag: 'Audit',
    errors: [503],
    answers: { 200: { description: 'The key', schema: keys } },
    async run({ service }) {
      const { id, text } = await service.services.audit.readKey();
      const key = { kty: 'OKP', crv: 'Ed25519', kid: id, x: text, use: 'sig', alg: 'EdDSA' };
      return answerJson(
        { keys: [key] },
        { headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' } },
      );
    },
  }),
];
