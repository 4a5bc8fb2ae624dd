/** Prints medians with a line for each row and a column for each column. */
export function printTable(title, results) {
  const columns = [...new Set(results.map(({ column }) => column))]
  const rows = [...new Set(results.map(({ row }) => row))]
  const width = Math.max(...rows.map((row) => row.length))
  const cells = (row) => columns.map((column) => results.find((result) => result.row === row && result.column === column))
  console.log(`\n${title}\n`)
  console.log(`${' '.repeat(width)}${columns.map((column) => column.padStart(12)).join('')}`)
  for (const row of rows) {
    const medians = cells(row).map((result) => (result === undefined ? '' : format(result.median)).padStart(12))
    console.log(`${row.padEnd(width)}${medians.join('')}`)
  }
}

function format(value) {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toFixed(3)
}
