import { Ship, speed } from "./ships.js";

export function wrong(): string {
  return speed(12);
}

export function longer(ship: Ship): number {
  return ship.lenght;
}
