import { useElementSize } from '@mantine/hooks'
import { geoCircle, geoEquirectangular, geoGraticule10, geoInterpolate, geoPath } from 'd3-geo'
import { useMemo } from 'react'
import { feature } from 'topojson-client'
import topology from 'world-atlas/land-110m.json'
import type { PathPlace } from '@/api/types'
import { formatNumber } from '@/lib/format'
import classes from './paths.module.css'
import { placeName, routeText } from './words'

type Topology = Parameters<typeof feature>[0]

const WORLD = topology as unknown as Topology
const LAND = feature(WORLD, 'land')
const GRATICULE = geoGraticule10()

/** North and south of these no satellite of a path is, and nobody lives. */
const NORTH_DEG = 84
const SOUTH_DEG = -58
/** Around a station, in degrees of arc: what it can reach lies within. */
const REACH_DEG = 15
const MARGIN_PX = 10
const LABEL_PX = 78

type Degrees = [longitude: number, latitude: number]

export interface MapStation {
  name: string
  latitude_deg: number
  longitude_deg: number
}

interface WorldMapProps {
  stations: readonly MapStation[]
  /** Of the path, in its order; none where there is no path. */
  places: readonly PathPlace[]
  /** The surroundings of the stations instead of the whole world. */
  isNear: boolean
}

const degrees = ({ longitude_deg, latitude_deg }: Pick<MapStation, 'longitude_deg' | 'latitude_deg'>): Degrees => [
  longitude_deg,
  latitude_deg,
]

/** The path over the Earth: stations, the points below its satellites, and the hops between them as great circles. */
export default function WorldMap({ stations, places, isNear }: WorldMapProps) {
  const { ref, width } = useElementSize()
  return (
    <div ref={ref} className={classes.map}>
      {width > 0 ? <Drawn {...{ stations, places, isNear, width }} /> : null}
    </div>
  )
}

function Drawn({ stations, places, isNear, width }: WorldMapProps & { width: number }) {
  const height = Math.round((width * (NORTH_DEG - SOUTH_DEG)) / 360)
  const { path, place, ground } = useMemo(() => {
    const projection = isNear ? nearProjection(stations, width, height) : worldProjection(width, height)
    const draw = geoPath(projection)
    return { path: draw, place: projection, ground: { land: draw(LAND) ?? '', grid: draw(GRATICULE) ?? '' } }
  }, [isNear, stations, width, height])
  const at = (one: Pick<MapStation, 'longitude_deg' | 'latitude_deg'>) => place(degrees(one)) ?? [0, 0]
  const hops = places.slice(1).map((to, index) => ({ from: places[index] as PathPlace, to }))
  return (
    <svg
      {...{ width, height }}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`Map. ${places.length > 0 ? routeText(places) : `No path between ${stations.map(({ name }) => placeName(name)).join(' and ')}`}`}
    >
      <path d={ground.grid} className={classes.grid} />
      <path d={ground.land} className={classes.land} />
      {hops.map(({ from, to }) => (
        <path
          key={`${from.node} ${to.node}`}
          d={path({ type: 'LineString', coordinates: [degrees(from), degrees(to)] }) ?? ''}
          className={classes.hop}
          data-ground={from.node < 0 || to.node < 0 || undefined}
        />
      ))}
      {places.map((one) => {
        const [x, y] = at(one)
        return one.node < 0 ? null : (
          <circle key={one.node} cx={x} cy={y} r={4.5} className={classes.satellite}>
            <title>{`Satellite ${one.node}, ${formatNumber(one.height_km, 0)} km up`}</title>
          </circle>
        )
      })}
      {stations.map((one, index) => {
        const [x, y] = at(one)
        return (
          <g key={one.name}>
            <rect x={x - 5} y={y - 5} width={10} height={10} className={classes.station} />
            <text {...labelAt(stations, index, x, y, width)} className={classes.label}>
              {placeName(one.name)}
            </text>
          </g>
        )
      })}
    </svg>
  )
}

/** As wide as its place: a degree of latitude is as long as one of longitude. */
function worldProjection(width: number, height: number) {
  const scale = width / (2 * Math.PI)
  return geoEquirectangular()
    .scale(scale)
    .translate([width / 2, (scale * NORTH_DEG * Math.PI) / 180])
    .clipExtent([
      [0, 0],
      [width, height],
    ])
}

/** What the stations can reach, turned so that the middle of their way is in the middle. */
function nearProjection(stations: readonly MapStation[], width: number, height: number) {
  const ends = stations.map(degrees)
  const [first = [0, 0] as Degrees] = ends
  const [middle] = geoInterpolate(first, ends.at(-1) ?? first)(0.5)
  const reach = ends.map((end) => geoCircle().center(end).radius(REACH_DEG)())
  return geoEquirectangular()
    .rotate([-middle, 0])
    .fitExtent(
      [
        [MARGIN_PX, MARGIN_PX],
        [width - MARGIN_PX, height - MARGIN_PX],
      ],
      { type: 'GeometryCollection', geometries: reach },
    )
    .clipExtent([
      [0, 0],
      [width, height],
    ])
}

/** A name is on the side away from the other end, so that no hop crosses it; of stations between, and near an edge, it is below. */
function labelAt(stations: readonly MapStation[], index: number, x: number, y: number, width: number) {
  const below = { x, y: y + 19, textAnchor: 'middle' } as const
  const [own, other] = [stations[index], index === 0 ? stations.at(-1) : stations[0]]
  if (!own || !other || (index > 0 && index < stations.length - 1)) return below
  const isEastward = (other.longitude_deg - own.longitude_deg + 720) % 360 < 180
  if (isEastward) return x < LABEL_PX ? below : ({ x: x - 9, y: y + 4, textAnchor: 'end' } as const)
  return x > width - LABEL_PX ? below : ({ x: x + 9, y: y + 4, textAnchor: 'start' } as const)
}
