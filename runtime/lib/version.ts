/** Version of this package. A test compares it with package.json, which a bundled process cannot read. */
export const VERSION = '0.1.0';

/** Where the documents of this version are. */
export const DOCUMENTS = `https://github.com/cdk8s-brupop/brupop/blob/v${VERSION}/docs`;
