// Counts the tests in the output of a test runner. Each function takes the output and returns { passed, failed, skipped }.

/** `cargo test` and wasm-bindgen-test: one closing line per test binary. */
export function countCargo(output) {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const lines = output.matchAll(/^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored/gm)
  for (const [, passed, failed, ignored] of lines) {
    counts.passed += Number(passed)
    counts.failed += Number(failed)
    counts.skipped += Number(ignored)
  }
  return counts
}

/** `node --test`: closing lines "ℹ pass 12", or "# pass 12" in TAP. */
export function countNode(output) {
  const total = (name) => {
    const lines = [...output.matchAll(new RegExp(`^(?:ℹ|#) ${name} (\\d+)$`, 'gm'))]
    return Number(lines.at(-1)?.[1] ?? 0)
  }
  return {
    passed: total('pass'),
    failed: total('fail') + total('cancelled'),
    skipped: total('skipped') + total('todo'),
  }
}

/** A program that is one check by itself. */
export function countOne(_output, succeeded) {
  return { passed: succeeded ? 1 : 0, failed: succeeded ? 0 : 1, skipped: 0 }
}
