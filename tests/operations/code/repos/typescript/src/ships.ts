/** What comes into the harbour. */

export const KNOTS_TO_KMH = 1.852;

export enum Flag {
  Norway = "no",
  Panama = "pa",
}

/** Not to be confused with `shipping`, which is a price. */
export class Ship {
  readonly log: string[] = [];

  constructor(
    readonly name: string,
    readonly length: number,
    readonly flag: Flag = Flag.Norway,
  ) {}

  get label(): string {
    return `${this.name} (${this.flag})`;
  }

  static parse(text: string): Ship {
    const [name, length] = text.split(":");
    return new Ship(name, Number(length));
  }

  note(line: string): void {
    const stamped = (text: string): string => {
      const prefix = this.label;
      return `${prefix}: ${text}`;
    };
    this.log.push(stamped(line));
  }
}

export class Tanker extends Ship {
  barrels = 0;

  override note(line: string): void {
    super.note(line.toUpperCase());
  }
}

export function speed(value: number): number;
export function speed(value: string): string;
export function speed(value: number | string): number | string {
  return typeof value === "number" ? value * KNOTS_TO_KMH : `${value} kn`;
}

/** One line about a ship. Calls label, not describe. */
export function describe(ship: Ship): string {
  return `${ship.label}, ${ship.length} m`;
}
