export interface HostCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body?: string | undefined;
}

/** What a client of the host's API sees. */
export type HostAnswer =
  | { readonly kind: 'answer'; readonly status: number; readonly contentType?: string; readonly body: string }
  /** The connection breaks in the middle of the body. */
  | { readonly kind: 'cut'; readonly status: number; readonly body: string }
  /** The connection breaks before the answer. */
  | { readonly kind: 'dropped' }
  /** The connection stays open, and nothing comes. */
  | { readonly kind: 'never' };

export const DROPPED: HostAnswer = { kind: 'dropped' };
export const NEVER: HostAnswer = { kind: 'never' };

export const json = (body: unknown): HostAnswer => ({
  kind: 'answer',
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/** Errors are plain text without a content type. */
export const text = (status: number, body: string): HostAnswer => ({ kind: 'answer', status, body });

export const DONE = text(204, '');

/** Unknown path and wrong method alike. */
export const NO_SUCH_CALL = text(404, '');
