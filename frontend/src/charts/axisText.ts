/** As many decimals as any tick has. */
export const decimalsIn = (ticks: readonly number[]): number =>
  [0, 1, 2, 3, 4, 5].find((count) => ticks.every((tick) => Math.abs(tick - Number(tick.toFixed(count))) < 1e-9)) ?? 6
