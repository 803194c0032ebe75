export const CALLS: string[] = [];

export function logged(
  _target: object,
  name: string,
  descriptor: PropertyDescriptor,
): PropertyDescriptor {
  const original = descriptor.value;
  descriptor.value = function (...args: unknown[]) {
    CALLS.push(name);
    return original.apply(this, args);
  };
  return descriptor;
}
