/** Sends the bytes of a document, and reports the progress. */
import { encodeSegment, type RequestOptions, type Transport } from './transport.ts';

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
  const body = content instanceof Blob ? content : new Blob([content]);
  const type = options.contentType ?? (body.type === '' ? 'application/octet-stream' : body.type);
  const path = `/v1/documents/${encodeSegment(document)}/content`;
  const { onProgress, timeoutMs = LONGEST } = options;
  const send = onProgress === undefined ? undefined : reportTo(onProgress, body, transport.settings.fetch);
  return (await transport.send({ method: 'PUT', path, type, body, send }, { ...options, timeoutMs })).text;
}

/** Returns a `fetch` that sends the bytes and reports the progress; with each attempt, it begins again. */
function reportTo(report: (progress: Progress) => void, blob: Blob, send = fetch): typeof fetch {
  // Browsers stream request bodies only over HTTP/2, but they do report the progress of an XMLHttpRequest.
  if (typeof XMLHttpRequest !== 'undefined') return (url, init) => sendByXhr(String(url), init, blob, report);
  return (url, init) => {
    let sent = 0;
    const counted = blob.stream().pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          controller.enqueue(chunk);
          sent += chunk.byteLength;
          report({ sent, total: blob.size });
        },
      }),
    );
    const streamed: RequestInit & { duplex: 'half' } = { ...init, body: counted, duplex: 'half' };
    return send(url, streamed);
  };
}

/** Like `fetch`, with the progress of the upload. */
function sendByXhr(
  url: string,
  { method = 'PUT', headers, signal }: RequestInit = {},
  blob: Blob,
  report: (progress: Progress) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open(method, url);
    new Headers(headers).forEach((value, name) => {
      xhr.setRequestHeader(name, value);
    });
    const abort = () => xhr.abort();
    signal?.addEventListener('abort', abort, { once: true });
    xhr.upload.onprogress = ({ loaded, total }) => report({ sent: loaded, total });
    xhr.onload = () => {
      const answered = new Headers();
      for (const line of xhr.getAllResponseHeaders().trim().split(/\r?\n/)) {
        const at = line.indexOf(':');
        if (at > 0) answered.append(line.slice(0, at), line.slice(at + 1).trim());
      }
      const { status, responseText } = xhr;
      resolve(new Response(responseText === '' ? null : responseText, { status, headers: answered }));
    };
    xhr.onabort = () => reject(signal?.reason);
    xhr.onerror = () => reject(new TypeError('the request failed'));
    xhr.onloadend = () => signal?.removeEventListener('abort', abort);
    xhr.send(blob);
  });
}
