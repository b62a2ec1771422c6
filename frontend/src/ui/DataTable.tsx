import {
  type ColumnDef,
  createSortedRowModel,
  rowSortingFeature,
  type SortingState,
  sortFns,
  tableFeatures,
  useTable,
} from '@tanstack/react-table'
import classes from './ui.module.css'

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns })
export type Column<Row extends object> = ColumnDef<typeof features, Row>

interface DataTableProps<Row extends object> {
  label: string
  rows: Row[]
  columns: Column<Row>[]
  sorting: SortingState
  onSortingChange: (sorting: SortingState) => void
}

const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const
const ARROW = { asc: ' ↑', desc: ' ↓' } as const

/** A sortable table; on narrow screens each row becomes a card with the headers as labels. */
export function DataTable<Row extends object>({ label, rows, columns, sorting, onSortingChange }: DataTableProps<Row>) {
  const table = useTable({
    features,
    data: rows,
    columns,
    state: { sorting },
    onSortingChange: (next) => onSortingChange(typeof next === 'function' ? next(sorting) : next),
  })
  return (
    <div className={classes.cards}>
      {/* Roles are said aloud: on narrow screens these elements are no table boxes, and browsers then drop their roles. */}
      <table aria-label={label} role="table">
        <thead role="rowgroup">
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id} role="row">
              {group.headers.map((header) => {
                if (header.column.columnDef.header === '') return <td key={header.id} role="cell" />
                const sorted = header.column.getIsSorted()
                return (
                  <th key={header.id} scope="col" role="columnheader" aria-sort={sorted ? ARIA_SORT[sorted] : undefined}>
                    {header.column.getCanSort() ? (
                      <button type="button" className={classes.sortButton} onClick={header.column.getToggleSortingHandler()}>
                        <table.FlexRender header={header} />
                        <span aria-hidden="true">{sorted ? ARROW[sorted] : ''}</span>
                      </button>
                    ) : (
                      <table.FlexRender header={header} />
                    )}
                  </th>
                )
              })}
            </tr>
          ))}
        </thead>
        <tbody role="rowgroup">
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id} role="row">
              {row.getAllCells().map((cell) => (
                <td key={cell.id} role="cell" data-label={String(cell.column.columnDef.header ?? '')}>
                  <table.FlexRender cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
