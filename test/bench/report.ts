/** One figure beside its peer or limit, both measured in the same run. */
export interface Figure {
  readonly value: number;
  readonly unit: string;
  /** What it is compared with. */
  readonly peer: string;
  readonly peerValue: number;
  readonly ratio: number;
}

export type Report = Map<string, Figure>;

export function add(
  report: Report,
  name: string,
  value: number,
  unit: string,
  peer: string,
  peerValue: number,
): void {
  const figure = { value, unit, peer, peerValue, ratio: value / peerValue };
  report.set(name, figure);
  console.log(
    `${name.padEnd(46)} ${format(value)} ${unit.padEnd(3)} ${figure.ratio.toFixed(2).padStart(8)} x ${peer} (${format(peerValue).trim()} ${unit})`,
  );
}

const format = (value: number): string => value.toFixed(value < 10 ? 3 : 1).padStart(10);

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
  if (value === undefined) throw new Error('No samples.');
  return value;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
