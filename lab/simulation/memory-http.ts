import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Outgoing, Reply } from '../../runtime/agent/apiserver/client.ts';
import type { Handle } from '../../runtime/apiserver/http/connections.ts';

/** What arrives at a server: of an agent, or of the Kubernetes API. */
export type Incoming = Omit<Outgoing, 'method'> & { readonly method: string };

/**
 * Hands a request to a server's handler as Node would, without a connection below. Rejects when it has ended without an answer.
 * @param gone aborts when the client has hung up
 */
export function exchange(handle: Handle, incoming: Incoming, gone: AbortSignal): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = requestOf(incoming);
    const response = responseTo(request, resolve);
    const hangUp = (): void => {
      response.destroyed = true;
      request.socket.destroy();
      response.emit('close');
    };
    gone.addEventListener('abort', hangUp, { once: true });
    response.once('close', () => gone.removeEventListener('abort', hangUp));
    handle(request, response).catch(reject);
    // Where the server stood still, the client may have hung up before it was heard.
    if (gone.aborted) hangUp();
  });
}

function requestOf({ method, path, headers, body }: Incoming): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  request.method = method;
  request.url = path;
  request.headers = Object.fromEntries(named);
  request.headersDistinct = Object.fromEntries(named.map(([name, value]) => [name, [value]]));
  if (body !== undefined) request.push(Buffer.from(body));
  request.push(null);
  request.complete = true;
  return request;
}

function responseTo(request: IncomingMessage, answered: (reply: Reply) => void): ServerResponse {
  const chunks: Buffer[] = [];
  const keep = (chunk: unknown): void => {
    if (chunk !== undefined && chunk !== null) chunks.push(Buffer.from(chunk as string | Buffer));
  };
  const response = new ServerResponse(request);
  return Object.assign(response, {
    write(chunk: unknown): boolean {
      keep(chunk);
      return true;
    },
    end(chunk?: unknown): ServerResponse {
      if (response.finished) return response;
      keep(chunk);
      response.finished = true;
      answered({ status: response.statusCode, body: Buffer.concat(chunks).toString() });
      response.emit('finish');
      response.emit('close');
      return response;
    },
  });
}
