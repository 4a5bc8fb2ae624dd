/** Prints a table from the names of its columns and rows of cells, the first of which names the row. */
export function printTable(title, columns, rows) {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? format(cell) : (cell ?? ''))))
  const widths = ['', ...columns].map((name, index) => Math.max(name.length, ...cells.map((row) => row[index].length)))
  const line = (row) =>
    row.map((cell, index) => (index === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[index]))).join('  ')
  console.log(`\n${title}\n`)
  for (const row of [['', ...columns], ...cells]) console.log(line(row))
}

/** Prints the medians that `interleaved` returned, by row and column. */
export function printMedians(title, results) {
  const columns = [...new Set(results.map(({ column }) => column))]
  const rows = [...new Set(results.map(({ row }) => row))]
  const cell = (row, column) => results.find((result) => result.row === row && result.column === column)?.median
  printTable(
    title,
    columns,
    rows.map((row) => [row, ...columns.map((column) => cell(row, column))]),
  )
}

function format(value) {
  if (value >= 100) return value.toFixed(0)
  return value >= 1 ? value.toFixed(1) : value.toPrecision(2)
}
