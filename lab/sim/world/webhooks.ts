import { request } from 'node:https';
import type { WebhookCall, WebhookDialer } from '../cluster/api.ts';

/** Dials webhooks as the API server does, by the Service's name; `portOf` says where on this machine the Service is. */
export function webhookDialer(portOf: (service: WebhookCall['service']) => number): WebhookDialer {
  return (call) =>
    new Promise((resolve, reject) => {
      const { namespace, name, path } = call.service;
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: portOf(call.service),
          path,
          method: 'POST',
          servername: `${name}.${namespace}.svc`,
          timeout: call.timeoutMs,
          headers: { 'content-type': 'application/json' },
          ...(call.caBundle !== undefined && { ca: Buffer.from(call.caBundle, 'base64') }),
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            try {
              resolve(JSON.parse(Buffer.concat(chunks).toString()));
            } catch (error) {
              reject(new Error('the webhook did not answer with JSON', { cause: error }));
            }
          });
        },
      );
      outgoing.on('timeout', () =>
        outgoing.destroy(new Error(`the webhook did not answer within ${call.timeoutMs} ms`)),
      );
      outgoing.on('error', reject);
      outgoing.end(JSON.stringify(call.body));
    });
}
