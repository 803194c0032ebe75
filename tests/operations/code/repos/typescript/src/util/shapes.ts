export namespace Shapes {
  export const CORNERS = 4;

  export function area(width: number, height: number): number {
    return width * height;
  }
}

export abstract class Hull<T extends object> {
  abstract draught(load: T): number;
}
