import { Yaml } from 'cdk8s';

/** A Go template expression that stands for a value: a path, or a call in brackets. */
export class Operand {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** An object of the manifests in which values of the chart have their places. */
export type Tree = string | number | boolean | Operand | readonly Tree[] | { readonly [key: string]: Tree };
export type Mapping = { readonly [key: string]: Tree };

const MARK = /⟦([^⟦⟧]+)⟧/;
const EVERY_MARK = new RegExp(MARK, 'g');
const ITEM = /⟦([\w.]+)\*([^⟦⟧#]+)(?:#\w+)?⟧/;

/** Text that stands for a value while the constructs are synthesised; they put it where the value belongs. */
export const mark = (operand: string): string => `⟦${operand}⟧`;

/** The same for each item of a list. @param path of the value @param field of an item that is an object */
export const itemMark = (path: string, operand: string, field?: string): string =>
  `⟦${path}*${operand}${field === undefined ? '' : `#${field}`}⟧`;

/** A call of a function. */
export function call(name: string, ...args: readonly Tree[]): Operand {
  return new Operand(`(${[name, ...args.map(operandOf)].join(' ')})`);
}

/** A tree as an expression. */
function operandOf(tree: Tree): string {
  if (tree instanceof Operand) return tree.text;
  if (typeof tree !== 'object') return JSON.stringify(tree);
  if (Array.isArray(tree)) return call('list', ...(tree as readonly Tree[])).text;
  return call('dict', ...Object.entries(tree).flat()).text;
}

/** Named templates by their name. */
export type Defines = Map<string, string>;

/** Puts expressions where the constructs have put marks. Templates that this takes are added to `defines`. */
export function filled(node: unknown, defines: Defines, path: readonly string[] = []): Tree {
  if (typeof node === 'string') return filledText(node, path);
  if (Array.isArray(node)) return filledList(node, defines, path);
  if (typeof node !== 'object' || node === null) return node as number | boolean;
  const fields = Object.entries(node).map(([key, value]) => [key, filled(value, defines, [...path, key])] as const);
  return Object.fromEntries(fields);
}

function filledText(text: string, path: readonly string[]): Tree {
  if (!MARK.test(text)) return text;
  const [whole, operand = ''] = MARK.exec(text) ?? [];
  if (whole === text) return isText(path) ? asText(operand) : new Operand(operand);
  const operands = Array.from(text.matchAll(EVERY_MARK), ([, inner = '']) => asText(inner));
  return call('printf', text.replaceAll('%', '%%').replaceAll(EVERY_MARK, '%s'), ...operands);
}

/** Values of variables, labels and annotations are strings, whatever type the chart's value has. */
function isText(path: readonly string[]): boolean {
  return path.at(-3) === 'env' || ['annotations', 'labels'].includes(path.at(-2) ?? '');
}

function asText(operand: string): Operand {
  return operand.startsWith('.Release.') ? new Operand(operand) : call('include', 'brupop.text', new Operand(operand));
}

function filledList(list: readonly unknown[], defines: Defines, path: readonly string[]): Tree {
  const elements = list.map((element, index) => {
    const [itself, name = '', operand = ''] = ITEM.exec(textsOf(element).join('\n')) ?? [];
    if (itself === undefined) return [filled(element, defines, [...path, String(index)])];
    return element === itself ? new Operand(operand) : mapped(element, { name, operand, itself }, defines);
  });
  const lists = elements.filter((element) => element instanceof Operand);
  const literals = elements.flatMap((element) => (element instanceof Operand ? [] : element));
  if (lists.length === 0) return literals;
  return literals.length === 0 && lists[0] ? lists[0] : call('concat', literals, ...lists);
}

/** The texts of an element itself. Texts in a list further down belong to that list. */
function textsOf(element: unknown): readonly string[] {
  if (typeof element === 'string') return [element];
  if (typeof element !== 'object' || element === null || Array.isArray(element)) return [];
  return Object.values(element).flatMap(textsOf);
}

interface Item {
  readonly name: string;
  readonly operand: string;
  readonly itself: string;
}

/** A list with `element` for each item of a value. */
function mapped(element: unknown, { name, operand, itself }: Item, defines: Defines): Operand {
  const text = JSON.stringify(element)
    .replaceAll(`⟦${name}*${JSON.stringify(operand).slice(1, -1)}#`, '⟦$item.')
    .replaceAll(JSON.stringify(itself), JSON.stringify(mark('$item')));
  const each = operandOf(filled(JSON.parse(text), defines));
  const template = `brupop.${name}`;
  defines.set(template, `[{{ range $index, $item := . }}{{ if $index }},{{ end }}{{ ${each} | toJson }}{{ end }}]`);
  return new Operand(`(include ${JSON.stringify(template)} ${operand} | fromJsonArray)`);
}

/** One tree out of two: the first where `condition` holds, else the other; what is the same in both is left as it is. */
export function either(condition: Operand, yes: Tree, no: Tree): Tree {
  if (operandOf(yes) === operandOf(no)) return yes;
  const parts = partsOf(yes);
  const others = partsOf(no);
  if (!parts || !others || Object.keys(parts).join() !== Object.keys(others).join())
    return call('ternary', yes, no, condition);
  const chosen = Object.entries(parts).map(([key, one]) => [key, either(condition, one, others[key] ?? one)] as const);
  return Array.isArray(yes) ? chosen.map(([, one]) => one) : Object.fromEntries(chosen);
}

/**
 * The parts of a list are named by their index; undefined for what has no parts. No object has keys like `0`, so a list and an object are
 * never taken for each other.
 */
function partsOf(tree: Tree): Mapping | undefined {
  if (tree instanceof Operand || typeof tree !== 'object') return undefined;
  return tree as Mapping;
}

/** The text of a template. */
export function rendered(objects: readonly Tree[]): string {
  const expressions: string[] = [];
  const withPlaces = (tree: Tree): unknown => {
    if (tree instanceof Operand) return `EXPRESSION_${expressions.push(tree.text) - 1}_`;
    if (typeof tree !== 'object') return tree;
    if (Array.isArray(tree)) return tree.map(withPlaces);
    return Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, withPlaces(value)]));
  };
  const text = Yaml.stringify(...objects.map(withPlaces));
  if (/[⟦⟧]|\{\{/.test(text)) throw new Error('a mark or braces are left in the manifests');
  return text.replaceAll(
    /EXPRESSION_(\d+)_/g,
    (_, index: string) => `{{ ${bare(expressions[Number(index)])} | toJson }}`,
  );
}

/** Without the brackets around a call. */
export function bare(expression = ''): string {
  return expression.startsWith('(') ? expression.slice(1, -1) : expression;
}
