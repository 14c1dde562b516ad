export type JsonSchema = Readonly<Record<string, unknown>>;

/** One environment variable of a process: how it is read, what it means, and what to say when it is wrong. */
export interface EnvVar<T> {
  /** Completes the sentence "expected ...", e.g. `a positive integer or "unlimited"`. */
  readonly expected: string;
  /** One line for `--help` and the settings table. */
  readonly help: string;
  /** Text used when the variable is absent. Without it the variable is required. */
  readonly default?: string;
  /**
   * What JSON Schema can say of the number, boolean or text that a user writes. It must accept everything that `parse` accepts. Its regular
   * expressions must be valid in RE2 too.
   */
  readonly schema?: JsonSchema;
  /** Returns undefined for text that does not fit. */
  parse(text: string): T | undefined;
}

/** A variable that may be absent. */
export type OptionalEnvVar<T> = EnvVar<T> & { readonly default: string };

export type EnvSchema = Readonly<Record<string, EnvVar<unknown>>>;

/** The values that reading a schema gives, by the names of the variables; a duration `X_IN_SEC` is `X_MS`, in milliseconds. */
export type EnvValues<S extends EnvSchema> = {
  readonly [K in keyof S as K extends `${infer Name}_IN_SEC` ? `${Name}_MS` : K]: S[K] extends EnvVar<infer T>
    ? T
    : never;
};

/** All faults of an environment together; `faults` has one line for each variable. */
export class EnvError extends Error {
  override readonly name = 'EnvError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The environment has ${faults.length} fault(s):\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Reads every variable of `schema` from `source`. An empty value counts as absent.
 * @throws EnvError naming each variable that is missing or malformed, what was expected and what came.
 */
export function readEnv<S extends EnvSchema>(
  schema: S,
  source: Readonly<Record<string, string | undefined>>,
): EnvValues<S> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(schema)) {
    const text = source[name] || variable.default;
    if (text === undefined) {
      faults.push(`${name}: expected ${variable.expected}, got nothing (it has no default)`);
      continue;
    }
    const value = variable.parse(text);
    if (value === undefined) faults.push(`${name}: expected ${variable.expected}, got ${JSON.stringify(text)}`);
    values[name.replace(/_IN_SEC$/, '_MS')] = value;
  }
  if (faults.length > 0) throw new EnvError(faults);
  return values as EnvValues<S>;
}

/** The text of `--help` about the variables: what each means, what is expected, and its default. */
export function describeEnv(schema: EnvSchema): string {
  return Object.entries(schema)
    .map(([name, { help, expected, default: fallback }]) => {
      const absent = fallback === undefined ? 'required' : fallback === '' ? 'none by default' : `default ${fallback}`;
      return `  ${name}\n      ${help}\n      ${expected}; ${absent}`;
    })
    .join('\n');
}

type Meta = Pick<EnvVar<unknown>, 'help' | 'default'>;

export const text = <M extends Meta>(meta: M): EnvVar<string> & M => ({
  expected: 'some text',
  parse: (value) => value,
  ...meta,
});

/** An optional text; empty when absent. */
export const optionalText = (meta: Pick<Meta, 'help'>): OptionalEnvVar<string> => ({
  expected: 'some text',
  parse: (value) => value,
  default: '',
  ...meta,
});

/** A whole number of seconds, zero included; read as milliseconds. The variable's name ends in `_IN_SEC`. */
export const seconds = <M extends Meta>(meta: M): EnvVar<number> & M => atLeastSeconds(0, meta);

/** The same, zero not included. */
export const positiveSeconds = <M extends Meta>(meta: M): EnvVar<number> & M => atLeastSeconds(1, meta);

/** The same, not below a number. */
export const atLeastSeconds = <M extends Meta>(least: number, meta: M): EnvVar<number> & M => ({
  expected: `a whole number of seconds, ${least} or more`,
  parse: (value) => (/^\d{1,9}$/.test(value) && Number(value) >= least ? Number(value) * 1000 : undefined),
  schema: { type: 'integer', minimum: least, maximum: 999_999_999 },
  ...meta,
});

/** A TCP port; 0 lets the system choose one. */
export const port = <M extends Meta>(meta: M): EnvVar<number> & M => ({
  expected: 'a port number from 0 to 65535',
  parse: (value) => (/^\d{1,5}$/.test(value) && Number(value) <= 65535 ? Number(value) : undefined),
  schema: { type: 'integer', minimum: 0, maximum: 65_535 },
  ...meta,
});

export const positiveInteger = <M extends Meta>(meta: M): EnvVar<number> & M => ({
  expected: 'a positive integer',
  parse: (value) => (/^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined),
  schema: { type: 'integer', minimum: 1, maximum: 999_999_999 },
  ...meta,
});

export const oneOf = <const V extends string, M extends Meta>(values: readonly V[], meta: M): EnvVar<V> & M => ({
  expected: `one of ${values.join(', ')}`,
  parse: (value) => values.find((candidate) => candidate === value),
  schema: { enum: values },
  ...meta,
});

export const bool = <M extends Meta>(meta: M): EnvVar<boolean> & M => ({
  expected: 'true or false',
  parse: (value) => ({ true: true, false: false })[value.toLowerCase()],
  ...meta,
});

/**
 * Where a process finds the cluster. In a pod the defaults fit. Outside of one these variables say where a copy of the pod's files is.
 */
export const processEnv = {
  KUBERNETES_SERVICE_HOST: text({
    help: 'address of the Kubernetes API; set by Kubernetes',
    default: 'kubernetes.default.svc',
  }),
  KUBERNETES_SERVICE_PORT: text({ help: 'port of the Kubernetes API; set by Kubernetes', default: '443' }),
  SERVICE_ACCOUNT_DIR: text({
    help: 'folder with ca.crt, token and namespace of the service account',
    default: '/var/run/secrets/kubernetes.io/serviceaccount',
  }),
  KUBECONFIG: optionalText({
    help: 'a kubeconfig to use instead of the service account (not for agents)',
  }),
  TERMINATION_LOG: optionalText({ help: 'file for the reason of an exit, e.g. /dev/termination-log' }),
} as const;
