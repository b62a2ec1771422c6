export type Layer = readonly (number | null)[]

/** Of each bin, what the layers add up to one by one from zero; null where any layer has no value. */
export function stackBins(layers: readonly Layer[], count: number): (number[] | null)[] {
  return Array.from({ length: count }, (_, bin) => {
    const edges = [0]
    for (const layer of layers) {
      const value = layer[bin]
      if (value == null) return null
      edges.push((edges.at(-1) ?? 0) + value)
    }
    return edges
  })
}

/** Each layer's outline as an SVG path: bins are steps one x wide, and a bin without values is a gap. */
export function stepAreas(
  layers: readonly Layer[],
  x: readonly number[],
  toX: (x: number) => number,
  toY: (share: number) => number,
): string[] {
  const stacked = stackBins(layers, x.length)
  return layers.map((_, layer) =>
    stacked
      .map((edges, bin) => {
        if (!edges || edges[layer + 1] === edges[layer]) return ''
        const [left, right] = [toX(x[bin] ?? 0), toX((x[bin] ?? 0) + 1)]
        return `M${left} ${toY(edges[layer] ?? 0)}V${toY(edges[layer + 1] ?? 0)}H${right}V${toY(edges[layer] ?? 0)}Z`
      })
      .join(''),
  )
}
