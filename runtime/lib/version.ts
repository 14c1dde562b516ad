/** Version of this package. A test compares it with package.json, which a bundled process cannot read. */
export const VERSION = '0.1.0';
