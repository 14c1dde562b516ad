/** What is used of @tufjs/models. */
declare module '@tufjs/models' {
  interface SignedOptions {
    readonly version: number;
    readonly specVersion: string;
    /** RFC 3339. */
    readonly expires: string;
  }
  interface Json {
    toJSON(): object;
  }
  type By<T> = Readonly<Record<string, T>>;

  export class Root {
    constructor(options: SignedOptions & { readonly consistentSnapshot: boolean });
    addKey(key: Json, role: string): void;
    toJSON(): object;
  }
  export class Metadata {
    constructor(signed: Json);
    sign(signer: (data: Buffer) => Json, append?: boolean): void;
    toJSON(): object;
  }
  interface KeyOptions {
    readonly keyID: string;
    readonly keyType: string;
    readonly scheme: string;
    readonly keyVal: By<string>;
  }
  export const Key: new (options: KeyOptions) => Json;
  export const MetaFile: new (options: { readonly version: number }) => Json;
  interface TargetOptions {
    readonly path: string;
    readonly length: number;
    readonly hashes: By<string>;
  }
  export const TargetFile: new (options: TargetOptions) => Json;
  export const Timestamp: new (options: SignedOptions & { readonly snapshotMeta: Json }) => Json;
  export const Snapshot: new (options: SignedOptions & { readonly meta: By<Json> }) => Json;
  export const Targets: new (options: SignedOptions & { readonly targets: By<Json> }) => Json;
  export const Signature: new (options: { readonly keyID: string; readonly sig: string }) => Json;
}
