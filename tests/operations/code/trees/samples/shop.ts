export interface Sender<T> extends Base { readonly name: string; send(part: T): void; }
export type Id = string | number;
export enum Color { Red, Green = 2 }
export abstract class Client<T> implements Sender<T> {
  private host: string = "x";
  constructor(private readonly port: number) { super(); }
  @logged
  public async send(part: T): Promise<void> {}
  abstract close(): void;
}
namespace Shop { export function open(): void {} }
declare module "other" { export function f(): void; }
declare function ambient(a: number): string;
export const make = <T,>(x: T): T => x;
function over(a: string): void;
function over(a: any) {}
export default class {}
