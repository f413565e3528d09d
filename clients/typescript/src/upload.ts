/** Sends the bytes of a document, and reports the progress. */
import { ApiError, ConnectionError, TimeoutError } from './errors.ts';
import type { RequestOptions, Transport } from './transport.ts';

/** The progress of an upload, in bytes. */
export interface Progress {
  readonly sent: number;
  readonly total: number;
}

/** Options of an upload. */
export interface UploadOptions extends RequestOptions {
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** Five minutes: the maximum time that the service allows for an upload. */
const LONGEST = 300_000;

/** Sends the bytes and returns the response text. */
export async function uploadContent(
  transport: Transport,
  document: string,
  content: Blob | Uint8Array<ArrayBuffer> | string,
  options: UploadOptions & { readonly contentType?: string | undefined },
): Promise<string> {
  const blob = content instanceof Blob ? content : new Blob([content]);
  const type = options.contentType ?? (blob.type === '' ? 'application/octet-stream' : blob.type);
  const path = `/v1/documents/${encodeURIComponent(document)}/content`;
  const given = { ...options, timeoutMs: options.timeoutMs ?? LONGEST };
  const { onProgress } = options;
  const request = { method: 'PUT', path, type };
  if (onProgress === undefined) return (await transport.send({ ...request, body: blob }, given)).text;
  // Browsers stream request bodies only over HTTP/2, but they do report the progress of an XMLHttpRequest.
  if (typeof XMLHttpRequest !== 'undefined')
    return sendByXhr(transport, transport.url(path), { ...request, body: blob }, given);
  let sent = 0;
  const counted = blob.stream().pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        sent += chunk.byteLength;
        onProgress({ sent, total: blob.size });
      },
    }),
  );
  // A stream can be read only once.
  return (await transport.send({ ...request, body: counted }, { ...given, retries: 0 })).text;
}

async function sendByXhr(
  transport: Transport,
  url: string,
  request: { readonly method: string; readonly path: string; readonly type: string; readonly body: Blob },
  options: UploadOptions & { readonly timeoutMs: number },
): Promise<string> {
  const { signal, onProgress, timeoutMs } = options;
  signal?.throwIfAborted();
  const headers = transport.headersFor(request, options);
  const token = await transport.token();
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open(request.method, url);
    headers.forEach((value, name) => {
      xhr.setRequestHeader(name, value);
    });
    xhr.timeout = timeoutMs;
    const abort = () => xhr.abort();
    signal?.addEventListener('abort', abort, { once: true });
    xhr.upload.onprogress = ({ loaded, total }) => onProgress?.({ sent: loaded, total });
    xhr.onload = () => {
      const answered = new Headers();
      for (const line of xhr.getAllResponseHeaders().trim().split(/\r?\n/)) {
        const at = line.indexOf(':');
        if (at > 0) answered.append(line.slice(0, at), line.slice(at + 1).trim());
      }
      if (xhr.status >= 200 && xhr.status < 300) resolve(xhr.responseText);
      else reject(new ApiError(xhr.status, answered, xhr.responseText));
    };
    xhr.onabort = () => reject(signal?.reason);
    xhr.onerror = () => reject(new ConnectionError('the service cannot be reached'));
    xhr.ontimeout = () => reject(new TimeoutError('the service did not answer in time'));
    xhr.onloadend = () => signal?.removeEventListener('abort', abort);
    xhr.send(request.body);
  });
}
