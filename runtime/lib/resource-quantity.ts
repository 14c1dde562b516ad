const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]{0,2})$/;

/** A quantity of Kubernetes' as a number of cores, bytes or pieces; 0 for what is none. */
export function amountOf(quantity: unknown): number {
  const [, digits = '0', suffix = ''] = QUANTITY.exec(String(quantity)) ?? [];
  return Number(digits) * (suffix === '' ? 1 : (SUFFIXES[suffix] ?? 0));
}
