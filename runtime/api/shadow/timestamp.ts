import * as z from 'zod';

/** A time in RFC 3339, as Kubernetes writes them. */
export const timestamp = z.iso.datetime({ offset: true, error: 'expected an RFC 3339 timestamp' });
