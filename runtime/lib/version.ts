/** Version of this package; a test holds it to package.json, which a bundled process has no longer beside it. */
export const VERSION = '0.1.0';
