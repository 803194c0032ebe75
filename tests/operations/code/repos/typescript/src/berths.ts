import { logged } from "./util/decorators.js";
import { Ship } from "./ships.js";

export class BerthTaken extends Error {}

export class Berth {
  ship: Ship | undefined;

  constructor(
    readonly id: number,
    readonly limit: number = 400,
  ) {}

  @logged
  assign(ship: Ship): void {
    if (this.ship) {
      throw new BerthTaken(`berth ${this.id} has ${this.ship.label}`);
    }
    this.check(ship);
    this.ship = ship;
    ship.note(`assigned to ${this.id}`);
  }

  /** Take the ship away; `assign` may be called again then. */
  release(): Ship | undefined {
    const ship = this.ship;
    this.ship = undefined;
    return ship;
  }

  private check(ship: Ship): void {
    if (ship.length > this.limit) {
      throw new Error(`${ship.name} is too long`);
    }
  }
}

export function* free(berths: readonly Berth[]): Generator<Berth> {
  for (const berth of berths) {
    if (!berth.ship) {
      yield berth;
    }
  }
}

export function largest(berths: readonly Berth[]): Berth {
  function limit(berth: Berth): number {
    return berth.limit;
  }
  return berths.reduce((best, next) => (limit(next) > limit(best) ? next : best));
}
