import { HostProtocolError } from './errors.ts';

/** A value of a JSON body and where it stands in it. Read by hand: a schema library would be most of an agent's code and memory. */
export class Wire {
  readonly #value: unknown;
  readonly #call: string;
  readonly #path: readonly string[];

  private constructor(value: unknown, call: string, path: readonly string[]) {
    this.#value = value;
    this.#call = call;
    this.#path = path;
  }

  /** @param call what the body answers, for messages @throws HostProtocolError when it is not JSON */
  static parse(body: string, call: string): Wire {
    try {
      return new Wire(JSON.parse(body), call, []);
    } catch (cause) {
      throw new HostProtocolError(`${call}: not JSON: ${JSON.stringify(body.slice(0, 100))}`, { cause });
    }
  }

  /** @throws HostProtocolError when this is no object; every reader throws it with the field that is wrong */
  at(name: string): Wire {
    const value = this.#value;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.#wrong('an object');
    return new Wire((value as Readonly<Record<string, unknown>>)[name], this.#call, [...this.#path, name]);
  }

  /** Null and absent alike stand for what is not there. */
  optional<T>(read: (wire: Wire) => T): T | undefined {
    return this.#value == null ? undefined : read(this);
  }

  text(): string {
    if (typeof this.#value !== 'string') throw this.#wrong('a text');
    return this.#value;
  }

  flag(): boolean {
    if (typeof this.#value !== 'boolean') throw this.#wrong('true or false');
    return this.#value;
  }

  integer(): number {
    if (!Number.isInteger(this.#value)) throw this.#wrong('a whole number');
    return this.#value as number;
  }

  oneOf<T extends string>(allowed: readonly T[]): T {
    const found = allowed.find((one) => one === this.#value);
    if (found === undefined) throw this.#wrong(allowed.join(', '));
    return found;
  }

  #wrong(expected: string): HostProtocolError {
    const got = JSON.stringify(this.#value)?.slice(0, 100) ?? 'nothing';
    return new HostProtocolError(
      `${this.#call}: ${this.#path.join('.') || '(whole)'}: expected ${expected}, got ${got}`,
    );
  }
}
