/** What is used of tuf-js. Its own types name packages that it does not bring. */
declare module 'tuf-js' {
  import type { Readable } from 'node:stream';

  export interface Fetcher {
    downloadBytes(url: string, maxLength: number): Promise<Buffer>;
    downloadFile<T>(url: string, maxLength: number, handler: (file: string) => Promise<T>): Promise<T>;
  }

  export interface TargetFile {
    readonly length: number;
    /** By algorithm. */
    readonly hashes: Readonly<Record<string, string>>;
    /** Rejects where length or hash is another. */
    verify(stream: Readable): Promise<void>;
  }

  /** It reads and writes `root.json` and others in the folder. */
  export class Updater {
    constructor(options: {
      readonly metadataDir: string;
      readonly metadataBaseUrl: string;
      readonly fetcher: Fetcher;
      readonly config: { readonly maxRootRotations: number; readonly maxDelegations: number };
    });
    refresh(): Promise<void>;
    getTargetInfo(path: string): Promise<TargetFile | undefined>;
  }
}

declare module 'tuf-js/dist/error.js' {
  /** Of 403 and 404 it takes that there is no newer root. */
  export class DownloadHTTPError extends Error {
    constructor(message: string, statusCode: number);
  }
}
